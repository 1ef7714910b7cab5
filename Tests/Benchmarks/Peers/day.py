"""A session that an upload follows tick by tick, with what lies on the server meanwhile."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from corpus import Session
from measuring import Measurement, total
from tool import Place, remote_files


@dataclass
class Day:
    """The ticks of one session, as one tool sent them."""

    ticks: list[Measurement] = field(default_factory=list)
    """While the session went on."""
    last: list[Measurement] = field(default_factory=list)
    """The one that sealed it, and the one that tidied up."""
    most: int = 0
    """Objects of the session, after whichever tick there were most."""
    left: int = 0
    """Objects of the session in the end."""
    compressed: int = 0
    """Bytes of its segments in the end."""

    def look(self, session: Session, place: Place) -> None:
        """Counts the session's objects on the server's disk."""
        sizes = {
            path.name: path.stat().st_size
            for path in remote_files(place)
            if path.name.startswith(session.plan.session)
        }
        self.left = len(sizes)
        self.most = max(self.most, self.left)
        self.compressed = sum(size for name, size in sizes.items() if name.endswith(".zst"))

    @property
    def total(self) -> Measurement:
        """All passes together."""
        return total(self.ticks + self.last)

    def beyond(self, figure: Callable[[Measurement], int]) -> float:
        """Bytes beyond the ticks' own, by the compressed log's.

        A tick's own are those of an ordinary one: some cover what earlier ones sent, or delete.
        """
        own = statistics.median(figure(tick) for tick in self.ticks) * len(self.ticks)
        return (figure(self.total) - own) / self.compressed
