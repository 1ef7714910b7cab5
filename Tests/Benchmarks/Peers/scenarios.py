"""The table of scenarios: a corpus, what happens to it, and what the tools then do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from corpus import Corpus, CorpusPlan, evenly, spread
from rewrites import prune, redact, rotate

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
    DAY = "day"
    """An upload each round until the session ends, one that seals it, and one that tidies up."""


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
    has_peers: bool = True
    """Whether other tools than Tidemark take part."""
    has_many_transfers: bool = False
    """Whether Tidemark takes part with more transfers as well, where there is delay."""


@dataclass(frozen=True)
class Sizes:
    """How large everything is."""

    sessions: int = 200
    total: int = 600 * MIB
    growing: int = 20
    tiny: int = 10_000
    sealed: tuple[int, ...] = (10_000, 100_000)
    big: tuple[int, ...] = (256 * MIB,)
    ticks: int = 1440
    attached: int = 64 * MIB
    pruned: int = 24 * MIB
    """Of a log four times as large."""

    def scenarios(self, seed: int) -> list[Scenario]:
        """All scenarios, those that share a corpus in the order in which they follow."""
        return [
            self._first_upload(seed),
            self._tick(seed),
            self._restore(seed),
            self._many_tiny(seed),
            *(self._idle(count, seed) for count in self.sealed),
            *(self._one_big(size) for size in self.big),
            self._pruned(),
            self._redacted(),
            self._rotated(),
            self._day(),
        ]

    def _mixed(self, seed: int) -> CorpusPlan:
        sizes = spread(self.sessions, self.total, seed)
        return CorpusPlan("mixed", sizes, self.growing)

    def _first_upload(self, seed: int) -> Scenario:
        title = f"{self.sessions} sessions, {megabytes(self.total)}, first upload"
        corpus = self._mixed(seed)
        return Scenario("A", title, corpus, Begin.EMPTY, has_many_transfers=True)

    def _tick(self, seed: int) -> Scenario:
        title = f"{self.growing} of the {self.sessions} sessions grew by 20 KB each"
        corpus = self._mixed(seed)
        return Scenario("B", title, corpus, Begin.SENT, change=_grow(20_000), rounds=3)

    def _restore(self, seed: int) -> Scenario:
        title = f"restore of the {self.sessions} sessions, {megabytes(self.total)}"
        return Scenario("H", title, self._mixed(seed), Begin.SENT, Action.RESTORE)

    def _many_tiny(self, seed: int) -> Scenario:
        title = f"{self.tiny:,} sessions of 0.2 to 4 KB, first upload"
        corpus = CorpusPlan("tiny", evenly(self.tiny, 200, 4000, seed))
        return Scenario("A2", title, corpus, Begin.EMPTY)

    def _idle(self, count: int, seed: int) -> Scenario:
        title = f"nothing new among {count:,} sealed sessions"
        corpus = CorpusPlan(f"sealed-{count}", evenly(count, 200, 4000, seed))
        return Scenario("C", title, corpus, Begin.PLACED, rounds=7, is_idle=True)

    def _one_big(self, size: int) -> Scenario:
        title = f"one log of {megabytes(size)} grew by 1 KB"
        corpus = CorpusPlan(f"big-{size}", (size,), active=1)
        return Scenario("D", title, corpus, Begin.SENT, change=_grow(1000), rounds=3)

    def _pruned(self) -> Scenario:
        size, gain = 4 * self.attached, self.attached // 64
        title = (
            f"attached log of {megabytes(size)} lost its first {megabytes(self.pruned)} "
            f"and grew by {megabytes(gain)}"
        )

        def change(corpus: Corpus) -> None:
            prune(corpus, self.pruned)
            corpus.grow(gain)

        return Scenario("E", title, _attached("pruned", size), Begin.SENT, change=change)

    def _redacted(self) -> Scenario:
        title = f"50 lines of an attached log of {megabytes(self.attached)} were redacted"
        corpus = _attached("redacted", self.attached)
        return Scenario("F", title, corpus, Begin.SENT, change=lambda corpus: redact(corpus, 50))

    def _rotated(self) -> Scenario:
        gain = self.attached // 64
        title = (
            f"attached log of {megabytes(self.attached)} was rotated, "
            f"a new one of {megabytes(gain)} began"
        )
        corpus = _attached("rotated", self.attached)
        return Scenario("G", title, corpus, Begin.SENT, change=lambda corpus: rotate(corpus, gain))

    def _day(self) -> Scenario:
        title = f"{self.ticks:,} ticks of a session that grew by 1.4 KB each, seal and tidying up"
        return Scenario(
            "DAY",
            title,
            CorpusPlan("day", (1400,), active=1),
            Begin.EMPTY,
            Action.DAY,
            change=_grow(1400),
            rounds=self.ticks,
            has_peers=False,
        )


QUICK = Sizes(
    sessions=20,
    total=12 * MIB,
    growing=4,
    tiny=200,
    sealed=(1000, 3000),
    big=(16 * MIB,),
    ticks=200,
    attached=4 * MIB,
    pruned=1536 << 10,
)


def _attached(name: str, size: int) -> CorpusPlan:
    return CorpusPlan(name, (size,), active=1, is_attached=True)


def _grow(size: int) -> Callable[[Corpus], None]:
    return lambda corpus: corpus.grow(size)


def megabytes(size: int) -> str:
    """A size for a title."""
    return f"{size / 1e6:.3g} MB" if size < 10_000_000 else f"{size / 1e6:.0f} MB"
