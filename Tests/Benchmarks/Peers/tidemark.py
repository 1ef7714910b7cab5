"""Tidemark itself: its home is written as its recorder would, and its remote copy is checked."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import IO, Any

from comparison import Comparison
from corpus import Session
from measuring import Command, Failure
from scenarios import Scenario
from servers import ACCESS_KEY, PASSWORD, SECRET_KEY, USER
from sidecars import recorder, seal, sidecar
from tool import Place, Run, Tool, digest, environment


class Tidemark(Tool):
    """`tidemark upload`; its home holds links to the corpus' logs, or names the one to attach."""

    name = "tidemark"

    def __init__(self, program: str, about: str, server: str, transfers: int | None = None) -> None:
        super().__init__(program, about)
        self.server = server
        self.transfers = transfers
        """Requests under way at once; None is its default."""
        self._locks: list[IO[bytes]] = []

    @property
    def label(self) -> str:
        """How it is called in tables."""
        return super().label + (f" ×{self.transfers}" if self.transfers else "")

    @property
    def key(self) -> str:
        """A name for folders and buckets."""
        return super().key + (f"-{self.transfers}" if self.transfers else "")

    def takes_part(self, scenario: Scenario, latency: int) -> bool:
        """With more transfers only where they make a difference."""
        return not self.transfers or (scenario.has_many_transfers and latency > 0)

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
        """Makes the home with the sessions in it, sealed where they are placed."""
        run(self.command(place, "init", self._store(place)))
        if place.corpus.plan.is_attached:
            self._attach(place)
        else:
            self._record(place, run, is_placed)

    def _attach(self, place: Place) -> None:
        """Names the log in the configuration."""
        source = {"path": f"{place.corpus.folder}/*.log", "app": "app"}
        settings = {"store": self._store(place), "consent": "logs", "sources": [source]}
        # What is JSON is YAML.
        (self._home(place) / "tidemark.yaml").write_text(json.dumps(settings))

    def _record(self, place: Place, run: Run, is_placed: bool) -> None:
        """Puts the sessions into the home."""
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
        base = _base(home, session)
        os.link(session.path, f"{base}.log")
        _save(record, base)
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

    def end(self, place: Place) -> None:
        """Does what recorders do then."""
        self.close()
        home = self._home(place)
        device = json.loads((home / "device.json").read_text())
        own = recorder(device.get("machineId"))
        for session in place.corpus.sessions:
            _save(sidecar(session, device, own), _base(home, session))

    def upload(self, place: Place) -> Command:
        """The line in the crontab."""
        return self.command(place, "upload", *self._options())

    def version(self, place: Place) -> Command:
        """What starting the program costs."""
        return self.command(place, "--version")

    def restore(self, place: Place, target: Path) -> Command:
        """Mirrors every session into a folder, from a home that knows nothing yet."""
        arguments = ("pull", "--all-devices", *self._options(), str(target))
        return self.command(place, *arguments, home=target.name)

    def _options(self) -> tuple[str, ...]:
        return ("--transfers", str(self.transfers)) if self.transfers else ()

    def check(self, place: Place) -> None:
        """Compares what lies on the server with the logs, byte for byte."""
        if place.corpus.plan.is_attached:
            self._check_attached(place)
            return
        waiting = len(os.listdir(self._home(place) / "open")) - len(place.corpus.active)
        if waiting:
            raise Failure(f"{self.label}: {waiting} sessions that have ended are not sealed")
        Comparison(self.label, place.corpus, place.remote).run()

    def _check_attached(self, place: Place) -> None:
        """Lets it read its sessions back, which make up the log as it is now."""
        target = place.folder.with_name("checked")
        command = self.restore(place, target)
        done = subprocess.run(command.argv, env=command.env, capture_output=True, text=True)
        # What the log was before it was rewritten is beside it, as SESSION.gN.log.
        found = sorted(digest(path) for path in target.rglob("*.log") if path.stem.count(".") == 0)
        if done.returncode or found != sorted(digest(log.path) for log in place.corpus.sessions):
            raise Failure(f"{self.label} brought another log back: {done.stderr}")
        shutil.rmtree(target)

    def close(self) -> None:
        """Lets the sessions that grow end."""
        for lock in self._locks:
            lock.close()
        self._locks.clear()


def _base(home: Path, session: Session) -> Path:
    return home / "sessions" / session.plan.day / session.plan.session


def _save(record: dict[str, Any], base: Path) -> None:
    with open(f"{base}.json", "w", encoding="ascii") as file:
        json.dump(record, file, sort_keys=True, indent=2)
