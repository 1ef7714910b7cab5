"""What the proxy counts and the generator writes must be right, or no result is."""

from __future__ import annotations

import hashlib
import io
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Peers"))

from corpus import Corpus, CorpusPlan  # noqa: E402
from measuring import Command, Failure, Meter, Proxy  # noqa: E402
from proxy import Ledger, RequestReader  # noqa: E402
from scenarios import QUICK  # noqa: E402

REQUESTS = (
    b"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /"
    b"HEAD /b HTTP/1.1\r\nHost: x\r\n\r\n"
    b"PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nGET \r\n10;x=y\r\n"
    + b"\r\n\r\n"
    * 4
    + b"\r\n0\r\n\r\n"
    b"GET /d HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
)


class RequestReaderTest(unittest.TestCase):
    """Requests are found however the bytes are cut."""

    def test_every_cut_counts_the_same(self) -> None:
        for step in (1, 2, 3, 7, 50, len(REQUESTS)):
            log = io.StringIO()
            ledger = Ledger(log)
            reader = RequestReader(ledger, "s3", 1)
            for start in range(0, len(REQUESTS), step):
                reader.feed(REQUESTS[start : start + step])
            self.assertEqual(dict(ledger.methods), {"PUT": 2, "HEAD": 1, "GET": 1}, step)
            self.assertEqual(ledger.put, 5)
            lines = [line.split(maxsplit=3)[3] for line in log.getvalue().splitlines()]
            self.assertEqual(lines[0], "5 PUT /a HTTP/1.1")
            self.assertEqual(lines[2], "-1 PUT /c HTTP/1.1")

    def test_garbage_is_not_kept_for_ever(self) -> None:
        ledger = Ledger(io.StringIO())
        reader = RequestReader(ledger, "s3", 1)
        for _ in range(100):
            reader.feed(b"x" * 10_000)
        self.assertEqual(ledger.take()["requests"], 0)


class ProxyTest(unittest.TestCase):
    """The proxy changes nothing, counts every byte, and keeps what it is told to wait."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        port = self.listener.getsockname()[1]
        self.proxy = Proxy(Path(self.folder.name, "access.log"), [f"s3=http:{port}"])
        self.addCleanup(self.proxy.close)
        threading.Thread(target=self._echo, daemon=True).start()

    def _echo(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                while data := connection.recv(1 << 16):
                    connection.sendall(data)

    def _exchange(self, data: bytes) -> tuple[bytes, float]:
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.proxy.ports["s3"])) as client:
            threading.Thread(target=self._send, args=(client, data)).start()
            back = b""
            while piece := client.recv(1 << 16):
                back += piece
        return back, time.monotonic() - begin

    @staticmethod
    def _send(client: socket.socket, data: bytes) -> None:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)

    def test_bytes_and_requests(self) -> None:
        body = bytes(range(256)) * 20_000
        head = b"PUT /big HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
        data = head + body + REQUESTS
        for delay in (0.0, 0.05):
            self.proxy.delay(delay)
            back, took = self._exchange(data)
            self.assertEqual(hashlib.sha256(back).digest(), hashlib.sha256(data).digest())
            counts = self.proxy.counts()
            self.assertEqual((counts["up"], counts["down"]), (len(data), len(data)))
            self.assertEqual((counts["requests"], counts["connections"]), (5, 1))
            # A round trip for the connection and one for what it carries.
            self.assertGreaterEqual(took, 2 * delay)


class CorpusTest(unittest.TestCase):
    """The same seed gives the same logs, and they compress as real ones do."""

    def test_seed_growth_and_ratio(self) -> None:
        plan = CorpusPlan("test", (2_000_000, 300_000, 250), active=1)
        with tempfile.TemporaryDirectory() as name:
            first, second = (Corpus.write(plan, Path(name, half), 7) for half in ("a", "b"))
            self.assertTrue(6.4 < first.ratio() < 7.2, first.ratio())
            before = first.size
            for corpus in (first, second):
                corpus.grow(20_000)
            self.assertTrue(20_000 <= first.size - before < 21_000)
            for one, other in zip(first.sessions, second.sessions, strict=True):
                self.assertEqual(one.path.read_bytes(), other.path.read_bytes())
                ended = one.path.read_bytes().endswith(b"SESSION END exit 0\n")
                self.assertEqual(ended, not one.plan.is_active)


class MeterTest(unittest.TestCase):
    """Commands are measured, and one that fails is a failure."""

    def test_status_and_processor_time(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            meter = Meter(Path(name))
            self.addCleanup(meter.close)
            busy = "import time\nwhile time.process_time() < 0.2: pass"
            measured = meter.run(Command((sys.executable, "-c", busy), {}))
            self.assertGreaterEqual(measured.cpu, 0.2)
            self.assertGreaterEqual(measured.wall, 0.2)
            with self.assertRaisesRegex(Failure, "ended with 3"):
                meter.run(Command(("/bin/sh", "-c", "exit 3"), {}))

    def test_a_command_ends_with_its_launcher(self) -> None:
        launcher = Path(__file__).resolve().parents[1] / "Peers" / "launcher.py"
        order = '{"argv": ["/bin/sleep", "600"], "env": {}, "output": "/dev/null"}\n'
        begin = time.monotonic()
        subprocess.run([sys.executable, str(launcher)], input=order, text=True, timeout=60)
        self.assertLess(time.monotonic() - begin, 60)


class ScenarioTest(unittest.TestCase):
    """The table is sound."""

    def test_scenarios_of_a_corpus_follow_each_other(self) -> None:
        names = [scenario.corpus.name for scenario in QUICK.scenarios(1)]
        self.assertEqual(len(set(names)), sum(a != b for a, b in zip(names, [""] + names)))


if __name__ == "__main__":
    unittest.main()
