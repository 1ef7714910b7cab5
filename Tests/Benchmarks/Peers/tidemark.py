"""Tidemark itself: its home is written as its recorder would, and its remote copy is checked."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path
from typing import IO, Any

from comparison import Comparison
from corpus import Session
from measuring import Command, Failure
from servers import ACCESS_KEY, PASSWORD, SECRET_KEY, USER
from sidecars import recorder, seal, sidecar
from tool import Place, Run, Tool, environment


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
        own = recorder(device.get("machineId"))
        for session in place.corpus.sessions:
            record = sidecar(session, device, own)
            if is_placed:
                record |= seal(session, location)
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
        Comparison(self.label, place.corpus, place.remote).run()

    def close(self) -> None:
        """Lets the sessions that grow end."""
        for lock in self._locks:
            lock.close()
        self._locks.clear()
