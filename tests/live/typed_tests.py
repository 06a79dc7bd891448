"""Runs the live halves of the systems' typed tests on another kind of Redis."""

import concurrent.futures
import os
import re
import subprocess

RUN = re.compile(r"^\[ RUN      \] (\S+/Live\.\S+)")
END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+/Live\.[^\s,]+).*\(\d+ ms\)")
REFUSED = "[cluster refused] "

# Their servers and they wait for each other.
AT_ONCE = 3

# Of a program's tests altogether.
PATIENCE_SECONDS = 240


class Outcome:
    """What one program's tests did."""

    def __init__(self, program):
        self.program = program
        self.system = program.split("core/")[1].split("/")[0]
        self.tests = {}  # By name: OK, FAILED, SKIPPED or CRASHED.
        self.refusals = {}  # By name: what tests/support/backends.cc printed of each refusal.
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
            elif end := END.match(line):
                self.tests[end.group(2)] = end.group(1)


def run(program, kind):
    """Runs all live tests; one that ends the process is noted, and the others are run again."""
    outcome = Outcome(program)
    environment = dict(os.environ, REDOUBLE_LIVE_BACKEND=kind)
    while True:
        done = len(outcome.tests)
        leave_out = "-" + ":".join(outcome.tests) if outcome.tests else ""
        process = subprocess.run([program, "--gtest_filter=*/Live.*" + leave_out], env=environment,
                                 timeout=PATIENCE_SECONDS, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, check=False)
        outcome.read(process.stdout.decode(errors="replace"))
        if process.returncode in (0, 1) or len(outcome.tests) == done:
            return outcome


def run_all(programs, kind):
    """The outcomes of all programs, in their order."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda program: run(program, kind), programs))
