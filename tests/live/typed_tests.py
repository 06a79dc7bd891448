"""Runs the systems' typed tests with the live backend on another kind of Redis."""

import concurrent.futures
import os
import re
import subprocess

RUN = re.compile(r"^\[ RUN      \] (\S+/Live\.\S+)")
END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+/Live\.[^\s,]+).*\(\d+ ms\)")
# Lines of the program, printed by backends/testing.
REFUSED = "[cluster refused] "
UNKNOWN = "[cluster unknown] "
KILLED = "[cluster killed] "
MOVED = re.compile(r"^\[cluster moved\] (\d+) slots with keys")

# A program mostly waits for its server, so more programs than processors may run at once.
AT_ONCE = 3

# The time limit for all tests of a program, and while slots move or masters die.
PATIENCE_SECONDS = 240
UNREST_PATIENCE_SECONDS = 3600


class Outcome:
    """The results of one program's tests."""

    def __init__(self, program):
        self.program = program
        self.system = program.split("core/")[1].split("/")[0]
        self.tests = {}  # OK, FAILED, SKIPPED or CRASHED, by name.
        self.refusals = {}  # The refusals printed by backends/testing/live_server.cc, by name.
        self.unknown = {}  # The commands whose outcome is unknown, by name.
        self.killed = set()  # The tests that have lost a master.
        self.moved = 0  # How many slots with keys have moved.
        self.text = ""

    def read(self, text):
        self.text += text
        running = None
        for line in text.splitlines():
            if start := RUN.match(line):
                running = start.group(1)
                self.tests[running] = "CRASHED"
            elif line.startswith(REFUSED):
                self.refusals.setdefault(running, []).append(line[len(REFUSED):])
            elif line.startswith(UNKNOWN):
                self.unknown.setdefault(running, []).append(line[len(UNKNOWN):])
            elif line.startswith(KILLED):
                self.killed.add(running)
            elif moved := MOVED.match(line):
                self.moved += int(moved.group(1))
            elif end := END.match(line):
                self.tests[end.group(2)] = end.group(1)


def has_layouts(program):
    """Whether the tests of a program run in both layouts of the keys (layout_backends.h)."""
    listing = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, check=True)
    return b"/MemoryCluster." in listing.stdout


def run(program, kind, layout="documented", unrest=""):
    """Runs all live tests. A test that crashes the process is recorded, and the others run again.

    `unrest` is what happens to a cluster meanwhile (backends/testing/cluster_unrest.h)."""
    outcome = Outcome(program)
    environment = dict(os.environ, REDOUBLE_LIVE_BACKEND=kind, REDOUBLE_LIVE_LAYOUT=layout,
                       REDOUBLE_LIVE_WHILE=unrest)
    patience = UNREST_PATIENCE_SECONDS if unrest else PATIENCE_SECONDS
    # The results of the program are an input of this test, not its result.
    environment.pop("XML_OUTPUT_FILE", None)
    while True:
        done = len(outcome.tests)
        leave_out = "-" + ":".join(outcome.tests) if outcome.tests else ""
        process = subprocess.run([program, "--gtest_filter=*/Live.*" + leave_out], env=environment,
                                 timeout=patience, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, check=False)
        outcome.read(process.stdout.decode(errors="replace"))
        if process.returncode in (0, 1) or len(outcome.tests) == done:
            return outcome


def run_all(programs, kind, layout="documented", unrest=""):
    """The outcomes of all programs, in their order."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda program: run(program, kind, layout, unrest), programs))
