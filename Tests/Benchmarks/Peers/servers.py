"""The loopback servers, each on a port and in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from measuring import Failure

USER = "tide"
PASSWORD = "mark"
ACCESS_KEY = "TIDEKEY"
SECRET_KEY = "mark/secret+key"

# A shell stands between: it waits for its input to end, which happens also when this program is
# killed, and then ends the server.
_LIFELINE = '"$@" & child=$!; read line; kill $child; wait $child'


def find_program(name: str, tools: Path) -> str | None:
    """The first executable of a name: the tools of the tests, then the system's."""
    places = [str(tools / "bin"), os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]
    return shutil.which(name, path=os.pathsep.join(places))


class Server:
    """A server program that ends with this object, or with this process."""

    def __init__(self, name: str, argv: list[str], port: int, folder: Path) -> None:
        self.port = port
        output = folder / f"{name}.out"
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)}
        with output.open("wb") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _LIFELINE, name, *argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        if not _accepts(port, within=20):
            self.close()
            said = output.read_text(errors="replace")[-1000:]
            raise Failure(f"{argv[0]} does not answer: {said}")

    def close(self) -> None:
        """Ends it and waits until it is gone."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _accepts(port: int, within: float) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


def serve_s3(rclone: str, folder: Path, buckets: Path) -> Server:
    """`rclone serve s3`."""
    port = free_port()
    key = f"{ACCESS_KEY},{SECRET_KEY}"
    address = f"127.0.0.1:{port}"
    argv = [rclone, "serve", "s3", "--config", "", "--addr", address, "--auth-key", key]
    return Server("s3", [*argv, str(buckets)], port, folder)


def serve_webdav(lighttpd: str, folder: Path, files: Path) -> Server:
    """lighttpd with mod_webdav and basic authentication; `files` is shown as `/dav`."""
    port = free_port()
    users = folder / "users"
    users.write_text(f"{USER}:{PASSWORD}\n")
    configuration = folder / "lighttpd.conf"
    configuration.write_text(
        f"""server.modules = ("mod_alias", "mod_auth", "mod_authn_file", "mod_webdav")
server.bind = "127.0.0.1"
server.port = {port}
server.document-root = "{folder}"
server.errorlog = "{folder}/lighttpd.log"
server.upload-dirs = ("{folder}")
alias.url = ("/dav" => "{files}")
auth.backend = "plain"
auth.backend.plain.userfile = "{users}"
auth.require = (
  "/" => ("method" => "basic", "realm" => "tidemark", "require" => "valid-user"))
mimetype.assign = ("" => "application/octet-stream")
webdav.activate = "enable"
"""
    )
    return Server("webdav", [lighttpd, "-D", "-f", str(configuration)], port, folder)


def serve_rsync(rsync: str, folder: Path, files: Path) -> Server:
    """An rsync daemon with one module, `logs`."""
    port = free_port()
    configuration = folder / "rsyncd.conf"
    identity = f"uid = {os.getuid()}\ngid = {os.getgid()}\n" if os.getuid() == 0 else ""
    configuration.write_text(f"""use chroot = no
pid file = {folder}/rsyncd.pid
{identity}[logs]
path = {files}
read only = no
""")
    argv = [rsync, "--daemon", "--no-detach", "--address=127.0.0.1", f"--port={port}"]
    return Server("rsync", [*argv, f"--config={configuration}"], port, folder)
