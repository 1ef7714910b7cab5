"""Counts the lines that the store has."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

LINE = re.compile(rb"line=(\w+):(\d+) ")


class Count:
    """The lines in a mirror, by writer and number."""

    def __init__(self, mirror: Path) -> None:
        self._found: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self._gaps: list[str] = []
        self._sessions: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        for path in sorted(mirror.rglob("*.log")):
            self._add(path)

    def _add(self, path: Path) -> None:
        seen: set[str] = set()
        for line in path.read_bytes().split(b"\n"):
            if line.startswith(b"[GAP "):
                self._gaps.append(f"{path.name}: {line.decode(errors='replace')}")
            elif match := LINE.search(line):
                name, number = match[1].decode(), int(match[2])
                self._found[name][number] += 1
                if name not in seen or self._found[name][number] > 1:
                    self._sessions[name, number].append(path.name)
                seen.add(name)

    def report(self, written: dict[str, int]) -> bool:
        """Prints what is wrong, and says whether nothing is."""
        missing, twice = 0, 0
        for name, count in sorted(written.items()):
            found = self._found[name]
            lost = [number for number in range(count) if not found[number]]
            more = [number for number, times in sorted(found.items()) if times > 1]
            (missing, twice) = (missing + len(lost), twice + len(more))
            for what, numbers in (("missing", lost), ("twice", more)):
                for first, last in runs(numbers):
                    where = " ".join(self._sessions[name, first][:4])
                    print(f"soak: {what}: {name} {first}...{last} {where}")
        for gap in self._gaps:
            print(f"soak: {gap}")
        print(f"soak: {missing} lines missing, {twice} twice, {len(self._gaps)} GAP lines")
        return missing == twice == len(self._gaps) == 0


def runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Stretches of numbers that follow each other."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
