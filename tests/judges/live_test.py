"""The client's live tests on each judge, as on the machine's own redis-server.

    live_test.py PROGRAM...

A judge's folder is the first of PATH, so that the tests start its servers, clusters and sentinels.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import unittest

# The versions of tools/judges, as their programs report them.
JUDGES = {"redis-8.0": "v=8.0.", "valkey-8.0": "v=8.0.", "valkey-8.1": "v=8.1."}

# A program mostly waits for its servers.
AT_ONCE = 3

# The time limit for all tests of a program.
PATIENCE_SECONDS = 240


def run(program, path):
    """The exit code of a program, and what it printed."""
    environment = dict(os.environ, PATH=path + ":" + os.environ["PATH"])
    # The results of the program are an input of this test, not its result.
    environment.pop("XML_OUTPUT_FILE", None)
    environment.pop("TEST_PREMATURE_EXIT_FILE", None)
    process = subprocess.run([program], env=environment, timeout=PATIENCE_SECONDS, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
    return process.returncode, process.stdout.decode(errors="replace")


class LiveTest(unittest.TestCase):
    def expect_passes(self, judge):
        folder = os.path.join(os.environ.get("REDOUBLE_JUDGES", ""), judge)
        server = os.path.join(folder, "redis-server")
        if not os.access(server, os.X_OK):
            self.skipTest(f"{judge} is not there: run tools/judges")
        version = subprocess.run([server, "--version"], stdout=subprocess.PIPE, check=True)
        self.assertIn(JUDGES[judge], version.stdout.decode())
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(lambda one: run(one, folder), PROGRAMS))
        for program, (code, text) in zip(PROGRAMS, results):
            passed = re.search(r"\[  PASSED  \] (\d+) test", text)
            self.assertEqual(code, 0, f"{judge}: {program}\n{text[-8000:]}")
            self.assertTrue(passed and int(passed.group(1)) > 0, f"{program} has no tests: {text}")
            print(f"{judge}: {passed.group(1)} tests of {os.path.basename(program)}")

    def test_redis_8_0(self):
        self.expect_passes("redis-8.0")

    def test_valkey_8_0(self):
        self.expect_passes("valkey-8.0")

    def test_valkey_8_1(self):
        self.expect_passes("valkey-8.1")


if __name__ == "__main__":
    PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1], verbosity=2)
