"""Attached logs must change as they do in earnest, and a bar must say what it means."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Peers"))

from bars import bars  # noqa: E402
from corpus import Corpus, CorpusPlan  # noqa: E402
from day import Day  # noqa: E402
from measuring import Measurement  # noqa: E402
from peers import RcloneS3, Restic, Rsync  # noqa: E402
from result import Result  # noqa: E402
from rewrites import prune, redact, rotate  # noqa: E402
from scenarios import QUICK  # noqa: E402
from tidemark import Tidemark  # noqa: E402
from tool import Tool  # noqa: E402

PLAN = CorpusPlan("test", (300_000,), active=1, is_attached=True)
SCENARIOS = {scenario.key: scenario for scenario in QUICK.scenarios(1)}


class RewritesTest(unittest.TestCase):
    """Each takes the log's place as another file and changes what it should."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.corpus = Corpus.write(PLAN, Path(folder.name), 7)
        self.path = self.corpus.folder / "app.log"
        self.before = self.path.read_bytes()
        self.number = self.path.stat().st_ino

    def test_prune_leaves_whole_lines_in_a_new_file(self) -> None:
        prune(self.corpus, 100_000)
        after = self.path.read_bytes()
        self.assertTrue(self.before.endswith(b"\n" + after))
        self.assertTrue(100_000 <= len(self.before) - len(after) < 100_500)
        self.assertNotEqual(self.path.stat().st_ino, self.number)
        self.assertEqual(list(self.corpus.folder.iterdir()), [self.path])

    def test_redact_keeps_every_length(self) -> None:
        redact(self.corpus, 50)
        lines = zip(self.before.split(b"\n"), self.path.read_bytes().split(b"\n"), strict=True)
        changed = [(old, new) for old, new in lines if old != new]
        self.assertEqual(len(changed), 50)
        for old, new in changed:
            self.assertEqual(len(old), len(new))
            self.assertEqual(set(new.rpartition(b" ")[2]), set(b"*"))
        self.assertNotEqual(self.path.stat().st_ino, self.number)
        self.assertEqual(list(self.corpus.folder.iterdir()), [self.path])

    def test_rotate_renames_and_only_the_new_log_grows(self) -> None:
        rotate(self.corpus, 5000)
        self.corpus.grow(1000)
        old, new = self.corpus.sessions
        self.assertEqual(old.path, self.path.with_name("app.log.1"))
        self.assertEqual(old.path.read_bytes(), self.before)
        self.assertEqual(old.path.stat().st_ino, self.number)
        self.assertEqual(new.path, self.path)
        self.assertTrue(6000 <= new.length < 7000)


class BarTest(unittest.TestCase):
    """Figures are compared with the right peer's, and a day's with its ordinary ticks."""

    @staticmethod
    def _result(key: str, tool: Tool, latency: int = 0, **figures: float) -> Result:
        measured = Measurement(
            wall=figures.get("wall", 1), cpu=1, memory=0, up=int(figures.get("up", 1))
        )
        start = Measurement(wall=0, cpu=0, memory=0)
        day = None
        if key == "DAY":
            ticks = [Measurement(1, 1, 0, up=up, put=up // 2) for up in (100, 700, 100, 100)]
            day = Day(ticks, [Measurement(1, 1, 0, up=600, put=500)], 90, 3, 500)
        return Result(SCENARIOS[key], latency, tool, (measured,), (start,), day=day)

    def _bars(self, *results: Result) -> dict[str, tuple[float, bool]]:
        return {bar.name: (bar.value, bar.is_met) for bar in bars(list(results))}

    def test_peers_are_those_of_the_server_and_the_latency(self) -> None:
        own = [Tidemark("", "", server) for server in ("s3", "webdav")]
        wide = Tidemark("", "", "s3", transfers=16)
        found = self._bars(
            self._result("A", own[0], wall=2),
            self._result("A", own[1], wall=2),
            self._result("A", wide, 30, wall=2),
            self._result("A", RcloneS3("", ""), up=10),
            self._result("A", Restic("", ""), wall=5),
            self._result("A", Restic("", ""), 30, wall=5),
        )
        self.assertEqual(found["A (20) s3 0 ms, wall by restic's"], (0.4, True))
        self.assertEqual(found["A (20) s3 0 ms, share of rclone's bytes up"], (0.1, True))
        for name in found:
            self.assertFalse("webdav" in name and "'s bytes up" in name, name)
            self.assertFalse("30 ms" in name and "wall by restic's" in name, name)

    def test_rsync_is_compared_with_on_every_server(self) -> None:
        for server in ("s3", "webdav"):
            found = self._bars(
                self._result("E", Tidemark("", "", server), wall=3),
                self._result("E", Rsync("", ""), wall=2),
            )
            self.assertEqual(found[f"E (17 MB) {server} 0 ms, wall by rsync's"], (1.5, False))

    def test_what_a_day_sends_again(self) -> None:
        found = self._bars(self._result("DAY", Tidemark("", "", "s3")))
        where = "DAY (200) s3 0 ms, "
        # 1600 up of which 4 × 100 are the ticks' own, by 500.
        self.assertEqual(found[where + "bytes up again by the log"], (2.4, False))
        self.assertEqual(found[where + "objects put again by the log"], (1.6, True))
        self.assertEqual(found[where + "objects after any tick"], (90, True))
        self.assertEqual(found[where + "objects after the seal"], (3, False))


if __name__ == "__main__":
    unittest.main()
