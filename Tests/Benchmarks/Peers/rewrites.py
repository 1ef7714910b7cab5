"""What becomes of a log of another program, apart from growing."""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace

from corpus import Corpus, Session
from logtext import RecordStream


def prune(corpus: Corpus, size: int) -> None:
    """Takes the first lines away, `size` bytes or a little more, by way of a new file."""
    log = _only(corpus).path
    new = log.with_name("pruned")
    with log.open("rb") as source, new.open("wb") as target:
        source.seek(size - 1)
        source.readline()
        shutil.copyfileobj(source, target, 1 << 20)
    os.replace(new, log)


def redact(corpus: Corpus, lines: int) -> None:
    """Makes the last word of so many lines unreadable, by way of a new file as `sed -i` does."""
    session = _only(corpus)
    text = bytearray(session.path.read_bytes())
    chance = random.Random(f"{session.plan.seed}/redact")
    ends: set[int] = set()
    while len(ends) < lines:
        ends.add(text.find(b"\n", chance.randrange(len(text) - 1)))
    for end in ends:
        start = text.rfind(b" ", 0, end) + 1
        text[start:end] = b"*" * (end - start)
    new = session.path.with_name("redacted")
    new.write_bytes(text)
    os.replace(new, session.path)


def rotate(corpus: Corpus, size: int) -> None:
    """Renames the log to `app.log.1` and begins a new one."""
    old = _only(corpus)
    path = old.path
    stream = RecordStream(f"{old.plan.seed}/rotated", old.plan.app, old.ended)
    old.path = path.rename(path.with_name(f"{path.name}.1"))
    old.plan = replace(old.plan, is_active=False)
    path.write_bytes(stream.records(size))
    corpus.sessions.append(
        Session(replace(old.plan, is_active=True), path, stream.milliseconds, digest="")
    )


def _only(corpus: Corpus) -> Session:
    (session,) = corpus.active
    return session
