"""Measures Tidemark and its peers on the same logs and servers; started by `Scripts/bench`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import peers
import report
from bars import bars
from corpus import Corpus, CorpusPlan
from measuring import Command, Failure, Meter
from result import Result
from scenarios import QUICK, Action, Begin, Scenario, Sizes
from servers import find_program
from tidemark import Tidemark
from tool import Tool
from trial import Trial, tell


def arguments() -> argparse.Namespace:
    """The command line, as `Scripts/bench --help` describes it."""
    parser = argparse.ArgumentParser(prog="Scripts/bench")
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--scenario", type=_names)
    parser.add_argument("--latency", type=_milliseconds, default=[0, 30])
    parser.add_argument("--big", type=_sizes)
    parser.add_argument("--peers", type=_peers)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return text.upper().split(",")


def _peers(text: str) -> list[str]:
    names = text.lower().split(",")
    known = {kind.name for kind in peers.ALL}
    if not known.issuperset(names):
        raise argparse.ArgumentTypeError(f"the peers are {', '.join(sorted(known))}")
    return names


def _milliseconds(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_size(part) for part in text.split(","))


def _size(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


class Bench:
    """One run over all chosen scenarios."""

    def __init__(self, options: argparse.Namespace, work: Path, meter: Meter) -> None:
        self._options = options
        self._work = work
        self._find = partial(find_program, tools=options.tools)
        self._meter = meter
        self.results: list[Result] = []
        self.failures: list[str] = []
        self.tools, absent = self._choose_tools()
        self.about: dict[str, Any] = {
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seed": options.seed,
            "quick": options.quick,
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 2),
            "tools": {tool.name: tool.about for tool in self.tools},
            "notInstalled": absent,
            "memoryFloor": self._meter.run(Command(("/bin/sh", "-c", "true"), {})).memory,
            "compression": {},
        }

    def _choose_tools(self) -> tuple[list[Tool], list[str]]:
        program = str(self._options.program)
        self._meter.run(Command((program, "--version"), {"PATH": "/usr/bin:/bin"}))
        about = self._meter.output().strip()
        own = [
            Tidemark(program, about, "s3"),
            Tidemark(program, about, "webdav"),
            Tidemark(program, about, "s3", transfers=16),
        ]
        found, absent = peers.installed(self._find, self._options.tools)
        if self._options.peers is not None:
            found = [tool for tool in found if tool.name in self._options.peers]
            absent = [name for name in absent if name in self._options.peers]
        return [*own, *found], absent

    def run(self, scenarios: list[Scenario]) -> None:
        """Measures everything; scenarios of one corpus follow each other on it."""
        for plan, group in groupby(scenarios, key=lambda scenario: scenario.corpus):
            members = list(group)
            corpus = None
            is_timed = any(scenario.action is not Action.DAY for scenario in members)
            for latency in self._options.latency[: None if is_timed else 1]:
                # An attached log is not what it was after its scenario.
                if not corpus or plan.is_attached:
                    corpus = self._write(plan)
                self._try(members, corpus, latency)
            shutil.rmtree(self._folder(plan))

    def _folder(self, plan: CorpusPlan) -> Path:
        return self._work / f"corpus-{plan.name}"

    def _write(self, plan: CorpusPlan) -> Corpus:
        tell(f"writing {len(plan.sizes):,} logs, {sum(plan.sizes) / 1e6:.0f} MB")
        shutil.rmtree(self._folder(plan), ignore_errors=True)
        corpus = Corpus.write(plan, self._folder(plan), self._options.seed)
        self.about["compression"][plan.name] = round(corpus.ratio(), 2)
        return corpus

    def _try(self, members: list[Scenario], corpus: Corpus, latency: int) -> None:
        tools = [
            tool
            for tool in self.tools
            if any(tool.takes_part(scenario, latency) for scenario in members)
        ]
        place = self._work / f"trial-{corpus.plan.name}-{latency}"
        with Trial(place, corpus, latency, tools, self._meter, self.failures) as trial:
            trial.start(self._find, members[0].begin is Begin.PLACED)
            for scenario in members:
                self.results += trial.run(scenario)


def show(bench: Bench) -> None:
    """Prints everything."""
    print(report.heading(bench.about))
    print(report.table(bench.results))
    print()
    for bar in bars(bench.results):
        print(bar.line())
    for failure in bench.failures:
        print(f"FAILED  {failure}")


def main() -> int:
    """Runs, prints, and says by its status whether something failed."""
    options = arguments()
    sizes = QUICK if options.quick else Sizes()
    if options.big:
        sizes = Sizes(**{**vars(sizes), "big": options.big})
    scenarios = sizes.scenarios(options.seed)
    known = {scenario.key for scenario in scenarios}
    for name in set(options.scenario or ()) - known:
        print(f"Scripts/bench: no scenario {name}; there are {sorted(known)}", file=sys.stderr)
        return 64
    if options.scenario:
        scenarios = [scenario for scenario in scenarios if scenario.key in options.scenario]

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.work.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="run-", dir=options.work))
    with ExitStack() as stack:
        if options.keep:
            tell(f"kept: {work}")
        else:
            stack.callback(shutil.rmtree, work, ignore_errors=True)
        meter = Meter(work)
        stack.callback(meter.close)
        bench = Bench(options, work, meter)
        bench.run(scenarios)
    show(bench)
    if options.json:
        result = report.to_json(bench.results, bench.about, bench.failures)
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except Failure as failure:
        print(f"Scripts/bench: {failure}", file=sys.stderr)
        sys.exit(1)
