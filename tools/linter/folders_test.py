"""Examples for the rules about the tree as a whole."""

import unittest

from folders import MAX_FOLDER_FILES
from one_home import BuildFiles
from tree_for_test import TreeForTest, tree_findings


def including(*paths):
    return "".join(f'#include "redouble/{path}"\n' for path in paths)


CYCLE = {
    "sim/world/a.h": including("sim/fault/b.h"),
    "sim/fault/b.h": including("sim/check/c.h"),
    "sim/check/c.cc": "\n" + including("sim/world/a.h"),
    "sim/check/c.h": "",
}

SDK = including("core/relayna/a.h", "core/studio/b.h") + """
class Sdk {
 public:
  base::Task<int> Read(
      int key);

 private:
  base::Task<int> Own();
};
"""

# rule: [(bad files, (path, line) of the finding, part of the message, good files)]
TREE_EXAMPLES = {
    "folder-cycle": [
        (CYCLE, ("sim/check/c.cc", 2), "sim/fault/b.h:1 includes sim/check/c.h",
         {**CYCLE, "sim/check/c.cc": including("sim/check/c.h"), "sim/check/c_test.cc": including("sim/world/a.h"),
          "sim/check/c_for_test.h": including("sim/world/a.h"), "sim/check/testing/d.h": including("sim/world/a.h")}),
    ],
    "round-trips": [
        ({"docs/systems/relayna.md": "### 4.1 Round trips\n\n| read | `Sdk::Read` | 1 |\n",
          "core/relayna/sdk/sdk.h": SDK,
          "core/relayna/a.h": "class A {\n public:\n  static base::Task<void> Write(int key);\n};\n"},
         ("docs/systems/relayna.md", 1), "no row with `A::Write`",
         {"docs/systems/relayna.md": "### 4.1 Round trips\n\n| read | `Sdk::Read` | 1 |\n\nNo row: `A::Write`.\n",
          "core/relayna/sdk/sdk.h": SDK,
          "core/relayna/a.h": "class A {\n public:\n  base::Task<void> Write(\n      int key);\n  base::Task<int> Put(\n"
                              "      int key) override;\n};\n"}),
    ],
    "folder-size": [
        ({f"core/{n}.cc": "" for n in range(MAX_FOLDER_FILES + 1)}, ("core", 1), f"{MAX_FOLDER_FILES + 1} source files",
         {**{f"core/{n}.cc": "" for n in range(MAX_FOLDER_FILES)}, "core/x.json": "", "core/x.txt": "", "core/a/a.h": ""}),
    ],
    "dead-file": [
        ({"core/a.h": "", "core/BUILD.bazel": 'x(hdrs = ["a.h"])'}, ("core/a.h", 1), "no file includes it",
         {"core/a.h": "", "core/a.cc": including("core/a.h"), "core/BUILD.bazel": 'x(hdrs = ["a.h"], srcs = ["a.cc"])'}),
        ({"include/redouble/a.h": "", "BUILD.bazel": ""}, ("include/redouble/a.h", 1), "no BUILD file mentions it",
         {"include/redouble/a.h": "", "BUILD.bazel": 'x(hdrs = ["include/redouble/a.h"])'}),
        ({"core/b/a.cc": "", "core/BUILD.bazel": 'x(srcs = ["a.cc"])'}, ("core/b/a.cc", 1), "no BUILD file mentions it",
         {"core/b/a.cc": "", "core/BUILD.bazel": 'x(srcs = ["b/a.cc"])'}),
        ({"core/a.lua": "", "core/BUILD.bazel": 'x(srcs = glob(["*.json"], exclude = ["*.lua"]))'}, ("core/a.lua", 1), "",
         {"core/a.lua": "", "core/b/c/a.json": "", "core/BUILD.bazel": 'x(srcs = glob(["*.lua", "**/*.json"]))'}),
        ({"docs/a.md": "[a](a.md)", "README.md": "docs/a.md"}, ("docs/a.md", 1), "no page links to it",
         {"docs/a.md": "", "README.md": "[a](docs/a.md) [b](tests/b)", "tests/b/README.md": ""}),
        ({"tools/x.bzl": "", "BUILD.bazel": ""}, ("tools/x.bzl", 1), "no BUILD file loads it",
         {"tools/x.bzl": "", "BUILD.bazel": 'load("//tools:x.bzl", "x")'}),
        ({"core/a.cc": "", "core/x.bzl": "", "core/BUILD.bazel": 'load("//core:x.bzl", "x")'}, ("core/a.cc", 1), "",
         {"core/a.cc": "", "core/x.bzl": 'x(srcs = ["a.cc"])', "core/BUILD.bazel": 'load("//core:x.bzl", "x")'}),
        ({"bench/plot.py": "", "README.md": ""}, ("bench/plot.py", 1), "no BUILD file mentions it",
         {"bench/plot.py": "", "README.md": "Run `bench/plot.py`."}),
    ],
    "undocumented-name": [
        ({"include/redouble/a.h": including("core/a.h"), "core/a.h": "namespace a {\nint F();\n}\n"}, ("core/a.h", 2), "F",
         {"include/redouble/a.h": including("core/a.h"), "core/a.h": "namespace a {\n// Returns 1.\nint F();\n}\n"}),
    ],
    "one-home": [
        ({"core/a.cc": 'F("ERR no such key");', "sim/b.cc": '\nF("ERR no such key");'}, ("sim/b.cc", 2), "core/a.cc:1",
         {"core/a.cc": 'F("ERR no such key");', "sim/b_test.cc": 'F("ERR no such key");', "sim/b.cc": 'F("no such key");'}),
    ],
}


class Folders(unittest.TestCase):
    def test_a_cycle_names_its_folders_and_one_include_of_each_edge(self):
        text = tree_findings(CYCLE, "folder-cycle")[0][2]
        self.assertIn("sim/check -> sim/world -> sim/fault -> sim/check", text)
        self.assertIn("sim/check/c.cc:2 includes sim/world/a.h", text)
        self.assertIn("sim/world/a.h:1 includes sim/fault/b.h", text)

    def test_two_cycles_are_two_findings(self):
        other = {"core/a/a.h": including("core/b/b.h"), "core/b/b.h": including("core/a/a.h")}
        self.assertEqual(2, len(tree_findings({**CYCLE, **other}, "folder-cycle")))

    def test_an_exemption_of_a_path_that_is_gone_is_found(self):
        self.assertEqual([], tree_findings({"core/a.h": ""}, "stale-exemption"))
        found = tree_findings({"tools/linter/rules.py": "", "core/base/time/system_clock.h": ""}, "stale-exemption")
        self.assertIn("no file begins with backends/redis/net/", " ".join(text for _, _, text in found))
        self.assertNotIn("system_clock", " ".join(text for _, _, text in found))

    def test_a_build_file_names_the_files_of_folders_without_one(self):
        built = BuildFiles(TreeForTest({"a/BUILD.bazel": 'x(srcs = ["b/c.cc", "d"])', "a/d.cc": "", "a/e/BUILD.bazel": ""}))
        self.assertTrue(built.mentions("a/b/c.cc"))
        self.assertTrue(built.mentions("a/d.cc"))  # Written as name + ".cc".
        self.assertFalse(built.mentions("a/e/d.cc"))
        self.assertFalse(built.mentions("b/c.cc"))


if __name__ == "__main__":
    unittest.main()
