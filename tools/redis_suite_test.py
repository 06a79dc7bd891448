"""What tools/redis_suite prints and returns, with tests of Redis that only say how they ended."""

import os
import shutil
import subprocess
import tempfile
import unittest

RUNTEST = """#!/bin/bash
if [[ "$1" == --list-tests ]]; then
  printf 'unit/one\\nunit/type/two\\n'
  exit
fi
echo "left out: $(cat left_out.txt)"
cat "$HOME/${2//\\//-}.out"
"""
PASSED = "[ok]: PING (3 ms)\n\\o/ All tests passed without errors!\n"
FAILED = """[ok]: PING (3 ms)
\x1b[0;31m[err]: a test of lists in tests/unit/one.tcl
Expected 1
[err]: ess exited abnormally
!!! WARNING The following tests failed:
*** [err]: a test of lists in tests/unit/one.tcl
"""


class RedisSuite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        for name in ("redis_suite", "common.sh"):
            os.makedirs(self.path("tools"), exist_ok=True)
            shutil.copy("tools/" + name, self.path("tools/" + name))
        for name in ("tclsh", "redis-cli", "redis-benchmark", "redis-check-aof", "redis-check-rdb", "redouble"):
            self.write("bin/" + name, "#!/bin/sh\n")
        sources = ".cache/redouble/redis_suite/redis-7.0.15/"
        self.write(sources + "runtest", RUNTEST)
        self.write(sources + "redis.conf", "")
        self.write(sources + "tests/a.tcl", "")
        self.write("unit-one.out", PASSED)
        self.write("unit-type-two.out", PASSED)
        self.list_of("")

    def path(self, name):
        return os.path.join(self.home, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), 0o700)

    def list_of(self, text):
        self.write("tests/redis_suite/differences.txt", text)

    def run_suite(self, *arguments):
        environment = dict(os.environ, HOME=self.home, PATH=self.path("bin") + ":/usr/bin:/bin")
        done = subprocess.run([self.path("tools/redis_suite"), "--program", self.path("bin/redouble"),
                               "--out", self.path("out"), *arguments],
                              env=environment, capture_output=True, text=True, check=False)
        return done

    def test_all_pass(self):
        done = self.run_suite("--jobs", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("== unit/type/two: 1 ok, 0 err\n", done.stdout)
        self.assertIn("\n2 passed, 0 failed, of which 0 are in the list; ", done.stdout)

    def test_names_what_failed_and_is_not_in_the_list(self):
        self.write("unit-one.out", FAILED)
        self.list_of("# why\nfails unit/one: (outside of a test)\nfails unit/type/two: a test that did not run\n")
        done = self.run_suite("unit/one")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("failed, and not in the list:\n  unit/one: a test of lists\n1 passed, 2 failed, of which 1 are ",
                      done.stdout)

    def test_knows_what_the_list_says(self):
        self.write("unit-one.out", FAILED)
        self.list_of("fails unit/one: (outside of a test)\nfails unit/one: a test of lists\n"
                     "left-out unit/one: a test of sets\n")
        done = self.run_suite()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.path("out/unit-one.log"), encoding="utf-8") as log:
            self.assertTrue(log.read().startswith("left out: a test of sets\n"))

    def test_names_what_the_list_says_and_passed(self):
        self.list_of("fails unit/one: PING\n")
        done = self.run_suite("unit/one")
        self.assertEqual(done.returncode, 1)
        self.assertIn("in the list, and did not fail:\n  unit/one: PING\n", done.stdout)

    def test_a_unit_that_does_not_end_has_failed(self):
        self.write("unit-one.out", "[ok]: PING (3 ms)\n[exception]: Executing test client: no\n")
        done = self.run_suite("unit/one")
        self.assertEqual(done.returncode, 1)
        self.assertIn("  unit/one: did not end\n", done.stdout)

    def test_refuses_what_it_cannot_run(self):
        for arguments, message in ((["unit/three"], "'unit/three' is unknown; the units are: unit/one unit/type/two"),
                                   (["--program", "/none"], "--program: /none cannot be run"),
                                   (["--jobs", "x"], "usage"), (["--what"], "usage")):
            done = self.run_suite(*arguments)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(message.lower(), done.stderr.lower())

    def test_says_that_the_sources_cannot_be_had(self):
        shutil.rmtree(self.path(".cache"))
        self.write("bin/apt-get", "#!/bin/sh\necho no network >&2\nexit 100\n")
        done = self.run_suite()
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertTrue(done.stderr.endswith(
            "no network\nredis_suite: the sources of Redis 7.0.15 cannot be had\n"), done.stderr)
        self.assertEqual(os.listdir(self.path(".cache/redouble/redis_suite")), [])

    def test_every_line_of_the_list_is_one_that_it_reads(self):
        with open("tests/redis_suite/differences.txt", encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
        self.assertGreater(len(lines), 50)
        for line in lines:
            self.assertRegex(line, r"^(fails|left-out) (unit|integration)/[a-z0-9/-]+: \S.*$")
        self.assertEqual(len(lines), len(set(lines)))


if __name__ == "__main__":
    unittest.main()
