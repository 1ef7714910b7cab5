"""The program under test, its home and its store."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path


class Program:
    """Tidemark with a home and a folder as its store."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path = path
        self.folder = folder
        self.store = folder / "mount" / "store"
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TIDEMARK_HOME": str(folder / "home"),
        }

    def prepare(self, logs: Path) -> None:
        """Makes the home, which attaches all that is in a folder."""
        self.store.parent.mkdir()
        self.run("init", f"file://{self.store}")
        settings = {
            "store": f"file://{self.store}",
            "consent": "logs",
            "sources": [{"path": f"{logs}/*.log*"}],
        }
        # What is JSON is YAML.
        (self.folder / "home" / "tidemark.yaml").write_text(json.dumps(settings))

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a command; what it says is appended to a log."""
        with open(self.folder / "said", "ab") as said:
            said.write(f"-- {' '.join(arguments)}\n".encode())
            said.flush()
            return subprocess.Popen(
                [str(self._path), *arguments],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def run(self, *arguments: str) -> int:
        """Runs a command to its end."""
        return self.start(*arguments).wait()

    def finish(self) -> None:
        """Uploads undisturbed until nothing more is found."""
        for _ in range(4):
            status = self.run("upload", "--now", "-v")
        if status != 0:
            raise SystemExit(f"soak: the last upload ended with {status}; see {self.folder}/said")

    def pull(self) -> Path:
        """What the store has, decoded and verified."""
        mirror = self.folder / "mirror"
        status = self.run("pull", str(mirror))
        if status != 0:
            raise SystemExit(f"soak: pull ended with {status}; see {self.folder}/said")
        return mirror
