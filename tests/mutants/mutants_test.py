"""Each patch of this folder names a system that has a storm, and applies to the tree as it is."""

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


class Mutants(unittest.TestCase):
    def test_there_are_twenty_or_more(self):
        self.assertGreaterEqual(len(PATCHES), 20)

    def test_each_names_its_system_and_its_fault(self):
        for patch in PATCHES:
            with self.subTest(os.path.basename(patch)), open(patch) as file:
                title = re.fullmatch(r"(\w+): (\S.{10,100})", file.readline().rstrip("\n"))
                self.assertIsNotNone(title)
                self.assertIn(title[1], SYSTEMS)
                self.assertTrue(os.path.basename(patch).startswith(title[1] + "_"))
                paths = re.findall(r"^--- a/(.*)$", file.read(), re.MULTILINE)
                self.assertEqual(len(paths), 1, "a fault is in one file")
                self.assertTrue(paths[0].startswith(f"core/{title[1]}/"))

    def test_each_applies(self):
        for patch in PATCHES:
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
