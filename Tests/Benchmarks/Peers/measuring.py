"""What a command takes: time, memory, requests, bytes."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helper import Helper


class Failure(Exception):
    """Something went wrong that is not a matter of speed."""


@dataclass(frozen=True)
class Command:
    """A command with all of its environment."""

    argv: tuple[str, ...]
    env: dict[str, str]


@dataclass(frozen=True)
class Measurement:
    """One run; seconds and bytes."""

    wall: float
    cpu: float
    memory: int
    requests: int = 0
    connections: int = 0
    up: int = 0
    down: int = 0
    put: int = 0
    """Of the bytes up, those of PUTs' bodies that said their length."""
    methods: dict[str, int] = field(default_factory=dict)
    """Requests by method."""


def median(runs: list[Measurement]) -> Measurement:
    """Each figure's median, the memory's maximum."""

    def of(name: str) -> float:
        return float(statistics.median(getattr(run, name) for run in runs))

    return Measurement(
        wall=of("wall"),
        cpu=of("cpu"),
        memory=max(run.memory for run in runs),
        requests=int(of("requests")),
        connections=int(of("connections")),
        up=int(of("up")),
        down=int(of("down")),
        put=int(of("put")),
        methods={
            method: int(statistics.median(run.methods.get(method, 0) for run in runs))
            for method in _methods(runs)
        },
    )


def total(runs: list[Measurement]) -> Measurement:
    """Each figure's sum, the memory's maximum."""
    return Measurement(
        wall=sum(run.wall for run in runs),
        cpu=sum(run.cpu for run in runs),
        memory=max(run.memory for run in runs),
        requests=sum(run.requests for run in runs),
        connections=sum(run.connections for run in runs),
        up=sum(run.up for run in runs),
        down=sum(run.down for run in runs),
        put=sum(run.put for run in runs),
        methods={
            method: sum(run.methods.get(method, 0) for run in runs) for method in _methods(runs)
        },
    )


def _methods(runs: list[Measurement]) -> list[str]:
    return sorted({method for run in runs for method in run.methods})


class Proxy:
    """The counting proxy; see `proxy.py`."""

    def __init__(self, log: Path, routes: list[str]) -> None:
        self._helper = Helper("proxy.py", str(log), *routes)
        self.ports: dict[str, int] = self._helper.read()

    def delay(self, seconds: float) -> None:
        """Sets the round-trip time."""
        self._helper.ask(delay=seconds)

    def counts(self) -> dict[str, Any]:
        """What passed since it was last asked."""
        counts: dict[str, Any] = self._helper.ask(counts=True)
        return counts

    def close(self) -> None:
        """Ends it."""
        self._helper.close()


class Meter:
    """Runs commands one at a time."""

    def __init__(self, folder: Path) -> None:
        self._output = folder / "output"
        self._launcher = Helper("launcher.py")

    def run(self, command: Command, proxy: Proxy | None = None) -> Measurement:
        """Runs a command that must succeed."""
        if proxy:
            proxy.counts()
        answer = self._launcher.ask(argv=command.argv, env=command.env, output=str(self._output))
        counts: dict[str, Any] = proxy.counts() if proxy else {}
        if answer["status"] != 0:
            said = self._output.read_text(errors="replace").strip()
            shown = " ".join(command.argv[:4])
            raise Failure(f"{shown} … ended with {answer['status']}: {said[-300:]}")
        return Measurement(
            wall=answer["wall"],
            cpu=answer["cpu"],
            memory=answer["memory"],
            **counts,
        )

    def output(self) -> str:
        """What the last command printed."""
        return self._output.read_text(errors="replace")

    def close(self) -> None:
        """Ends what runs."""
        self._launcher.close()
