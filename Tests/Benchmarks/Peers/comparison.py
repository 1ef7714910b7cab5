"""Sealed and open sessions on a server's disk, compared with the logs, byte for byte."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from pathlib import Path
from typing import IO

from corpus import Corpus, Session
from measuring import Failure

_SEGMENT = re.compile(
    r"(?P<session>[0-9a-z-]{25})\.g1\.(?P<start>\d{12})-(?P<end>\d{12})"
    r"\.[0-9a-f]{16}\.(?P<stored>\d+)\.log\.zst"
)


class Comparison:
    """All segments through one `zstd -d`, in the order of the sessions, against the logs."""

    def __init__(self, label: str, corpus: Corpus, remote: Path) -> None:
        self._label = label
        self._corpus = corpus
        self._segments: dict[str, list[tuple[int, int, Path]]] = {}
        for folder, _, names in os.walk(remote):
            for name in names:
                self._add(Path(folder, name))

    def _add(self, path: Path) -> None:
        match = _SEGMENT.fullmatch(path.name)
        if not match or path.stat().st_size != int(match["stored"]):
            return
        found = (int(match["start"]), int(match["end"]), path)
        self._segments.setdefault(match["session"], []).append(found)

    def _cover(self, session: Session) -> list[Path]:
        """The segments that make up a log: where several begin, the longest."""
        paths: list[Path] = []
        position = 0
        longest = {
            start: (end, path)
            for start, end, path in sorted(self._segments.get(session.plan.session, []))
        }
        while position in longest:
            position, path = longest[position]
            paths.append(path)
        if position != session.length:
            raise Failure(
                f"{self._label}: {position} of the {session.length} bytes of "
                f"{session.plan.session} are on the server"
            )
        return paths

    def run(self) -> None:
        """Compares."""
        covers = [self._cover(session) for session in self._corpus.sessions]
        decoder = subprocess.Popen(["zstd", "-dc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert decoder.stdin and decoder.stdout
        feeder = threading.Thread(target=_feed, args=(covers, decoder.stdin), daemon=True)
        feeder.start()
        try:
            for session in self._corpus.sessions:
                with session.path.open("rb") as log:
                    while piece := log.read(1 << 20):
                        if decoder.stdout.read(len(piece)) != piece:
                            raise Failure(f"{self._label}: {session.plan.session} differs")
            if decoder.stdout.read(1):
                raise Failure(f"{self._label}: the server has more than the logs")
        finally:
            decoder.stdout.close()
            decoder.kill()
            decoder.wait()
            feeder.join()


def _feed(covers: list[list[Path]], target: IO[bytes]) -> None:
    try:
        for cover in covers:
            for path in cover:
                target.write(path.read_bytes())
        target.close()
    except BrokenPipeError:
        pass
