"""What the documentation of the libraries shows stands in Tests/Snippets, which is compiled."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```swift\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def stripped(text):
    """The lines of a text without their indentation, and without empty ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


class Snippets(unittest.TestCase):
    def test_each_block_of_the_catalogues_is_compiled(self):
        sources = ["\n".join(stripped(file.read_text())) for file in (ROOT / "Tests/Snippets").glob("*.swift")]
        pages = sorted(ROOT.glob("Sources/Tidemark*/*.docc/*.md"))
        blocks = [(page, block) for page in pages for block in BLOCK.findall(page.read_text())]
        self.assertGreater(len(blocks), 10)
        for page, block in blocks:
            found = any("\n".join(stripped(block)) in source for source in sources)
            self.assertTrue(found, f"{page.name}: no file of Tests/Snippets has\n{block}")


if __name__ == "__main__":
    unittest.main()
