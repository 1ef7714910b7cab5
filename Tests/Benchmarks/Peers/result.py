"""What one tool took for one scenario."""

from __future__ import annotations

from dataclasses import dataclass

from day import Day
from measuring import Measurement, median
from scenarios import Scenario
from tool import Tool


@dataclass(frozen=True)
class Result:
    """All runs of one tool in one scenario."""

    scenario: Scenario
    latency: int
    """Milliseconds a round trip."""
    tool: Tool
    runs: tuple[Measurement, ...]
    startups: tuple[Measurement, ...] = ()
    """Of Tidemark: `--version`, just before each run."""
    objects: int = 0
    """Files on the server's disk in the end."""
    day: Day | None = None

    @property
    def middle(self) -> Measurement:
        """The median run."""
        return median(list(self.runs))

    @property
    def startup(self) -> Measurement:
        """What starting the program costs."""
        return median(list(self.startups))

    @property
    def over(self) -> float:
        """Seconds above start-up, of the fastest runs: what else runs here only adds to them."""
        return min(run.wall for run in self.runs) - min(run.wall for run in self.startups)
