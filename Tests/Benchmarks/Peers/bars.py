"""Which of what is expected of Tidemark is met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from demands import ANY, DEMANDS, Row
from result import Result
from scenarios import Action, Scenario, megabytes
from tidemark import Tidemark


@dataclass(frozen=True)
class Bar:
    """What is demanded of one figure."""

    name: str
    value: float
    limit: float
    unit: str

    @property
    def is_met(self) -> bool:
        """Whether the figure is within the limit."""
        return self.value <= self.limit

    def line(self) -> str:
        """For a terminal."""
        verdict = "ok    " if self.is_met else "MISSED"
        unit = f" {self.unit}" if self.unit else ""
        return f"{verdict}  {self.name}: {self.value:.3g}{unit}, at most {self.limit:.3g}{unit}"


def bars(results: list[Result]) -> Iterator[Bar]:
    """Which of the table's demands are met, wherever Tidemark was measured."""
    for result in results:
        if not isinstance(result.tool, Tidemark):
            continue
        key = result.scenario.key
        others = [
            other
            for other in results
            if (other.scenario, other.latency) == (result.scenario, result.latency)
        ]
        where = f"{key} ({_extent(result.scenario)}) {result.tool.label.removeprefix('tidemark ')}"
        for demand in DEMANDS:
            if demand.scenario not in (key, ANY):
                continue
            value = demand.figure(Row(result, others))
            if value is not None:
                name = f"{where} {result.latency} ms, {demand.name}"
                yield Bar(name, value, demand.limit, demand.unit)


def _extent(scenario: Scenario) -> str:
    sizes = scenario.corpus.sizes
    if scenario.action is Action.DAY:
        return f"{scenario.rounds:,}"
    return f"{len(sizes):,}" if len(sizes) > 1 else megabytes(sizes[0])
