"""The results as a table, as bars that are met or missed, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import Any

from bars import bars
from day import Day
from demands import MIB
from measuring import Measurement
from result import Result
from scenarios import Begin
from tidemark import Tidemark


def own(results: list[Result], like: Result) -> Result | None:
    """Tidemark's result to compare with: on the same server, else on S3."""
    mine = [
        result
        for result in results
        if isinstance(result.tool, Tidemark)
        and result.scenario == like.scenario
        and result.latency == like.latency
    ]
    for server in (like.tool.server, "s3"):
        for result in mine:
            if result.tool.server == server:
                return result
    return None


def heading(about: dict[str, Any]) -> str:
    """Under what conditions it was measured."""
    ratios = ", ".join(f"{name} 1/{ratio}" for name, ratio in about["compression"].items())
    lines = [
        f"{about['date']}, {about['cores']} cores, load {about['load']} at the start, "
        f"seed {about['seed']}" + (", small sizes" if about["quick"] else ""),
        f"logs under zstd -3: {ratios}",
        "; ".join(f"{name} {version}" for name, version in about["tools"].items()),
    ]
    if about["notInstalled"]:
        lines.append(f"not installed: {', '.join(about['notInstalled'])}")
    return "\n".join(lines)


COLUMNS = ("tool", "wall s", "CPU s", "memory MiB", "requests", "MB up", "MB down", "wall", "bytes")


def table(results: list[Result]) -> str:
    """One table a scenario and latency; the ratios are Tidemark's figures by the tool's."""
    lines: list[str] = []
    for (scenario, latency), group in groupby(results, key=lambda r: (r.scenario, r.latency)):
        lines += ["", f"{scenario.key}  {scenario.title}, {latency} ms"]
        lines.append(_line(COLUMNS))
        lines += [_line(_cells(result, results)) for result in group]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    first, *rest = cells
    return f"  {first:<16}" + "".join(f"{cell:>12}" for cell in rest)


def _cells(result: Result, results: list[Result]) -> tuple[str, ...]:
    measured = result.middle
    is_http = result.tool.server != "rsync"
    mine = own(results, result)
    ratios = ("", "")
    if mine and not isinstance(result.tool, Tidemark):
        ratios = (
            _ratio(mine.middle.wall, measured.wall),
            _ratio(_traffic(mine.middle), _traffic(measured)),
        )
    return (
        result.tool.label,
        f"{measured.wall:.3f}",
        f"{measured.cpu:.3f}",
        f"{measured.memory / MIB:.1f}",
        str(measured.requests) if is_http else "-",
        f"{measured.up / 1e6:.3f}",
        f"{measured.down / 1e6:.3f}",
        *ratios,
    )


def _traffic(measured: Measurement) -> int:
    return measured.up + measured.down


def _ratio(mine: float, other: float) -> str:
    return f"{mine / other:.3f}" if other else "-"


def to_json(results: list[Result], about: dict[str, Any], failures: list[str]) -> dict[str, Any]:
    """Everything that was measured; seconds and bytes."""
    return {
        **about,
        "results": [
            {
                "scenario": result.scenario.key,
                "title": result.scenario.title,
                "sessions": len(result.scenario.corpus.sizes),
                "latencyMilliseconds": result.latency,
                "tool": result.tool.name,
                "server": result.tool.server,
                "placed": result.scenario.begin is Begin.PLACED,
                "median": asdict(result.middle),
                "runs": [asdict(run) for run in result.runs],
                "startups": [asdict(run) for run in result.startups],
                "objects": result.objects,
                **({"day": _day(result.day)} if result.day else {}),
            }
            for result in results
        ],
        "bars": [asdict(bar) | {"met": bar.is_met} for bar in bars(results)],
        "failures": failures,
    }


def _day(day: Day) -> dict[str, Any]:
    return {
        "putAgain": day.beyond(lambda measured: measured.put),
        "upAgain": day.beyond(lambda measured: measured.up),
        "compressed": day.compressed,
        "mostObjects": day.most,
        "objectsLeft": day.left,
    }
