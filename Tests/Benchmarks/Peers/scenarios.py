"""The table of scenarios: a corpus, what happens to it, and what the tools then do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from corpus import Corpus, CorpusPlan, evenly, spread

MIB = 1 << 20


class Begin(Enum):
    """What the server has when a scenario begins."""

    EMPTY = "empty"
    SENT = "sent"
    """What an upload sent, the scenario before or one that is not measured."""
    PLACED = "placed"
    """What an upload long ago sent; written straight to the disks."""


class Action(Enum):
    """What is measured."""

    UPLOAD = "upload"
    RESTORE = "restore"


@dataclass(frozen=True)
class Scenario:
    """One row of the table."""

    key: str
    title: str
    corpus: CorpusPlan
    begin: Begin
    action: Action = Action.UPLOAD
    change: Callable[[Corpus], None] | None = None
    """What happens to the logs before each round."""
    rounds: int = 1
    """How often; the median counts."""
    is_idle: bool = False
    """Whether there is nothing to send."""


@dataclass(frozen=True)
class Sizes:
    """How large everything is."""

    sessions: int = 200
    total: int = 600 * MIB
    growing: int = 20
    tiny: int = 10_000
    sealed: tuple[int, ...] = (10_000, 100_000)
    big: int = 256 * MIB

    def scenarios(self, seed: int) -> list[Scenario]:
        """All scenarios, those that share a corpus in the order in which they follow."""
        return [
            self._first_upload(seed),
            self._tick(seed),
            self._restore(seed),
            self._many_tiny(seed),
            *(self._idle(count, seed) for count in self.sealed),
            self._one_big(),
        ]

    def _mixed(self, seed: int) -> CorpusPlan:
        sizes = spread(self.sessions, self.total, seed)
        return CorpusPlan("mixed", sizes, self.growing)

    def _first_upload(self, seed: int) -> Scenario:
        title = f"{self.sessions} sessions, {_megabytes(self.total)}, first upload"
        return Scenario("A", title, self._mixed(seed), Begin.EMPTY)

    def _tick(self, seed: int) -> Scenario:
        title = f"{self.growing} of the {self.sessions} sessions grew by 20 KB each"
        corpus = self._mixed(seed)
        return Scenario("B", title, corpus, Begin.SENT, change=_grow(20_000), rounds=3)

    def _restore(self, seed: int) -> Scenario:
        title = f"restore of the {self.sessions} sessions, {_megabytes(self.total)}"
        return Scenario("H", title, self._mixed(seed), Begin.SENT, Action.RESTORE)

    def _many_tiny(self, seed: int) -> Scenario:
        title = f"{self.tiny:,} sessions of 0.2 to 4 KB, first upload"
        corpus = CorpusPlan("tiny", evenly(self.tiny, 200, 4000, seed))
        return Scenario("A2", title, corpus, Begin.EMPTY)

    def _idle(self, count: int, seed: int) -> Scenario:
        title = f"nothing new among {count:,} sealed sessions"
        corpus = CorpusPlan(f"sealed-{count}", evenly(count, 200, 4000, seed))
        return Scenario("C", title, corpus, Begin.PLACED, rounds=7, is_idle=True)

    def _one_big(self) -> Scenario:
        title = f"one log of {_megabytes(self.big)} grew by 1 KB"
        corpus = CorpusPlan("big", (self.big,), active=1)
        return Scenario("D", title, corpus, Begin.SENT, change=_grow(1000), rounds=3)


QUICK = Sizes(sessions=20, total=12 * MIB, growing=4, tiny=200, sealed=(1000, 3000), big=16 * MIB)


def _grow(size: int) -> Callable[[Corpus], None]:
    return lambda corpus: corpus.grow(size)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
