"""Compiles the programs of the guides from what the pages show, as a reader does who copies them.

The blocks of one file make one file. It lies in a folder of its own, beside those of the other guides, and sees the
public headers alone. Nothing is linked: the tests beside this one run the same code.

Reads the tree that the WORKSPACE file of the runfiles is in.
"""

import concurrent.futures
import glob
import os
import subprocess
import sys
import unittest

from readme_test import EXAMPLES

ROOT = os.path.dirname(os.path.realpath("WORKSPACE"))
FOLDER = os.environ["TEST_TMPDIR"]


def shown_files():
    """The C++ files of the guides by name: the text of their blocks, in the order of the pages."""
    files = {}
    for page in sorted(glob.glob("docs/guides/*.md")):
        with open(page, encoding="utf-8") as file:
            for example in EXAMPLES.finditer(file.read()):
                if example["file"].endswith((".h", ".cc")):
                    name = os.path.basename(example["file"])
                    files[name] = files.get(name, "") + example["code"]
    return files


def compile_alone(path, compiler):
    """What the compiler says of a file; nothing if it is right."""
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}/include", f"-I{FOLDER}/include", path]
    return subprocess.run(command, stderr=subprocess.PIPE, check=False, text=True).stderr


class GuidesTest(unittest.TestCase):
    def test_the_programs_of_the_guides_compile_as_shown(self):
        os.makedirs(f"{FOLDER}/include", exist_ok=True)
        os.symlink(ROOT, f"{FOLDER}/include/redouble")
        files = shown_files()
        for name, text in files.items():
            with open(f"{FOLDER}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        programs = sorted(f"{FOLDER}/{name}" for name in files if name.endswith(".cc"))
        self.assertGreaterEqual(len(programs), 4)
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for path, errors in zip(programs, pool.map(lambda path: compile_alone(path, sys.argv[1]), programs)):
                with self.subTest(os.path.basename(path)):
                    self.assertFalse(errors, errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
