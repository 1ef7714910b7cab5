"""The tools that Tidemark is compared with, each as its manual says for logs that grow."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from corpus import link_tree
from measuring import Command, Failure
from servers import ACCESS_KEY, PASSWORD, SECRET_KEY, USER
from tool import Place, Run, Tool, digest, environment

_AWS = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_REGION": "us-east-1",
}


class Mirror(Tool):
    """A tool whose remote copy is the same tree of files."""

    def place_remote(self, place: Place) -> bool:
        """Links the logs into the server's folder."""
        link_tree(place.corpus, place.remote)
        return True

    def check(self, place: Place) -> None:
        """Compares attached logs, of which a change may leave the size as it was."""
        if not place.corpus.plan.is_attached:
            return
        for log in place.corpus.sessions:
            copy = place.remote / log.path.name
            if not copy.exists() or digest(copy) != digest(log.path):
                raise Failure(f"{self.label}: {log.path.name} is another on the server")


class Rclone(Mirror):
    """`rclone copy`, by the server's time of change where there is one: one request less a file."""

    name = "rclone"

    def _command(self, place: Place, source: str, target: str, *options: str) -> Command:
        argv = (self.program, "copy", "--config", "", *options, source, target)
        return Command(argv, environment(place.folder, **self._remote(place)))

    def upload(self, place: Place) -> Command:
        """Copies what is newer here."""
        # Listed times are shorter than local ones; without a window each file is dated again.
        options = ("--fast-list", "--update", "--use-server-modtime", "--modify-window", "1s")
        here = str(place.corpus.folder)
        return self._command(place, here, self._path(place), *options)

    def restore(self, place: Place, target: Path) -> Command:
        """Copies back."""
        return self._command(place, self._path(place), str(target), "--fast-list")

    def _remote(self, place: Place) -> dict[str, str]:
        raise NotImplementedError

    def _path(self, place: Place) -> str:
        raise NotImplementedError


class RcloneS3(Rclone):
    """To S3."""

    server = "s3"

    def _remote(self, place: Place) -> dict[str, str]:
        return {
            "RCLONE_CONFIG_BENCH_TYPE": "s3",
            "RCLONE_CONFIG_BENCH_PROVIDER": "Other",
            "RCLONE_CONFIG_BENCH_ENDPOINT": place.url,
            "RCLONE_CONFIG_BENCH_ACCESS_KEY_ID": ACCESS_KEY,
            "RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY": SECRET_KEY,
        }

    def _path(self, place: Place) -> str:
        return f"bench:{self.key}"


class RcloneWebDAV(Rclone):
    """To WebDAV; without times of change there, sizes decide."""

    server = "webdav"

    def __init__(self, program: str, about: str) -> None:
        super().__init__(program, about)
        obscured = subprocess.run(
            [program, "obscure", "-"], input=PASSWORD, capture_output=True, text=True, check=True
        )
        self._password = obscured.stdout.strip()

    def _remote(self, place: Place) -> dict[str, str]:
        return {
            "RCLONE_CONFIG_BENCH_TYPE": "webdav",
            "RCLONE_CONFIG_BENCH_VENDOR": "other",
            "RCLONE_CONFIG_BENCH_URL": f"{place.url}/dav",
            "RCLONE_CONFIG_BENCH_USER": USER,
            "RCLONE_CONFIG_BENCH_PASS": self._password,
            # lighttpd answers 415 to a PROPFIND whose body has no type, and rclone gives none.
            "RCLONE_CONFIG_BENCH_HEADERS": "Content-Type,application/xml",
        }

    def _path(self, place: Place) -> str:
        return f"bench:{self.key}"


class Restic(Tool):
    """`restic backup`, with its own cache."""

    name = "restic"
    server = "s3"

    def _command(self, place: Place, *arguments: str) -> Command:
        variables = environment(
            place.folder,
            **_AWS,
            RESTIC_REPOSITORY=f"s3:{place.url}/{self.key}",
            RESTIC_PASSWORD="bench",
            RESTIC_CACHE_DIR=str(place.folder / "cache"),
        )
        return Command((self.program, "--quiet", *arguments), variables)

    def prepare(self, place: Place, run: Run, is_placed: bool) -> None:
        """Makes a repository."""
        run(self._command(place, "init"))

    def upload(self, place: Place) -> Command:
        """Makes a snapshot."""
        return self._command(place, "backup", str(place.corpus.folder))

    def restore(self, place: Place, target: Path) -> Command:
        """Restores the newest snapshot without a cache."""
        return self._command(place, "--no-cache", "restore", "latest", "--target", str(target))


class S5cmd(Mirror):
    """`s5cmd sync`."""

    name = "s5cmd"
    server = "s3"

    def _command(self, place: Place, *arguments: str) -> Command:
        argv = (self.program, "--endpoint-url", place.url, "--log", "error", *arguments)
        return Command(argv, environment(place.folder, **_AWS))

    def upload(self, place: Place) -> Command:
        """Sends what is newer or of another size."""
        return self._command(place, "sync", f"{place.corpus.folder}/", f"s3://{self.key}/")

    def restore(self, place: Place, target: Path) -> Command:
        """Copies back."""
        return self._command(place, "cp", f"s3://{self.key}/*", f"{target}/")


class Rsync(Mirror):
    """rsync to a daemon, compressed: with zstd where both ends have it."""

    name = "rsync"
    server = "rsync"

    def _command(self, place: Place, source: str, target: str) -> Command:
        argv = (self.program, "-a", "--compress", source, target)
        return Command(argv, environment(place.folder))

    def upload(self, place: Place) -> Command:
        """Sends what has changed."""
        return self._command(place, f"{place.corpus.folder}/", self._path(place))

    def restore(self, place: Place, target: Path) -> Command:
        """Fetches back."""
        return self._command(place, self._path(place), f"{target}/")

    def _path(self, place: Place) -> str:
        return f"{place.url}/logs/{self.key}/"


ALL: tuple[type[Tool], ...] = (RcloneS3, RcloneWebDAV, Restic, S5cmd, Rsync)
"""All that are known."""


def installed(find: Callable[[str], str | None], tools: Path) -> tuple[list[Tool], list[str]]:
    """The peers that are there and run, and the names of those that do not."""
    # The s5cmd package's own command is a Python program that starts this one.
    inside = [str(path) for path in tools.glob("lib/python*/site-packages/s5cmd/bin/s5cmd")]
    peers: list[Tool] = []
    absent: list[str] = []
    for kind in ALL:
        program = inside[0] if inside and kind is S5cmd else find(kind.name)
        about = program and _first_line(program, "--version" if kind is Rsync else "version")
        if program and about:
            peers.append(kind(program, about.removeprefix(kind.name).strip()))
        else:
            absent.append(kind.name)
    return peers, absent


def _first_line(program: str, question: str) -> str | None:
    """What a program says of itself; nothing where it does not run."""
    try:
        done = subprocess.run([program, question], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.partition("\n")[0] if done.returncode == 0 else None
