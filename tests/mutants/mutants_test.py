"""Each patch names a system that has a storm, or the explorer, and applies to the tree as it is."""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

# Where the tree is: this runs outside the sandbox.
ROOT = os.path.dirname(os.path.realpath("WORKSPACE"))
SYSTEMS = {os.path.basename(os.path.dirname(path)) for path in glob.glob(ROOT + "/sim/storm/*/storm_test.cc")}
PATCHES = sorted(glob.glob(ROOT + "/tests/mutants/*.patch"))
EXPLORER_PATCHES = sorted(glob.glob(ROOT + "/tests/mutants/explorer/*.patch"))


class Mutants(unittest.TestCase):
    def test_there_are_enough(self):
        self.assertGreaterEqual(len(PATCHES), 30)
        self.assertEqual({os.path.basename(patch).split("_")[0] for patch in PATCHES}, SYSTEMS)
        self.assertGreaterEqual(len(EXPLORER_PATCHES), 26)

    def test_each_names_its_system_and_its_fault(self):
        for patch in PATCHES:
            with self.subTest(os.path.basename(patch)), open(patch) as file:
                system, path = self.read_head(file)
                self.assertIn(system, SYSTEMS)
                self.assertTrue(os.path.basename(patch).startswith(system + "_"))
                self.assertTrue(path.startswith(f"core/{system}/"))

    def test_those_of_the_explorer_change_what_decides_which_schedules_run(self):
        for patch in EXPLORER_PATCHES:
            with self.subTest(os.path.basename(patch)), open(patch) as file:
                system, path = self.read_head(file)
                self.assertEqual(system, "explorer")
                self.assertRegex(path, "^sim/(decision|explore|explore/parallel|world)/[a-z_]+[.](h|cc)$")

    def read_head(self, file):
        """What the fault is planted in, and the file that it changes."""
        title = re.fullmatch(r"(\w+): (\S.{10,100})", file.readline().rstrip("\n"))
        self.assertIsNotNone(title)
        paths = re.findall(r"^--- a/(.*)$", file.read(), re.MULTILINE)
        self.assertEqual(len(paths), 1, "a fault is in one file")
        return title[1], paths[0]

    def test_each_applies(self):
        for patch in PATCHES + EXPLORER_PATCHES:
            with self.subTest(os.path.basename(patch)), tempfile.TemporaryDirectory() as folder:
                with open(patch) as file:
                    path = re.search(r"^--- a/(.*)$", file.read(), re.MULTILINE)[1]
                copy = os.path.join(folder, path)
                os.makedirs(os.path.dirname(copy))
                shutil.copyfile(os.path.join(ROOT, path), copy)
                # Not the repository around the folder, if there is one.
                environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
                applied = subprocess.run(
                    ["git", "apply", "--check", patch], cwd=folder, env=environment, capture_output=True, text=True
                )
                self.assertEqual(applied.returncode, 0, applied.stderr)


if __name__ == "__main__":
    unittest.main()
