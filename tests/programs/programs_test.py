"""`redouble explore` with programs in Python and their client library."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

REDOUBLE = os.path.abspath(sys.argv.pop(1))
PYTHON = "/usr/bin/python3"


def explore(*arguments):
    return subprocess.run([REDOUBLE, "explore", *arguments], capture_output=True, text=True, check=False)


def two(script):
    return ["--program", f"{PYTHON} {script}"] * 2


class ProgramsTest(unittest.TestCase):
    def test_a_lost_update_is_found_and_repeated_in_another_process(self):
        found = explore(*two("tests/programs/add_one.py"))
        self.assertEqual(1, found.returncode, found.stderr)
        self.assertIn('  program 1  ["GET","n"] -> null\n'
                      '  program 2  ["GET","n"] -> null\n'
                      '  program 2  ["SET","n","1"] -> {"status":"OK"}\n'
                      '  program 1  ["SET","n","1"] -> {"status":"OK"}\n', found.stdout)
        trace = re.search(r"trace (\w+)", found.stdout)[1]
        schedule = re.search(r"--schedule (\S+)", found.stdout)[1]
        again = explore(*two("tests/programs/add_one.py"), "--schedule", schedule)
        self.assertEqual(1, again.returncode, again.stderr)
        self.assertIn(f"trace {trace}\n", again.stdout)

    def test_the_corrected_program_has_no_violation_in_any_order(self):
        found = explore(*two("tests/programs/add_one_watch.py"))
        self.assertEqual(0, found.returncode, found.stdout + found.stderr)
        self.assertRegex(found.stdout, r"NONE  programs  \d+ schedules, complete\n")

    def test_workers_that_block_wait_in_virtual_time(self):
        world = "tests/programs/workers.world.json"
        self.assertEqual(0, explore(world, "--schedule", "1:").returncode)
        found = explore(world, "--schedule", "1:0,0,0,0,0,1")
        self.assertEqual(1, found.returncode, found.stderr)
        self.assertIn("  the mail is sent once: LLEN gives 2\n", found.stdout)
        hardened = explore(world, "--hardened")
        self.assertEqual(0, hardened.returncode, hardened.stdout + hardened.stderr)
        self.assertIn("schedules, complete\n", hardened.stdout)

    def test_programs_die_with_an_explorer_that_is_killed(self):
        with tempfile.NamedTemporaryFile(mode="r", suffix=".pid") as file:
            sleeper = f"import os, time; open('{file.name}', 'w').write(str(os.getpid())); time.sleep(1000)"
            with subprocess.Popen([REDOUBLE, "explore", "--program", f'{PYTHON} -c "{sleeper}"']) as explorer:
                while not file.read():
                    file.seek(0)
                    time.sleep(0.01)
                explorer.send_signal(signal.SIGKILL)
            file.seek(0)
            pid = int(file.read())
            while not self.has_ended(pid):
                time.sleep(0.01)

    @staticmethod
    def has_ended(pid):
        """Whether a process is gone, or has ended and nobody has waited for it."""
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):  # The second when it goes during the read.
            return True


if __name__ == "__main__":
    unittest.main()
