"""Log text as a recorded service prints it: seeded, in Tidemark's record format."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

APPS = ("billing", "gateway", "importer", "mailer", "scheduler", "search")

_PATHS = (
    "/api/v2/orders",
    "/api/v2/orders/items",
    "/api/v2/customers",
    "/api/v2/invoices",
    "/api/v2/search",
    "/health",
    "/static/app.js",
    "/login",
)
_TABLES = ("orders", "customers", "invoices", "sessions", "audit_log", "line_items")
_STAGES = ("parse", "validate", "enrich", "store", "index")
_FRAMES = (
    "    at service.http.Router.dispatch (router.ts:{})",
    "    at service.http.Handler.call (handler.ts:{})",
    "    at service.db.Pool.acquire (pool.ts:{})",
    "    at service.db.Session.query (session.ts:{})",
    "    at service.core.Worker.run (worker.ts:{})",
    "    at service.core.Scheduler.tick (scheduler.ts:{})",
)


class RecordStream:
    """The records of one session, in order; the same seed gives the same bytes."""

    def __init__(self, seed: str, app: str, started: int) -> None:
        self.milliseconds = started
        self._app = app
        self._random = random.Random(seed)
        self._second = -1
        self._clock = ""
        users = [f"user{self._random.randrange(10**5):05d}" for _ in range(40)]
        hosts = [f"10.{self._random.randrange(4)}.0.{n}" for n in range(2, 30)]
        self._messages = self._tables(users, hosts)

    def start(self) -> bytes:
        """The record that opens the session."""
        return self._record("INFO", "Session", f"SESSION START app={self._app}")

    def end(self) -> bytes:
        """The record of an exit with status 0."""
        return self._record("INFO", "Session", "SESSION END exit 0")

    def records(self, size: int) -> bytes:
        """Whole records, `size` bytes or a little more."""
        parts: list[bytes] = []
        total = 0
        bits = self._random.getrandbits
        while total < size:
            self.milliseconds += bits(7)
            level, message = self._messages[bits(5)]()
            stream = "stdout" if level in ("INFO", "DEBUG") else "stderr"
            part = self._record(level, stream, message)
            if level == "ERROR":
                part += self._trace()
            parts.append(part)
            total += len(part)
        return b"".join(parts)

    def _record(self, level: str, category: str, message: str) -> bytes:
        second, milli = divmod(self.milliseconds, 1000)
        if second != self._second:
            self._second = second
            self._clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._clock}.{milli:03d}Z [{level}] [{category}] {message}\n".encode()

    def _trace(self) -> bytes:
        lines = self._random.sample(_FRAMES, 4)
        return b"".join(
            self._record("INFO", "stderr", line.format(self._random.randrange(20, 60)))
            for line in lines
        )

    def _tables(self, users: list[str], hosts: list[str]) -> list[Callable[[], tuple[str, str]]]:
        """32 makers of a level and a message, by how often each is used."""
        pick = self._random.choice
        bits = self._random.getrandbits
        count = self._random.randrange

        def request() -> tuple[str, str]:
            status = 200 if bits(4) else 404
            return "INFO", (
                f"GET {pick(_PATHS)}?page={count(1, 20)} {status} {count(2, 80)}ms "
                f"client={pick(hosts)} user={pick(users)}"
            )

        def traced() -> tuple[str, str]:
            return "INFO", (
                f"POST {pick(_PATHS)} 201 {count(10, 400)}ms client={pick(hosts)} "
                f"trace={bits(64):016x}"
            )

        def query() -> tuple[str, str]:
            return "DEBUG", (
                f"query table={pick(_TABLES)} rows={count(0, 50)} took={count(1, 30)}ms "
                f"connection=pool-{bits(3)} cached={'true' if bits(1) else 'false'}"
            )

        def stage() -> tuple[str, str]:
            return "INFO", (
                f"job {count(10**5, 10**6)}: stage {pick(_STAGES)} finished, "
                f"{count(100, 2000)} records, 0 rejected"
            )

        def heartbeat() -> tuple[str, str]:
            return "DEBUG", (
                f"heartbeat ok, queue={bits(4)} workers=8/8 "
                f"memory={count(310, 330)}MiB open-connections={count(20, 30)}"
            )

        def slow() -> tuple[str, str]:
            return "WARN", (
                f"slow query on {pick(_TABLES)}: {count(500, 3000)}ms, limit 500ms; "
                "consider an index"
            )

        def failed() -> tuple[str, str]:
            return "ERROR", (
                f"request of {pick(users)} failed: connection to {pick(hosts)}:5432 "
                f"timed out after 5000ms, attempt {count(1, 4)} of 3"
            )

        return ([request] * 8 + [traced] * 3 + [query] * 8 + [stage] * 5 + [heartbeat] * 6) + [
            slow,
            failed,
        ]
