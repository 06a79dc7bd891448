"""Runs the systems' typed tests with the live backend on another kind of Redis."""

import concurrent.futures
import os
import re
import subprocess
import sys
import threading
import time

RUN = re.compile(r"^\[ RUN      \] (\S+/Live\.\S+)")
END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+/Live\.[^\s,]+).*\(\d+ ms\)")
# Lines of the program, printed by backends/testing.
REFUSED = "[cluster refused] "
UNKNOWN = "[cluster unknown] "
KILLED = "[cluster killed] "
MOVED = re.compile(r"^\[cluster moved\] (\d+) slots with keys")

# A program mostly waits for its server, so more programs than processors may run at once.
AT_ONCE = 3

# A program that prints nothing for this time is killed: its test waits for something that does not
# happen. The test counts as crashed.
PATIENCE_SECONDS = 240


def system_of(program):
    """The name of the system whose tests a program has."""
    return program.split("core/")[1].split("/")[0]


class Outcome:
    """The results of one program's tests."""

    def __init__(self, program):
        self.program = program
        self.system = system_of(program)
        self.tests = {}  # OK, FAILED, SKIPPED or CRASHED, by name.
        self.refusals = {}  # The refusals printed by backends/testing/live_server.cc, by name.
        self.unknown = {}  # The commands whose outcome is unknown, by name.
        self.killed = {}  # When a test lost its master, by name (MasterKiller).
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
                self.killed[running] = line[len(KILLED):]
            elif moved := MOVED.match(line):
                self.moved += int(moved.group(1))
            elif end := END.match(line):
                self.tests[end.group(2)] = end.group(1)


def has_layouts(program):
    """Whether the tests of a program run in both layouts of the keys (layout_backends.h)."""
    listing = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, check=True)
    return b"/MemoryCluster." in listing.stdout


def output_of(command, environment):
    """The output and the exit code of a program, which is killed if it is silent for too long."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        lines = []
        while not lines or lines[-1]:
            watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
            watchdog.start()
            lines.append(process.stdout.readline())
            watchdog.cancel()
    return b"".join(lines).decode(errors="replace"), process.returncode


def run(program, kind, layout="documented", unrest=""):
    """Runs all live tests. A test that crashes the process is recorded, and the others run again.

    `unrest` is what happens to a cluster meanwhile (backends/testing/cluster_unrest.h)."""
    outcome = Outcome(program)
    start = time.monotonic()
    environment = dict(os.environ, REDOUBLE_LIVE_BACKEND=kind, REDOUBLE_LIVE_LAYOUT=layout,
                       REDOUBLE_LIVE_WHILE=unrest)
    # The results of the program are an input of this test, not its result. Below `bazel run`, a
    # test of round trips would write what it counts on the cluster into the page, and pass.
    for name in ("XML_OUTPUT_FILE", "BUILD_WORKSPACE_DIRECTORY"):
        environment.pop(name, None)
    while True:
        done = len(outcome.tests)
        leave_out = "-" + ":".join(outcome.tests) if outcome.tests else ""
        text, code = output_of([program, "--gtest_filter=*/Live.*" + leave_out], environment)
        outcome.read(text)
        if code in (0, 1) or len(outcome.tests) == done:
            break
    passed = list(outcome.tests.values()).count("OK")
    print(f"{program}: {passed} of {len(outcome.tests)} pass, {time.monotonic() - start:.0f} s",
          file=sys.stderr)
    return outcome


def run_all(programs, kind, layout="documented", unrest=""):
    """The outcomes of all programs, in their order."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda program: run(program, kind, layout, unrest), programs))
