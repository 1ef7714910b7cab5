"""Programs that log without a pause and reopen their log when it was renamed."""

from __future__ import annotations

import os
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

AGE = timedelta(days=304)
"""How old the records say they are: ten months."""


class Writers:
    """Some writers, each with a log of its own."""

    def __init__(self, folder: Path, count: int) -> None:
        self._folder = folder
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(name,)) for name in names(count)
        ]
        self.written: dict[str, int] = {}
        """How many lines each has written, by its name."""

    def start(self) -> None:
        """Begins to write."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Returns when the last line is written."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, name: str) -> None:
        path = self._folder / f"{name}.log"
        number = 0
        while not self._stop.is_set():
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            while not self._stop.is_set():
                for _ in range(20):
                    os.write(file, line(name, number))
                    number += 1
                self.written[name] = number
                time.sleep(0.1)
                try:
                    if os.stat(path).st_ino != os.fstat(file).st_ino:
                        break
                except FileNotFoundError:
                    break
            os.close(file)


def names(count: int) -> list[str]:
    """The writers' names."""
    return [f"app{number:02}" for number in range(count)]


def line(name: str, number: int) -> bytes:
    """A line: no two are alike."""
    date = datetime.now(timezone.utc) - AGE
    filling = format(number * 0x9E3779B97F4A7C15 % (1 << 64), "016x")
    stamp = date.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    return f"{stamp}Z level=info line={name}:{number} {filling}\n".encode()
