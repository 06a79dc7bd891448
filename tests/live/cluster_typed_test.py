"""The systems' typed tests on a real Redis Cluster, compared with docs/cluster.md.

The tests run with the documented keys and, where a system has one, in the cluster layout. A test
may fail only if the cluster refused a command because of the slots of its keys, or for another
difference that the page names. The refusals, as command and key families, must equal the table of
the layout's section of the page.

    cluster_typed_test.py PAGE REDOUBLE PROGRAM...
    cluster_typed_test.py --print LAYOUT REDOUBLE PROGRAM...   prints the rows that the page needs

With --while the tests run in the cluster layout on a cluster that stands still, then on one whose
slots move or whose masters die, and the results are printed for each system. The command fails if a
test passes on the cluster that stands still, fails while slots move, and is not on the page:

    bazel run //tests/live:cluster_typed_test -- --while still|moving|failover
"""

import json
import re
import subprocess
import sys
import unittest

import typed_tests

ROW = re.compile(r"^\| (\w+) \| ([A-Z]+) \| ([\w., ]+) \|", re.MULTILINE)
DIFFERENCE = re.compile(r"^\| (\w+Test\.\w+) \|", re.MULTILINE)

# A placeholder of a pattern: {name} or {name:kind}.
PLACEHOLDER = re.compile(r"\\\{.*?\\\}")


class Families:
    """The key families, as `redouble keys` lists them."""

    def __init__(self, redouble, layout):
        listing = subprocess.run([redouble, "keys", "--format", "json", "--layout", layout],
                                 stdout=subprocess.PIPE, check=True).stdout
        self.rows = [(row["id"], re.compile(PLACEHOLDER.sub(".+", re.escape(row["pattern"])),
                                            re.DOTALL))
                     for row in json.loads(listing)]

    def of(self, system, key):
        """The family of a key or None; the most literal pattern if several match."""
        found = [(-len(pattern.pattern.replace(".+", "")), family)
                 for family, pattern in self.rows
                 if family.startswith(system + ".") and pattern.fullmatch(key)]
        return min(found)[1] if found else None


def refused(families, outcomes):
    """The refusals as (system, command, set of families), ignoring keys of tests that are in no
    family. A refusal whose families are a subset of those of another refusal is omitted."""
    found = set()
    for outcome in outcomes:
        for lines in outcome.refusals.values():
            for line in lines:
                command, *keys = line.split("\t")
                of_keys = frozenset(families.of(outcome.system, key) for key in keys) - {None}
                if of_keys:
                    found.add((outcome.system, command.split()[0], of_keys))
    return {(system, command, of_keys) for system, command, of_keys in found
            if not any(other[:2] == (system, command) and of_keys < other[2] for other in found)}


def as_rows(found):
    return {(system, command, ", ".join(sorted(of_keys))) for system, command, of_keys in found}


def failed_otherwise(outcomes):
    """The tests that failed without a refusal, with their output."""
    return {test.replace("/Live", ""): outcome.text[-8000:] for outcome in outcomes
            for test, result in outcome.tests.items()
            if result != "OK" and not outcome.refusals.get(test)}


# The section of the page for each layout.
SECTIONS = {"documented": "## What a cluster refuses of the systems",
            "cluster": "## What a cluster refuses of the cluster layout"}


def rows_of(page, layout):
    """The rows of the layout's section."""
    section = page.split(SECTIONS[layout] + "\n")[1].split("\n## ")[0]
    return set(ROW.findall(section))


class ClusterTypedTest(unittest.TestCase):
    maxDiff = None

    def test_with_documented_keys_what_fails_is_what_the_page_says(self):
        self.check("documented", PROGRAMS)

    def test_in_the_cluster_layout_what_fails_is_what_the_page_says(self):
        self.check("cluster", [program for program in PROGRAMS if typed_tests.has_layouts(program)])

    def check(self, layout, programs):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        outcomes = typed_tests.run_all(programs, "cluster", layout)
        for outcome in outcomes:
            self.assertTrue(outcome.tests, f"{outcome.program} has no live tests: {outcome.text}")
            self.assertNotIn("SKIPPED", outcome.tests.values(), outcome.text[-8000:])
        results = [result for outcome in outcomes for result in outcome.tests.values()]
        print(f"{layout}: {results.count('OK')} of {len(results)} live tests pass on a cluster")
        rows = as_rows(refused(Families(REDOUBLE, layout), outcomes))
        listed = rows_of(page, layout)
        self.assertEqual(sorted(rows - listed), [], "refused, and not on the page")
        self.assertEqual(sorted(listed - rows), [], "on the page, and not refused")
        failed = failed_otherwise(outcomes)
        for test in set(failed) - set(DIFFERENCE.findall(page)):
            self.fail(f"{test} fails, and not because of where keys are: {failed[test]}")
        tests = {test.replace("/Live", "") for outcome in outcomes for test in outcome.tests}
        if layout == "documented":
            self.assertEqual(set(DIFFERENCE.findall(page)) - tests, set(), "on the page, no test")


def name_of(test):
    return test.replace("/Live", "")


def failed_while(still, now):
    """The tests of a program that pass on a cluster that stands still and fail now."""
    return sorted(test for test, result in now.tests.items()
                  if result != "OK" and still.tests.get(test) == "OK")


def print_systems(outcomes, failed, unrest):
    """A row for each system, and the tests that failed."""
    names = {"": "tests | passed", "moving": "tests | slots with keys moved | passed",
             "failover": "tests | lost a master | passed | failed, with an unknown outcome | failed"}
    print(f"| system | {names[unrest]} |")
    for system in sorted({outcome.system for outcome in outcomes}):
        of_system = [outcome for outcome in outcomes if outcome.system == system]
        tests = [test for outcome in of_system for test in outcome.tests]
        bad = [(test, outcome) for outcome in of_system for test in failed[outcome.program]]
        unknown = [test for test, outcome in bad if outcome.unknown.get(test)]
        cells = {
            "": [len(tests), len(tests) - len(bad)],
            "moving": [len(tests), sum(outcome.moved for outcome in of_system),
                       len(tests) - len(bad)],
            "failover": [len(tests), sum(len(outcome.killed) for outcome in of_system),
                         len(tests) - len(bad), len(unknown), len(bad) - len(unknown)],
        }[unrest]
        print(f"| {system} | {' | '.join(str(cell) for cell in cells)} |")
    for outcome in outcomes:
        for test in failed[outcome.program]:
            unknown = ", ".join(outcome.unknown.get(test, []))
            print(f"{name_of(test)}: unknown: {unknown or 'none'}\n{output_of(outcome, test)}")


def output_of(outcome, test):
    """What a test has printed."""
    text = outcome.text.split(f"[ RUN      ] {test}\n")[-1]
    return text.split("[ RUN      ]")[0][:3000]


def run_while(unrest, page, programs):
    """Prints the results, and returns the exit code."""
    with open(page, encoding="utf-8") as file:
        differences = set(DIFFERENCE.findall(file.read()))
    programs = [program for program in programs if typed_tests.has_layouts(program)]
    still = typed_tests.run_all(programs, "cluster", "cluster")
    failed = {outcome.program: sorted(test for test, result in outcome.tests.items()
                                      if result != "OK") for outcome in still}
    print_systems(still, failed, "")
    if unrest == "still":
        return 0
    outcomes = typed_tests.run_all(programs, "cluster", "cluster", unrest)
    failed = {now.program: failed_while(before, now) for before, now in zip(still, outcomes)}
    print_systems(outcomes, failed, unrest)
    unlisted = {name_of(test) for tests in failed.values() for test in tests} - differences
    return 1 if unrest == "moving" and unlisted else 0


def print_rows(layout, redouble, programs):
    outcomes = typed_tests.run_all(programs, "cluster", layout)
    for row in sorted(as_rows(refused(Families(redouble, layout), outcomes))):
        print(f"| {' | '.join(row)} | |")
    for test in sorted(failed_otherwise(outcomes)):
        print(f"| {test} | |")


if __name__ == "__main__":
    if sys.argv[1] == "--print":
        print_rows(sys.argv[2], sys.argv[3], sys.argv[4:])
        sys.exit(0)
    if "--while" in sys.argv:
        at = sys.argv.index("--while")
        sys.exit(run_while(sys.argv[at + 1], sys.argv[1], sys.argv[3:at]))
    PAGE, REDOUBLE, *PROGRAMS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
