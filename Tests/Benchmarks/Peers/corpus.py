"""Sessions on disk: the files that every tool is given, and how they change."""

from __future__ import annotations

import hashlib
import math
import os
import random
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from logtext import APPS, RecordStream

DAY = 86_400_000
DAYS = 4
"""On so many the sessions of a corpus begin."""


@dataclass(frozen=True)
class LogPlan:
    """One session's log before it is written."""

    name: str
    """Where it is in the corpus' folder."""
    session: str
    day: str
    app: str
    started: int
    size: int
    is_active: bool
    seed: str
    is_attached: bool = False


@dataclass
class Session:
    """One session's log on disk."""

    plan: LogPlan
    path: Path
    ended: int
    digest: str

    @property
    def length(self) -> int:
        """Bytes of the log now."""
        return self.path.stat().st_size


@dataclass(frozen=True)
class CorpusPlan:
    """What a corpus is: sizes of its sessions, and how many of them still grow."""

    name: str
    sizes: tuple[int, ...]
    active: int = 0
    is_attached: bool = False
    """Whether it is one log of another program, `app.log`, and no recorder knows of it."""

    def logs(self, seed: int, now: float) -> list[LogPlan]:
        """The logs, spread over the five days before today, in the order of their ids."""
        chance = random.Random(f"{seed}/{self.name}")
        midnight = int(now) * 1000 // DAY * DAY
        letters = "abcdefghijklmnopqrstuvwxyz0123456789"
        starts = sorted(midnight - 5 * DAY + chance.randrange(DAYS * DAY) for _ in self.sizes)
        growing = set(chance.sample(range(len(starts)), self.active))
        plans = []
        for index, (size, start) in enumerate(zip(self.sizes, starts, strict=True)):
            moment = time.gmtime(start // 1000)
            letters_of_id = "".join(chance.choices(letters, k=8))
            session = time.strftime("%Y%m%dt%H%M%Sz-", moment).lower() + letters_of_id
            day = time.strftime("%Y-%m-%d", moment)
            plans.append(
                LogPlan(
                    name="app.log" if self.is_attached else f"{day}/{session}.log",
                    session=session,
                    day=day,
                    app=APPS[index % len(APPS)],
                    started=start,
                    size=size,
                    is_active=index in growing,
                    seed=f"{seed}/{self.name}/{index}",
                    is_attached=self.is_attached,
                )
            )
        return plans


def spread(count: int, total: int, seed: int) -> tuple[int, ...]:
    """Sizes that differ as those of programs do: most small, a few ten times the mean."""
    chance = random.Random(f"{seed}/spread")
    weights = [math.exp(chance.gauss(0, 1)) for _ in range(count)]
    return tuple(int(total * weight / sum(weights)) for weight in weights)


def evenly(count: int, low: int, high: int, seed: int) -> tuple[int, ...]:
    """Sizes anywhere between two bounds."""
    chance = random.Random(f"{seed}/evenly")
    return tuple(chance.randrange(low, high) for _ in range(count))


@dataclass
class Corpus:
    """A folder of logs, `<day>/<session>.log`, or of one that is attached."""

    plan: CorpusPlan
    folder: Path
    sessions: list[Session] = field(default_factory=list)
    _growth: int = 0

    @classmethod
    def write(cls, plan: CorpusPlan, folder: Path, seed: int) -> Corpus:
        """Generates all logs on all cores."""
        logs = plan.logs(seed, time.time())
        paths = [folder / log.name for log in logs]
        for parent in {path.parent for path in paths}:
            parent.mkdir(parents=True, exist_ok=True)
        step = max(1, len(logs) // 200)
        with ProcessPoolExecutor() as pool:
            written = pool.map(_write_log, logs, paths, chunksize=step)
            sessions = [
                Session(log, path, ended, digest)
                for log, path, (ended, digest) in zip(logs, paths, written, strict=True)
            ]
        return cls(plan, folder, sessions)

    @property
    def size(self) -> int:
        """Bytes of all logs."""
        return sum(session.length for session in self.sessions)

    @property
    def active(self) -> list[Session]:
        """The sessions that still grow."""
        return [session for session in self.sessions if session.plan.is_active]

    def grow(self, size: int) -> None:
        """Appends whole records to each session that still grows."""
        self._growth += 1
        for session in self.active:
            seed = f"{session.plan.seed}/{self._growth}"
            stream = RecordStream(seed, session.plan.app, session.ended)
            with session.path.open("ab") as log:
                log.write(stream.records(size))
            session.ended = stream.milliseconds

    def end(self) -> None:
        """Ends each session that still grows."""
        for session in self.active:
            stream = RecordStream(f"{session.plan.seed}/end", session.plan.app, session.ended)
            with session.path.open("ab") as log:
                log.write(stream.end())
            session.plan = replace(session.plan, is_active=False)

    def ratio(self) -> float:
        """How many times `zstd -3` makes the logs smaller, frames of at most 2 MiB."""
        raw = stored = 0
        for session in self.sessions[:: max(1, len(self.sessions) // 10)]:
            with session.path.open("rb") as log:
                piece = log.read(2 << 20)
            packed = subprocess.run(
                ["zstd", "-3", "-c"], input=piece, capture_output=True, check=True
            )
            raw += len(piece)
            stored += len(packed.stdout)
        return raw / max(1, stored)


def _write_log(plan: LogPlan, path: Path) -> tuple[int, str]:
    """Writes one log; returns when it ended and, where it has, its SHA-256."""
    stream = RecordStream(plan.seed, plan.app, plan.started)
    start = b"" if plan.is_attached else stream.start()
    digest = hashlib.sha256()
    written = 0
    with path.open("wb") as log:
        for piece in _pieces(stream, start, plan):
            log.write(piece)
            digest.update(piece)
            written += len(piece)
    return stream.milliseconds, digest.hexdigest()


def _pieces(stream: RecordStream, start: bytes, plan: LogPlan) -> Iterable[bytes]:
    yield start
    rest = plan.size - len(start)
    while rest > 0:
        piece = stream.records(min(rest, 4 << 20))
        rest -= len(piece)
        yield piece
    if not plan.is_active:
        yield stream.end()


def link_tree(corpus: Corpus, folder: Path) -> None:
    """Hard links to all logs below another folder; a log that grows does so there as well."""
    for day in {session.plan.day for session in corpus.sessions}:
        (folder / day).mkdir(parents=True, exist_ok=True)
    for session in corpus.sessions:
        os.link(session.path, folder / session.plan.day / session.path.name)
