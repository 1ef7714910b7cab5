"""What happens to the logs, the program and the store meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
from pathlib import Path

from program import Program
from writers import names


class Disturbance(threading.Thread):
    """Something that happens again and again."""

    def __init__(self, seed: int, number: int) -> None:
        super().__init__()
        self.random = random.Random(seed * 8 + number)
        self.number = 0
        """How often it has happened."""
        self._stop_asked = threading.Event()

    def run(self) -> None:
        """Goes on until it is stopped."""
        while not self._stop_asked.wait(self.pause()):
            self.happen()
            self.number += 1

    def stop(self) -> None:
        """Returns when it happens no more."""
        self._stop_asked.set()
        self.join()

    def pause(self) -> float:
        """Seconds before it happens again."""
        raise NotImplementedError

    def happen(self) -> None:
        """Lets it happen."""
        raise NotImplementedError


class Rotations(Disturbance):
    """logrotate, which keeps everything."""

    OPTIONS = ["create", "create\ncompress\ndelaycompress"]

    def __init__(self, logs: Path, folder: Path, count: int, seed: int, pause: float) -> None:
        super().__init__(seed, 1)
        self._pause = pause
        self._configuration = folder / "logrotate.conf"
        self._state = folder / "logrotate.state"
        parts = [
            f'"{logs}/{name}.log" {{\nrotate 10000\nmissingok\n{option}\n}}\n'
            for number, name in enumerate(names(count))
            for option in [self.OPTIONS[number % len(self.OPTIONS)]]
        ]
        self._configuration.write_text("".join(parts))
        self._configuration.chmod(0o644)

    def pause(self) -> float:
        """From half of it to one and a half."""
        return self._pause * self.random.uniform(0.5, 1.5)

    def happen(self) -> None:
        """Rotates all logs."""
        # Not on every user's path.
        program = shutil.which("logrotate", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        command = [program or "logrotate", "--force", "--state", self._state, self._configuration]
        subprocess.run(command, check=True)


class Uploads(Disturbance):
    """An upload a second, some of which are killed; now and then one that deletes what is proven."""

    def __init__(self, program: Program, seed: int, kills: float, reaps: float) -> None:
        super().__init__(seed, 2)
        self._program = program
        self._kills = kills
        self._reaps = reaps
        self.killed = 0
        """How many were killed."""

    def pause(self) -> float:
        """A second at the most; a pass takes time, too."""
        return self.random.uniform(0, 1)

    def happen(self) -> None:
        """Uploads, or deletes local copies that are proven."""
        is_reap = self.random.random() < self._reaps
        arguments = ["reap", "--local", "--older-than", "1s", "--force", "--yes"]
        upload = self._program.start(*(arguments if is_reap else ["upload", "--now", "-v"]))
        if self.random.random() < self._kills:
            # Early or late, as the attach step comes first and is short.
            try:
                upload.wait(self.random.choice([0.05, 0.2, 1.0]) * self.random.random())
            except subprocess.TimeoutExpired:
                upload.kill()
                self.killed += 1
        upload.wait()


class Recorders(Disturbance):
    """Programs that are recorded."""

    def __init__(self, program: Program, seed: int) -> None:
        super().__init__(seed, 3)
        self._program = program
        self.written: dict[str, int] = {}
        """How many lines each has written, by its name."""

    def pause(self) -> float:
        """Some seconds."""
        return self.random.uniform(2, 8)

    def happen(self) -> None:
        """Records a program that ends."""
        count, name = self.random.randrange(1, 2000), f"run{self.number}"
        script = f"seq 0 {count - 1} | sed 's/.*/line={name}:& ./'"
        self._program.run("run", "--no-upload", "--", "sh", "-c", script)
        self.written[name] = count


class Outages(Disturbance):
    """The store's folder is not there for some seconds, as if it were not mounted."""

    def __init__(self, program: Program, seed: int) -> None:
        super().__init__(seed, 4)
        self._store = program.store

    def pause(self) -> float:
        """Half a minute, about."""
        return self.random.uniform(15, 45)

    def happen(self) -> None:
        """Takes it away and brings it back."""
        away = self._store.with_name("away")
        self._store.rename(away)
        self._stop_asked.wait(self.random.uniform(1, 8))
        away.rename(self._store)
