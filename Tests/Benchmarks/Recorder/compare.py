"""Measures what recording costs a program: `tidemark run` beside tee and script.

Run as `compare.py TIDEMARK WORK`, by `Scripts/bench --recorder`. At full speed a file is printed through
each of them; at a pace a program prints as much over half a minute, alone and recorded. Each figure is
the median of three rounds that alternate.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 3
LENGTH = 100_000_000
SECONDS = 30

PACED = """
import os, sys, time
data = open(sys.argv[1], "rb").read()
steps = int(sys.argv[2]) * 100
piece = -(-len(data) // steps)
start = time.monotonic()
for step in range(steps):
    rest = memoryview(data)[step * piece:(step + 1) * piece]
    while rest:
        rest = rest[os.write(1, rest):]
    time.sleep(max(0.0, start + (step + 1) / 100 - time.monotonic()))
"""


def write_log(path: Path) -> None:
    """Writes lines such as programs print."""
    chooser = random.Random(1)
    with path.open("w") as file:
        written = number = 0
        while written < LENGTH:
            level = chooser.choice(["INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"])
            number += 1
            written += file.write(
                f"[{level}] worker {chooser.randrange(16)}: request {number} for"
                f" /items/{chooser.randrange(10**6)} took {chooser.randrange(900)} ms\n"
            )


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Runs a command; its wall and processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with open(os.devnull, "r+b") as nothing:
        subprocess.run(command, check=True, stdin=nothing, stdout=nothing, env=environment)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, spent


def median(results: list[tuple[float, float]]) -> tuple[float, float]:
    """The median of each figure."""
    return statistics.median(r[0] for r in results), statistics.median(r[1] for r in results)


def main() -> None:
    program, work = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    log, copy = work / "log", work / "copy"
    write_log(log)
    environment = dict(os.environ, TIDEMARK_HOME=str(work / "home"))
    record = [program, "run", "--no-upload"]
    ways = {
        "alone": ["cat", str(log)],
        "tee": ["sh", "-c", f"cat '{log}' | tee '{copy}'"],
        "script": ["script", "-q", "-e", "-c", f"cat '{log}'", str(copy)],
        "tidemark run": [*record, "--", "cat", str(log)],
        "tidemark run --as-is": [*record, "--as-is", "--", "cat", str(log)],
        "tidemark run --pty": [*record, "--pty", "--", "cat", str(log)],
    }
    if not shutil.which("script"):
        del ways["script"]
    figures: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, command in ways.items():
            figures[way].append(run(command, environment))
            shutil.rmtree(work / "home", ignore_errors=True)
    print(f"{LENGTH / 1e6:.0f} MB at full speed        wall s   CPU s")
    for way, results in figures.items():
        wall, spent = median(results)
        print(f"  {way:26} {wall:8.2f} {spent:7.2f}")
    ours = median(figures["tidemark run"])[0]
    for peer in ("tee", "script"):
        if peer in figures:
            print(f"  tidemark run / {peer}: {ours / median(figures[peer])[0]:.2f}")

    paced = [sys.executable, "-c", PACED, str(log), str(SECONDS)]
    walls: dict[str, list[tuple[float, float]]] = {"alone": [], "recorded": []}
    for _ in range(ROUNDS):
        walls["alone"].append(run(paced, environment))
        walls["recorded"].append(run([*record, "--", *paced], environment))
        shutil.rmtree(work / "home", ignore_errors=True)
    alone, recorded = median(walls["alone"]), median(walls["recorded"])
    print(f"the same over {SECONDS} s: alone {alone[0]:.2f} s, recorded {recorded[0]:.2f} s")
    print(f"  wall {(recorded[0] / alone[0] - 1) * 100:+.2f} % (3 % at most)")
    shutil.rmtree(work)


main()
