"""Tidemark itself: its home is written as its recorder would, and its remote copy is checked."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, Any

from corpus import Corpus, Session
from measuring import Command, Failure
from servers import ACCESS_KEY, PASSWORD, SECRET_KEY, USER
from tool import Place, Run, Tool, environment

_SEGMENT = re.compile(
    r"(?P<session>[0-9a-z-]{25})\.g1\.(?P<start>\d{12})-(?P<end>\d{12})"
    r"\.[0-9a-f]{16}\.(?P<stored>\d+)\.log\.zst"
)


class Tidemark(Tool):
    """`tidemark upload`; its home holds links to the corpus' logs."""

    name = "tidemark"

    def __init__(self, program: str, about: str, server: str) -> None:
        super().__init__(program, about)
        self.server = server
        self._locks: list[IO[bytes]] = []

    def command(self, place: Place, *arguments: str, home: str = "home") -> Command:
        """A command in one of the trial's homes."""
        variables = environment(
            place.folder,
            TIDEMARK_HOME=str(place.folder / home),
            TIDEMARK_STORE=self._store(place),
            AWS_ENDPOINT_URL=place.url,
            AWS_REGION="us-east-1",
            AWS_ACCESS_KEY_ID=ACCESS_KEY,
            AWS_SECRET_ACCESS_KEY=SECRET_KEY,
            TIDEMARK_WEBDAV_USER=USER,
            TIDEMARK_WEBDAV_PASSWORD=PASSWORD,
        )
        return Command((self.program, *arguments), variables)

    def _home(self, place: Place) -> Path:
        return place.folder / "home"

    def _store(self, place: Place) -> str:
        if self.server == "s3":
            return f"s3://{self.key}/logs"
        return f"{place.url}/dav/{self.key}"

    def place_remote(self, place: Place) -> bool:
        """Nothing: sealed sessions are not looked at, wherever their objects lie."""
        return True

    def prepare(self, place: Place, run: Run, is_placed: bool) -> None:
        """Makes the home and puts the sessions into it, sealed where they are placed."""
        run(self.command(place, "init", self._store(place)))
        home = self._home(place)
        if is_placed:
            self._upload_one(place, run)
        location = json.loads(self._said(place, "status", "--json"))["store"]
        device = json.loads((home / "device.json").read_text())
        for day in {session.plan.day for session in place.corpus.sessions}:
            (home / "sessions" / day).mkdir(exist_ok=True)
        recorder = _recorder(device.get("machineId"))
        for session in place.corpus.sessions:
            record = _sidecar(session, device, recorder)
            if is_placed:
                record |= _seal(session, location)
            self._enrol(home, session, record)

    def _enrol(self, home: Path, session: Session, record: dict[str, Any]) -> None:
        """Writes what a recorder leaves: log, sidecar, marker; a living one's lock."""
        base = home / "sessions" / session.plan.day / session.plan.session
        os.link(session.path, f"{base}.log")
        with open(f"{base}.json", "w", encoding="ascii") as sidecar:
            json.dump(record, sidecar, sort_keys=True, indent=2)
        if "seal" in record:
            return
        (home / "open" / session.plan.session).touch()
        if session.plan.is_active:
            lock = open(f"{base}.lock", "wb")
            fcntl.flock(lock, fcntl.LOCK_SH)
            self._locks.append(lock)

    def _upload_one(self, place: Place, run: Run) -> None:
        """Records a line and sends it: a home that is in use has a cache, and knows its store."""
        run(self.command(place, "run", "--app", "first", "--", "/bin/echo", "first"))
        run(self.upload(place))

    def _said(self, place: Place, *arguments: str) -> str:
        command = self.command(place, *arguments)
        done = subprocess.run(command.argv, env=command.env, capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"{' '.join(command.argv)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def upload(self, place: Place) -> Command:
        """The line in the crontab."""
        return self.command(place, "upload")

    def version(self, place: Place) -> Command:
        """What starting the program costs."""
        return self.command(place, "--version")

    def restore(self, place: Place, target: Path) -> Command:
        """Mirrors every session into a folder, from a home that knows nothing yet."""
        arguments = ("pull", "--all-devices", str(target))
        return self.command(place, *arguments, home=target.name)

    def check(self, place: Place) -> None:
        """Decompresses what lies on the server and compares it with the logs, byte for byte."""
        waiting = len(os.listdir(self._home(place) / "open")) - len(place.corpus.active)
        if waiting:
            raise Failure(f"{self.label}: {waiting} sessions that have ended are not sealed")
        _Comparison(self.label, place.corpus, place.remote).run()

    def close(self) -> None:
        """Lets the sessions that grow end."""
        for lock in self._locks:
            lock.close()
        self._locks.clear()


class _Comparison:
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


def _stamp(milliseconds: int) -> str:
    second, milli = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + f".{milli:03d}Z"


def _recorder(machine: str | None) -> dict[str, Any]:
    """This process as a recorder, so that sessions that grow have a living one."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    recorder: dict[str, Any] = {
        "pid": os.getpid(),
        "processStart": int(fields[19]),
        "bootId": Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        "pidNamespace": os.readlink("/proc/self/ns/pid"),
    }
    return recorder | ({"machineId": machine} if machine else {})


def _sidecar(session: Session, device: dict[str, Any], recorder: dict[str, Any]) -> dict[str, Any]:
    plan = session.plan
    record: dict[str, Any] = {
        "sessionId": plan.session,
        "fileName": session.path.name,
        "format": "lines",
        "userId": "bench",
        "deviceId": device["deviceId"],
        "deviceName": device["deviceName"],
        "osVersion": device["osVersion"],
        "appName": plan.app,
        "startedAt": _stamp(plan.started),
        "lastUpdatedAt": _stamp(plan.started),
        "status": "ACTIVE",
        "fileSizeBytes": 0,
        "scenarios": [],
        "categories": [],
        "levels": {},
        "recorder": recorder,
    }
    if not plan.is_active:
        record |= {
            "lastUpdatedAt": _stamp(session.ended),
            "endedAt": _stamp(session.ended),
            "status": "TERMINATED",
            "cause": "exit 0",
            "fileSizeBytes": session.length,
            "categories": ["Session", "stderr", "stdout"],
            "levels": {"INFO": 2},
        }
    return record


def _seal(session: Session, location: str) -> dict[str, Any]:
    """What the local mark of a sealed session adds."""
    length = session.length
    name = session.plan.session
    head = session.digest[:16]
    revision = hashlib.sha256(name.encode()).hexdigest()[:16]
    return {
        "digest": session.digest,
        "objects": [f"{name}.g1.{0:012d}-{length:012d}.{head}.{length // 4 + 1}.log.zst"],
        "seal": {
            "store": location,
            "revision": f"{name}.s0001.terminated.{length:012d}.{revision}.800.json",
            "sealedAt": _stamp(session.ended + 60_000),
            "digest": session.digest,
            "length": length,
        },
    }
