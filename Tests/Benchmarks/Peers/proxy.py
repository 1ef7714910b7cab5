"""A program between tools and servers: counts requests and bytes, and adds a round trip's delay.

Run as `proxy.py ACCESS_LOG NAME=http:PORT…`: listens once a name and forwards to 127.0.0.1:PORT;
with `tcp` only bytes are counted. Prints `{"name": port}` on its first line; then answers each JSON
line on standard input: `{"delay": s}` sets the round-trip time, `{"counts": true}` prints what
passed since it was last asked. Ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from typing import IO

HEAD_LIMIT = 1 << 16
QUEUE_LIMIT = 8 << 20


@dataclass
class Ledger:
    """What passed since the counts were last taken."""

    log: IO[str]
    delay: float = 0.0
    methods: Counter[str] = field(default_factory=Counter)
    connections: int = 0
    up: int = 0
    down: int = 0
    put: int = 0

    def request(self, route: str, connection: int, line: str, body: int) -> None:
        """Notes one request by its first line and the length of its body; -1 where chunked."""
        method = line.partition(" ")[0]
        self.methods[method] += 1
        if method == "PUT":
            self.put += max(0, body)
        self.log.write(f"{time.time():.6f} {route} {connection} {body} {line}\n")

    def take(self) -> dict[str, object]:
        """The counts, which begin anew."""
        counts = {
            "methods": dict(self.methods),
            "requests": sum(self.methods.values()),
            "connections": self.connections,
            "up": self.up,
            "down": self.down,
            "put": self.put,
        }
        self.methods.clear()
        self.connections = self.up = self.down = self.put = 0
        self.log.flush()
        return counts


class RequestReader:
    """Finds the requests in what a client sends, by request line and body length alone."""

    def __init__(self, ledger: Ledger, route: str, connection: int) -> None:
        self._ledger = ledger
        self._route = route
        self._connection = connection
        self._head = b""
        self._body = 0
        self._in_chunks = False
        self._is_lost = False

    def feed(self, data: bytes) -> None:
        """Takes the next bytes in order."""
        position = 0
        while position < len(data) and not self._is_lost:
            if self._body:
                step = min(self._body, len(data) - position)
                self._body -= step
                position += step
                continue
            end = self._take_head(data, position)
            if end is None:
                return
            position = end

    def _take_head(self, data: bytes, position: int) -> int | None:
        """Collects a head, or a chunk's length; returns where it ended in `data`."""
        mark = b"\r\n" if self._in_chunks else b"\r\n\r\n"
        held = len(self._head)
        self._head += data[position : position + HEAD_LIMIT]
        end = self._head.find(mark)
        if end < 0:
            self._is_lost = len(self._head) >= HEAD_LIMIT
            return None
        head, self._head = self._head[:end], b""
        if self._in_chunks:
            self._begin_chunk(head)
        else:
            self._begin_body(head)
        return position + end + len(mark) - held

    def _begin_chunk(self, head: bytes) -> None:
        if not head:
            return
        length = int(head.split(b";")[0], 16)
        self._body = length
        if not length:
            self._in_chunks = False
            self._body = 2

    def _begin_body(self, head: bytes) -> None:
        first, *fields = head.split(b"\r\n")
        length = 0
        for line in fields:
            name, _, value = line.partition(b":")
            match name.strip().lower():
                case b"content-length":
                    length = int(value)
                case b"transfer-encoding" if b"chunked" in value.lower():
                    self._in_chunks = True
        self._body = 0 if self._in_chunks else length
        shown = -1 if self._in_chunks else length
        self._ledger.request(self._route, self._connection, first.decode("latin-1"), shown)


class Pipe:
    """One direction of a connection: hands bytes on in order, each after its delay."""

    def __init__(self, ledger: Ledger, not_before: float) -> None:
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._not_before = not_before
        self._queue: deque[tuple[float, bytes | None]] = deque()
        self._queued = 0
        self._timer: asyncio.TimerHandle | None = None
        self.source: asyncio.Transport | None = None
        self.target: asyncio.Transport | None = None
        self.partner: Pipe | None = None
        self.has_ended = False
        self._target_is_full = False

    def pass_on(self, data: bytes | None) -> None:
        """Takes the next bytes; None is the end."""
        now = self._loop.time()
        due = max(now + self._ledger.delay / 2, self._not_before)
        if self.target and not self._queue and due <= now:
            self._deliver(data)
            return
        self._queue.append((due, data))
        self._queued += len(data or b"")
        self._hold()
        self._arm()

    def connect(self, target: asyncio.Transport) -> None:
        """Tells where the bytes go."""
        self.target = target
        self._arm()

    def fill(self, is_full: bool) -> None:
        """Tells whether the target has more than it can take."""
        self._target_is_full = is_full
        self._hold()

    def _hold(self) -> None:
        if not self.source or self.source.is_closing():
            return
        if self._target_is_full or self._queued > QUEUE_LIMIT:
            self.source.pause_reading()
        else:
            self.source.resume_reading()

    def _arm(self) -> None:
        if self._queue and self.target and not self._timer:
            self._timer = self._loop.call_at(self._queue[0][0], self._run)

    def _run(self) -> None:
        self._timer = None
        while self._queue and self._queue[0][0] <= self._loop.time():
            _, data = self._queue.popleft()
            self._queued -= len(data or b"")
            self._deliver(data)
        self._hold()
        self._arm()

    def _deliver(self, data: bytes | None) -> None:
        if not self.target or self.target.is_closing():
            return
        if data is not None:
            self.target.write(data)
            return
        self.has_ended = True
        if self.partner and self.partner.has_ended:
            self.target.close()
            if self.partner.target:
                self.partner.target.close()
        else:
            self.target.write_eof()


class Side(asyncio.Protocol):
    """One end of a connection: what it says goes into `says`, `hears` writes to it."""

    def __init__(self, says: Pipe, hears: Pipe) -> None:
        self._says = says
        self._hears = hears
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Joins both pipes to the new end."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._says.source = transport
        self._hears.connect(transport)

    def data_received(self, data: bytes) -> None:
        """Hands bytes on."""
        self._says.pass_on(data)

    def eof_received(self) -> bool:
        """Hands the end on; the other direction may go on."""
        self._says.pass_on(None)
        return True

    def connection_lost(self, error: Exception | None) -> None:
        """Ends the other side when this one is gone."""
        other = self._says.target
        if other and not other.is_closing():
            other.close()

    def pause_writing(self) -> None:
        """Holds the other side back."""
        self._hears.fill(True)

    def resume_writing(self) -> None:
        """Lets the other side go on."""
        self._hears.fill(False)


class Client(Side):
    """The end that a tool has connected to."""

    numbers = iter(range(1, 1 << 62))

    def __init__(self, ledger: Ledger, route: str, port: int, is_http: bool) -> None:
        loop = asyncio.get_running_loop()
        # A handshake is a round trip and a half until the server may speak, and the client speaks
        # after the first one: both are half a trip from being heard then.
        opened = loop.time() + 1.5 * ledger.delay
        super().__init__(Pipe(ledger, opened), Pipe(ledger, opened + ledger.delay / 2))
        self._says.partner, self._hears.partner = self._hears, self._says
        self._ledger = ledger
        self._port = port
        self._loop = loop
        self._reader = RequestReader(ledger, route, next(self.numbers)) if is_http else None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connects to the server for this client."""
        super().connection_made(transport)
        self._ledger.connections += 1
        self._task = self._loop.create_task(self._reach())

    async def _reach(self) -> None:
        try:
            await self._loop.create_connection(
                lambda: Server(self._ledger, self._hears, self._says), "127.0.0.1", self._port
            )
        except OSError:
            if self._transport:
                self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Counts what goes up."""
        self._ledger.up += len(data)
        if self._reader:
            self._reader.feed(data)
        super().data_received(data)


class Server(Side):
    """The end that the proxy has connected to."""

    def __init__(self, ledger: Ledger, says: Pipe, hears: Pipe) -> None:
        super().__init__(says, hears)
        self._ledger = ledger

    def data_received(self, data: bytes) -> None:
        """Counts what comes down."""
        self._ledger.down += len(data)
        super().data_received(data)


async def serve(log: IO[str], routes: list[str]) -> None:
    """Listens, and obeys standard input until it ends."""
    loop = asyncio.get_running_loop()
    ledger = Ledger(log)
    ports: dict[str, int] = {}
    for route in routes:
        name, kind, port = route.replace("=", ":").split(":")
        make = partial(Client, ledger, name, int(port), kind == "http")
        server = await loop.create_server(make, "127.0.0.1", 0, backlog=512)
        ports[name] = server.sockets[0].getsockname()[1]
    print(json.dumps(ports), flush=True)

    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin.buffer)
    while line := await orders.readline():
        order = json.loads(line)
        if "delay" in order:
            ledger.delay = order["delay"]
        print(json.dumps(ledger.take() if "counts" in order else {}), flush=True)


def main(arguments: list[str]) -> None:
    """Reads the arguments and serves."""
    path, *routes = arguments
    with open(path, "a", encoding="utf-8", buffering=1 << 16) as log:
        asyncio.run(serve(log, routes))


if __name__ == "__main__":
    main(sys.argv[1:])
