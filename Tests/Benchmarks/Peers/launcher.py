"""A program that runs commands and says what they took.

It is small on purpose: a child's peak memory begins with what its parent had. Each JSON line on
standard input is `{"argv", "env", "output"}`; the answer has `status`, `wall`, `cpu` (both in
seconds) and `memory` (bytes). When the input ends, so does the command that is running.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from typing import Any


class Launcher:
    """Takes orders on the main thread; another one notices the end of the input."""

    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._running: int | None = None
        self._has_ended = False

    def main(self) -> None:
        """Runs what is ordered until the input ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        while order := self._orders.get():
            print(json.dumps(self._run(order)), flush=True)

    def _listen(self) -> None:
        for line in sys.stdin:
            self._orders.put(json.loads(line))
        self._has_ended = True
        self._stop()
        self._orders.put(None)

    def _stop(self) -> None:
        if self._running is not None:
            os.killpg(self._running, signal.SIGKILL)

    def _run(self, order: dict[str, Any]) -> dict[str, Any]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, order["output"], flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        argv = order["argv"]
        begin = time.monotonic()
        process = os.posix_spawn(argv[0], argv, order["env"], file_actions=actions, setpgroup=0)
        self._running = process
        # The input may have ended in between.
        if self._has_ended:
            self._stop()
        # Its id stays taken until it is waited for, so nothing else can be stopped by mistake.
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - begin
        self._running = None
        _, status, usage = os.wait4(process, 0)
        unit = 1 if sys.platform == "darwin" else 1024
        return {
            "status": os.waitstatus_to_exitcode(status),
            "wall": wall,
            "cpu": usage.ru_utime + usage.ru_stime,
            "memory": usage.ru_maxrss * unit,
        }


if __name__ == "__main__":
    Launcher().main()
