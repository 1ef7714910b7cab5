"""What a scenario asks of every tool that takes part."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus import Corpus
from measuring import Command, Measurement
from scenarios import Scenario


@dataclass(frozen=True)
class Place:
    """Where a tool works in one trial."""

    folder: Path
    """The tool's own folder on this machine."""
    remote: Path
    """What the server shows of the tool's part, on the server's disk."""
    corpus: Corpus
    url: str
    """The server behind the proxy: `http://127.0.0.1:port` for S3 and WebDAV, `rsync://…`."""


Run = Callable[[Command], Measurement]


class Tool(ABC):
    """One tool and the server that it sends to."""

    name: str
    server: str
    """`s3`, `webdav` or `rsync`."""

    def __init__(self, program: str, about: str) -> None:
        self.program = program
        self.about = about
        """Its version, for the report."""

    @property
    def label(self) -> str:
        """How it is called in tables."""
        return self.name if self.server == self.name else f"{self.name} {self.server}"

    @property
    def key(self) -> str:
        """A name for folders and buckets."""
        return f"{self.name}-{self.server}"

    def takes_part(self, scenario: Scenario, latency: int) -> bool:
        """Whether it has a part in a scenario, with so many milliseconds a round trip."""
        return scenario.has_peers

    def place_remote(self, place: Place) -> bool:
        """Puts the corpus where a past upload would have, before the server starts.

        False where only an upload can.
        """
        return False

    def prepare(self, place: Place, run: Run, is_placed: bool) -> None:
        """Does once what is not measured: configuration, an empty repository."""

    def end(self, place: Place) -> None:
        """Learns that all sessions have ended."""

    @abstractmethod
    def upload(self, place: Place) -> Command:
        """Sends what is new."""

    @abstractmethod
    def restore(self, place: Place, target: Path) -> Command:
        """Fetches everything into a folder as a machine would that has nothing yet."""

    def check(self, place: Place) -> None:
        """Raises `Failure` when what lies on the server is not what lies here."""

    def close(self) -> None:
        """Lets go of what is held."""


def environment(folder: Path, **extra: str) -> dict[str, str]:
    """A bare environment: nothing of the caller's configuration gets in."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder), **extra}


def digest(path: Path) -> str:
    """A file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remote_files(place: Place) -> list[Path]:
    """What lies on the server's disk."""
    return [Path(folder, name) for folder, _, names in os.walk(place.remote) for name in names]


def restored_files(target: Path) -> dict[str, Path]:
    """The logs that a restore brought, by session."""
    return {path.stem: path for path in target.rglob("*.log")}
