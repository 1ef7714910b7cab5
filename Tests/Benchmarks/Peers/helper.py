"""Programs of our own that run beside the benchmark and answer JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


class Helper:
    """One program in this folder; it ends when its input does."""

    def __init__(self, name: str, *arguments: str) -> None:
        self._name = name
        path = Path(__file__).with_name(name)
        # A session of its own: an interrupt from the terminal is this program's affair.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def read(self) -> Any:
        """The next answer."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} has ended unexpectedly")
        return json.loads(line)

    def ask(self, **order: Any) -> Any:
        """Gives an order and waits for the answer."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self.read()

    def close(self) -> None:
        """Ends it."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
