"""What Scripts/targets finds in packages that are wrong in one way."""

import importlib.machinery
import importlib.util
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def load(path):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader("targets", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("targets", loader))
    loader.exec_module(module)
    return module


targets = load(ROOT / "Scripts/targets")

MANIFEST = """
// Layer: below
.systemLibrary(name: "CLib"),
// Layer: middle
.target(name: "Left", dependencies: ["CLib"]),
.target(
  name: "Right", dependencies: ["CLib"]),
// Layer: above
.executableTarget(name: "tool", dependencies: ["Left", "Right", .product(name: "Other")]),
// Layer: tests
.target(name: "Support", path: "Tests/Support"),
.testTarget(name: "LeftTests", dependencies: ["Left", "Support", "tool"]),
"""


def by_name(name):
    return {"byName": [name, None]}


def product(name):
    return {"product": [name, name.lower(), None, None]}


class TargetsTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.manifest = MANIFEST
        self.rows = {
            "CLib": ("system", []),
            "Left": ("regular", ["CLib"]),
            "Right": ("regular", ["CLib"]),
            "tool": ("executable", ["Left", "Right", ("Other", "other")]),
            "Support": ("regular", []),
            "LeftTests": ("test", ["Left", "Support", "tool"]),
        }
        self.write("Sources/Left/A.swift", "import CLib\nimport Foundation\n")
        self.write("Sources/Right/A.swift", "public import CLib\n")
        self.write("Sources/tool/A.swift", "package import Left\nimport struct Other.Thing\n")
        self.write("Sources/tool/B.swift", "#if os(Linux)\n  import Right\n#endif\n")
        self.write("Tests/Support/A.swift", "import Foundation\n")
        self.write("Tests/LeftTests/A.swift", "@testable import Left\nimport Support\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def with_manifest(self, text):
        self.write("Package.swift", text)
        return self.root

    def package(self):
        self.with_manifest(self.manifest)
        rows = []
        for name, (kind, depends) in self.rows.items():
            row = {"name": name, "type": kind, "dependencies": []}
            if name == "Support":
                row["path"] = "Tests/Support"
            for one in depends:
                row["dependencies"].append(by_name(one) if isinstance(one, str) else product(one[0]))
            rows.append(row)
        return targets.Package({"targets": rows}, self.root)

    def problems(self):
        return list(self.package().problems())

    def test_aPackageInOrderHasNoProblems(self):
        self.assertEqual(self.problems(), [])

    def test_aTypeInMoreThanFourFilesIsFound(self):
        self.write("Sources/Left/Box.swift", "package struct Box {\n  enum Kind {}\n}\n")
        for name in "ABC":
            self.write(f"Sources/Right/Box+{name}.swift", "import CLib\nextension Box {}\n")
            # Each of these has a type of its own, or adds to one of the system.
            text = f"extension String {{}}\nstruct {name} {{\n  enum Kind {{}}\n}}\n"
            self.write(f"Sources/Left/{name}{name}.swift", text)
        self.assertEqual(self.problems(), [])
        self.write("Sources/tool/Box+More.swift", "extension Box: Sendable {}\n")
        self.assertEqual(self.problems(), ["type Box is in 5 files: 4 at most"])

    def test_anImportFromALaterLayerIsFound(self):
        self.rows["Left"] = ("regular", ["CLib", "tool"])
        self.write("Sources/Left/B.swift", "import tool\n")
        self.assertEqual(
            self.problems(), ["target Left depends on tool, which is in a later layer"]
        )

    def test_anImportFromTheSameLayerIsFound(self):
        self.rows["Right"] = ("regular", ["CLib", "Left"])
        self.write("Sources/Right/B.swift", "internal import Left\n")
        self.assertEqual(
            self.problems(), ["target Right depends on Left, which is in the same layer"]
        )

    def test_withoutLayersTheOrderOfTargetsCounts(self):
        self.manifest = MANIFEST.replace("// Layer: ", "// ")
        self.rows["Right"] = ("regular", ["CLib", "Left"])
        self.write("Sources/Right/B.swift", "import Left\n")
        self.assertEqual(self.problems(), [])
        self.rows["Left"] = ("regular", ["CLib", "Right"])
        self.write("Sources/Left/B.swift", "import Right\n")
        self.assertIn("target Left depends on Right, which is in a later layer", self.problems())

    def test_anUndeclaredImportIsFound(self):
        self.write("Sources/tool/C.swift", "@preconcurrency public import CLib\n")
        self.assertEqual(
            self.problems(),
            ["Sources/tool/C.swift imports CLib, which target tool does not declare"],
        )

    def test_anUndeclaredImportOfAnotherPackageIsFound(self):
        self.write("Tests/LeftTests/B.swift", "import Other\n")
        self.assertEqual(
            self.problems(),
            ["Tests/LeftTests/B.swift imports Other, which target LeftTests does not declare"],
        )

    def test_aDependencyThatNoFileImportsIsFound(self):
        self.write("Sources/Right/A.swift", '// import CLib\nlet text = """\nimport CLib\n"""\n')
        self.assertEqual(
            self.problems(), ["target Right declares CLib, which none of its files imports"]
        )

    def test_aProductThatDependsOnTestsIsFound(self):
        self.rows["tool"] = ("executable", ["Left", "Right", "Support", ("Other", "other")])
        self.write("Sources/tool/C.swift", "import Support\n")
        self.assertEqual(self.problems(), ["target tool depends on Support, which is for tests"])

    def test_foreignDependenciesOfTheEmbeddedLibraryAreFound(self):
        package = targets.Package(
            {
                "targets": [
                    {"name": "Left", "type": "regular", "dependencies": [product("Crypto")]},
                    {"name": "SessionLog", "type": "regular", "dependencies": [by_name("Left")]},
                    {"name": "Right", "type": "regular", "dependencies": [product("GRDB")]},
                ]
            },
            self.with_manifest('.target(name: "Left")\n.target(name: "SessionLog")\n'
                               '.target(name: "Right")\n'),
        )
        self.assertEqual(
            list(package.foreign_dependencies()),
            ["an embedded library depends on Crypto, through target Left"],
        )

    def test_foreignNamesAreThoseOfLibraries(self):
        for name in ["ZSTD_isError", "curl_easy_init", "sqlite3_step", "inflate", "$s6Crypto6SHA256VN"]:
            self.assertTrue(targets.FOREIGN_SYMBOL.fullmatch(name), name)
        for name in ["malloc", "$s5Delta4LinkV5startACvau", "$s10SessionLog4HomeV", "curly"]:
            self.assertFalse(targets.FOREIGN_SYMBOL.fullmatch(name), name)
        self.assertTrue(targets.FOREIGN_LIBRARY.search(b"\0-lzstd\0"))
        self.assertFalse(targets.FOREIGN_LIBRARY.search(b"\0-lzoo\0-lFoundation\0"))

    def test_theDrawingLeavesOutWhatOthersImply(self):
        self.rows["tool"] = ("executable", ["CLib", "Left", "Right"])
        self.assertEqual(
            self.package().drawing().splitlines()[2:-1],
            ["  tool --> Left", "  tool --> Right", "  Right --> CLib", "  Left --> CLib"],
        )

    def test_sizesCountEachFileOnce(self):
        rows = self.package().sizes().splitlines()
        self.assertIn("     2       5  tool", rows)
        self.assertIn("     3  Sources/tool/B.swift", rows)


if __name__ == "__main__":
    unittest.main()
