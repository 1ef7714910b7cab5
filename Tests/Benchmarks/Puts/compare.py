"""Compares PUTs over our transport with the same libcurl in a bare loop, and with rclone.

Run as `compare.py PUTS TOOLS WORK`, by `Scripts/bench --puts`. All put the same number of objects to
the same lighttpd, over as many connections; each figure is the median of three rounds that alternate.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "Peers"))

from servers import PASSWORD, USER, find_program, serve_webdav  # noqa: E402

ROUNDS = 3
CONNECTIONS = 4
SIZES = ((16 << 10, 400), (8 << 20, 12))
DELAYS = (0, 30)


class Rig:
    """A server, a proxy that delays, and what is measured on them."""

    def __init__(self, puts: str, tools: Path, work: Path) -> None:
        self.puts = puts
        self.work = work
        self.files = work / "files"
        self.files.mkdir(parents=True)
        lighttpd, rclone = (find_program(name, tools) for name in ("lighttpd", "rclone"))
        if not lighttpd or not rclone:
            sys.exit("lighttpd or rclone is missing: Scripts/needs bench")
        self.rclone = rclone
        self.server = serve_webdav(lighttpd, work, self.files)
        proxy = Path(__file__).parent.parent / "Peers" / "proxy.py"
        self.proxy = subprocess.Popen(
            [sys.executable, str(proxy), str(work / "access.log"), f"dav=http:{self.server.port}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.proxy.stdout and self.proxy.stdin
        self.delayed = json.loads(self.proxy.stdout.readline())["dav"]

    def close(self) -> None:
        """Ends what runs."""
        assert self.proxy.stdin
        self.proxy.stdin.close()
        self.proxy.wait()
        self.server.close()

    def url(self, delay: int) -> str:
        """The folder, through the proxy where there is a delay."""
        if delay == 0:
            return f"http://127.0.0.1:{self.server.port}/dav"
        assert self.proxy.stdin
        self.proxy.stdin.write(json.dumps({"delay": delay / 1000}) + "\n")
        self.proxy.stdin.flush()
        return f"http://127.0.0.1:{self.delayed}/dav"

    def ours(self, how: str, url: str, size: int, count: int) -> float:
        """Seconds for `count` objects, as the program says."""
        login = f"{USER}:{PASSWORD}"
        argv = [self.puts, how, url, login, str(count), str(size), str(CONNECTIONS)]
        return float(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)

    def by_rclone(self, url: str, size: int, count: int) -> float:
        """Seconds for `count` objects, start-up included."""
        source = self.work / f"source-{size}"
        if not source.exists():
            source.mkdir()
            for number in range(count):
                (source / str(number)).write_bytes(os.urandom(size))
        obscured = subprocess.run(
            [self.rclone, "obscure", PASSWORD], check=True, capture_output=True, text=True
        ).stdout.strip()
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.work),
            "RCLONE_CONFIG": "",
            "RCLONE_CONFIG_DAV_TYPE": "webdav",
            "RCLONE_CONFIG_DAV_URL": url,
            "RCLONE_CONFIG_DAV_USER": USER,
            "RCLONE_CONFIG_DAV_PASS": obscured,
            # lighttpd answers 415 to a PROPFIND whose body has no type, and rclone gives none.
            "RCLONE_CONFIG_DAV_HEADERS": "Content-Type,application/xml",
        }
        argv = [self.rclone, "copy", str(source), "dav:", "--transfers", str(CONNECTIONS)]
        begin = time.monotonic()
        subprocess.run([*argv, "--ignore-times", "--quiet"], check=True, env=environment)
        return time.monotonic() - begin


def main() -> None:
    """Prints the table."""
    puts, tools, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    rig = Rig(puts, tools, work)
    try:
        print(f"PUTs to lighttpd over {CONNECTIONS} connections, medians of {ROUNDS} rounds")
        print("size      delay    ours s   bare s  rclone s   rate by bare's   by rclone's")
        for size, count in SIZES:
            for delay in DELAYS:
                url = rig.url(delay)
                rounds = [
                    (
                        rig.ours("transport", url, size, count),
                        rig.ours("bare", url, size, count),
                        rig.by_rclone(url, size, count),
                    )
                    for _ in range(ROUNDS)
                ]
                ours, bare, rclone = (statistics.median(column) for column in zip(*rounds))
                by_bare = statistics.median(bare / ours for ours, bare, _ in rounds)
                verdict = "ok" if by_bare >= 0.9 and ours < rclone else "MISSED"
                print(
                    f"{size >> 10:5} KiB {delay:4} ms {ours:9.3f}{bare:9.3f}{rclone:10.3f}"
                    f"{by_bare:17.2f}{rclone / ours:14.2f}  {verdict}"
                )
    finally:
        rig.close()


if __name__ == "__main__":
    main()
