"""What is expected of Tidemark: a table of figures and their limits, for the full sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from corpus import DAYS
from day import Day
from measuring import Measurement
from result import Result
from tidemark import Tidemark

MIB = 1 << 20
ANY = "*"
HEADS = 5
"""Kilobytes down where answers have no body worth the name."""


@dataclass(frozen=True)
class Row:
    """Tidemark's result and the others of its scenario and latency."""

    result: Result
    others: list[Result]

    @property
    def measured(self) -> Measurement:
        """The median run."""
        return self.result.middle

    def peer(self, label: str) -> Measurement | None:
        """The median run of a peer on the same server; rsync's server is its own."""
        for other in self.others:
            if other.tool.label == label and other.tool.server in (self.result.tool.server, label):
                return other.middle
        return None


Figure = Callable[[Row], float | None]
"""None where there is nothing to compare with."""


@dataclass(frozen=True)
class Demand:
    """One line of the table."""

    scenario: str
    """Its key, or `ANY`."""
    name: str
    limit: float
    figure: Figure
    unit: str = ""


def _by(label: str, figure: Callable[[Measurement], float]) -> Figure:
    def share(row: Row) -> float | None:
        peer = row.peer(label)
        return figure(row.measured) / figure(peer) if peer else None

    return share


def _undelayed(figure: Figure) -> Figure:
    return lambda row: None if row.result.latency else figure(row)


def _with_many_transfers(figure: Figure) -> Figure:
    def narrowed(row: Row) -> float | None:
        tool = row.result.tool
        return figure(row) if isinstance(tool, Tidemark) and tool.transfers else None

    return narrowed


def _up(measured: Measurement) -> int:
    return measured.up


def _put(measured: Measurement) -> int:
    return measured.put


def _cpu(measured: Measurement) -> float:
    return measured.cpu


def _wall(measured: Measurement) -> float:
    return measured.wall


def _of(figure: Callable[[Measurement], float]) -> Figure:
    return lambda row: figure(row.measured)


def _log_bytes(row: Row) -> int:
    return sum(row.result.scenario.corpus.sizes)


def _sessions(row: Row) -> int:
    return len(row.result.scenario.corpus.sizes)


def _growing(row: Row) -> int:
    return row.result.scenario.corpus.active


def _puts(row: Row) -> int:
    return row.measured.methods.get("PUT", 0)


def _folders(row: Row) -> int:
    return row.measured.methods.get("MKCOL", 0)


def _puts_beyond(row: Row) -> int:
    # Where a folder is missing, a PUT is refused first.
    return _puts(row) - 2 * _sessions(row) - _folders(row)


def _apart_from_folders(row: Row) -> int:
    # The new log may begin on another day than the old one.
    return row.measured.requests - 2 * _folders(row)


def _not_puts(row: Row) -> int:
    return row.measured.requests - _puts(row)


def _beyond_objects(row: Row) -> int:
    return row.measured.requests - row.result.objects


def _down(row: Row) -> float:
    return row.measured.down / 1e3


def _day(figure: Callable[[Day], float]) -> Figure:
    return lambda row: figure(row.result.day) if row.result.day else None


def _memory(row: Row) -> float:
    return (row.measured.memory - row.result.startup.memory) / MIB


DEMANDS = (
    Demand("A", "bytes up by the logs'", 0.159, lambda row: row.measured.up / _log_bytes(row)),
    Demand("A", "share of rclone's bytes up", 1 / 6, _by("rclone s3", _up)),
    Demand("A", "share of rclone's bytes up", 1 / 6, _by("rclone webdav", _up)),
    # tidemark.json and device.json are put as well, and the folders above the days' are made.
    Demand("A", "PUTs beyond 2 a session", 4, _puts_beyond),
    Demand("A", "MKCOLs", DAYS + 4, _folders),
    Demand("A", "CPU by restic's", 0.6, _by("restic s3", _cpu)),
    Demand("A", "wall by restic's", 0.5, _undelayed(_by("restic s3", _wall))),
    Demand("A", "wall by s5cmd's", 1.3, _with_many_transfers(_by("s5cmd s3", _wall))),
    Demand("A2", "PUTs beyond 2 a session", 4, _puts_beyond),
    Demand("A2", "wall by rclone's", 0.7, _by("rclone s3", _wall)),
    Demand("B", "up a log that grew", 6, lambda row: row.measured.up / _growing(row) / 1e3, "kB"),
    Demand("B", "PUTs a log that grew", 1, lambda row: _puts(row) / _growing(row)),
    Demand("B", "other requests", 0, _not_puts),
    Demand("B", "wall by s5cmd's", 0.3, _by("s5cmd s3", _wall)),
    Demand("C", "connections", 0, _of(lambda measured: measured.connections)),
    Demand("C", "time above start-up", 10, lambda row: row.result.over * 1e3, "ms"),
    Demand("D", "PUTs", 1, _puts),
    Demand("D", "other requests", 0, _not_puts),
    Demand("D", "up", 1.5, _of(lambda measured: measured.up / 1e3), "kB"),
    Demand("D", "down", HEADS, _down, "kB"),
    Demand("D", "CPU by rsync's", 0.1, _by("rsync", _cpu)),
    Demand("E", "up", 0.2, _of(lambda measured: measured.up / 1e6), "MB"),
    Demand("E", "requests", 3, _of(lambda measured: measured.requests)),
    Demand("E", "down", HEADS, _down, "kB"),
    Demand("E", "wall by rsync's", 1, _by("rsync", _wall)),
    Demand("F", "up", 85, _of(lambda measured: measured.up / 1e3), "kB"),
    Demand("F", "down", HEADS, _down, "kB"),
    Demand("G", "up", 0.2, _of(lambda measured: measured.up / 1e6), "MB"),
    Demand("G", "requests", 4, _apart_from_folders),
    Demand("H", "bytes down by the logs'", 0.161, lambda row: row.measured.down / _log_bytes(row)),
    # Listings: one a day, and those that find the devices and their days.
    Demand("H", "requests beyond one an object", DAYS + 4, _beyond_objects),
    Demand("H", "wall by s5cmd's", 1.3, _by("s5cmd s3", _wall)),
    Demand("DAY", "objects put again by the log", 2, _day(lambda day: day.beyond(_put))),
    Demand("DAY", "bytes up again by the log", 2, _day(lambda day: day.beyond(_up))),
    Demand("DAY", "objects after any tick", 100, _day(lambda day: day.most)),
    Demand("DAY", "objects after the seal", 2, _day(lambda day: day.left)),
    Demand(ANY, "memory above start-up", 32, _memory, "MiB"),
)
