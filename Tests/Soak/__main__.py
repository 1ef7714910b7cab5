"""Counts every line that writers and recorders log while rotations, kills and outages go on.

Exit code 1 when a line is missing from the store, is there twice, or a GAP line claims a loss.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

from count import Count
from disturbances import Outages, Recorders, Rotations, Uploads
from program import Program
from writers import Writers


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("program", type=Path, help="the tidemark to run")
    parser.add_argument("--seconds", type=float, default=600, help="how long writers write")
    parser.add_argument("--writers", type=int, default=12, help="logs that are written at once")
    parser.add_argument("--pause", type=float, default=10, help="seconds between two rotations")
    parser.add_argument("--seed", type=int, help="of what happens when; random by default")
    parser.add_argument("--kills", type=float, default=1 / 3, help="share of uploads to kill")
    parser.add_argument("--reaps", type=float, default=0.05, help="share of passes that reap")
    parser.add_argument("--keep", action="store_true", help="keep the folder")
    return parser.parse_args()


def soak(options: argparse.Namespace, folder: Path, seed: int) -> bool:
    """Runs everything, and says whether every line is in the store once."""
    program = Program(options.program.resolve(), folder)
    logs = folder / "logs"
    logs.mkdir()
    program.prepare(logs)
    writers = Writers(logs, options.writers)
    recorders = Recorders(program, seed)
    uploads = Uploads(program, seed, options.kills, options.reaps)
    rotations = Rotations(logs, folder, options.writers, seed, options.pause)
    around = [rotations, uploads, recorders, Outages(program, seed)]
    begun = time.monotonic()
    for part in [writers, *around]:
        part.start()
    time.sleep(options.seconds)
    for part in [*around, writers]:
        part.stop()
    duration = time.monotonic() - begun
    program.finish()
    count = Count(program.pull())
    written = writers.written | recorders.written
    print(
        f"soak: {sum(written.values())} lines, {rotations.number} rotations, "
        f"{uploads.number} passes, {uploads.killed} killed, {recorders.number} recorded sessions, "
        f"{duration:.0f} s, seed {seed}",
        flush=True,
    )
    return count.report(written)


def main() -> int:
    """Runs it in a folder of its own, which stays when something is wrong."""
    options = arguments()
    seed = options.seed if options.seed is not None else secrets.randbits(32)
    folder = Path(tempfile.mkdtemp(prefix="tidemark-soak-"))
    # logrotate refuses folders that others may write to.
    folder.chmod(0o755)
    print(f"soak: seed {seed}, {options.seconds:.0f} s, in {folder}", flush=True)
    is_right = soak(options, folder, seed)
    if is_right and not options.keep:
        shutil.rmtree(folder)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
