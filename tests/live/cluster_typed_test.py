"""The systems' typed tests on a real Redis Cluster, compared with docs/cluster.md.

The tests run with the documented keys and, where a system has one, in the cluster layout. A test
may fail only if the cluster refused a command because of the slots of its keys, or for another
difference that the page names. The refusals, as command and key families, must equal the table of
the layout's section of the page.

    bazel test //tests/live:cluster_typed_test
    bazel run //tests/live:cluster_typed_test -- --print LAYOUT   prints the rows that the page needs

With --while the tests run in the cluster layout on a cluster that stands still, then on one whose
slots move or whose masters die, and the results are printed for each system. The command fails if a
test passes on the cluster that stands still, fails on the other although no write was lost and no
outcome unknown, and is not on the page:

    bazel run //tests/live:cluster_typed_test -- --while still|moving|failover [--system NAME]...

--logs FOLDER keeps the whole output of each program there.
"""

import argparse
import json
import pathlib
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


# The sections whose tables name the tests that fail, by what happens to the cluster.
DIFFERENCES = {"still": "## Other differences of a cluster",
               "moving": "## While slots move",
               "failover": "## When a master dies"}


def section_of(page, heading):
    return page.split(heading + "\n")[1].split("\n## ")[0]


def rows_of(page, layout):
    """The rows of the layout's section."""
    return set(ROW.findall(section_of(page, SECTIONS[layout])))


def differences(page, unrest="still"):
    """The tests that the section names."""
    return set(DIFFERENCE.findall(section_of(page, DIFFERENCES[unrest])))


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
        for test in set(failed) - differences(page):
            self.fail(f"{test} fails, and not because of where keys are: {failed[test]}")
        tests = {test.replace("/Live", "") for outcome in outcomes for test in outcome.tests}
        if layout == "documented":
            self.assertEqual(set(DIFFERENCE.findall(page)) - tests, set(), "on the page, no test")


def name_of(test):
    return test.replace("/Live", "")


def failed_tests(outcomes):
    """The tests that have not passed, by program."""
    return {outcome.program: sorted(test for test, result in outcome.tests.items()
                                    if result != "OK") for outcome in outcomes}


def keep_those_that_pass(still, outcomes):
    """Removes the tests that do not pass on a cluster that stands still."""
    for before, now in zip(still, outcomes):
        now.tests = {test: result for test, result in now.tests.items()
                     if before.tests.get(test) == "OK"}


def print_systems(outcomes, failed, header, cells_of):
    """A row for each system, and the tests that failed."""
    print(f"| system | {header} |")
    for system in sorted({outcome.system for outcome in outcomes}):
        of_system = [outcome for outcome in outcomes if outcome.system == system]
        cells = [cells_of(outcome, failed[outcome.program]) for outcome in of_system]
        print(f"| {system} | {' | '.join(str(sum(column)) for column in zip(*cells))} |")
    for outcome in outcomes:
        for test in failed[outcome.program]:
            killed = outcome.killed.get(test, "no")
            unknown = ", ".join(outcome.unknown.get(test, [])) or "none"
            print(f"{name_of(test)}: killed: {killed}, unknown: {unknown}\n"
                  f"{output_of(outcome, test)}")


def print_still(outcomes, failed):
    print_systems(outcomes, failed, "tests | passed",
                  lambda outcome, bad: [len(outcome.tests), len(outcome.tests) - len(bad)])


def print_moving(outcomes, failed):
    print_systems(outcomes, failed, "tests | slots with keys moved | passed",
                  lambda outcome, bad: [len(outcome.tests), outcome.moved,
                                        len(outcome.tests) - len(bad)])


# When a master dies (backends/testing/cluster_unrest.h).
BETWEEN_COMMANDS = "between commands"
AT_ANY_MOMENT = "at any moment"


def print_failover(outcomes, failed):
    def cells(outcome, bad):
        counts = [len(outcome.tests)]
        for moment in (BETWEEN_COMMANDS, AT_ANY_MOMENT):
            lost = [test for test in outcome.tests if outcome.killed.get(test) == moment]
            unknown = [test for test in lost if test in bad and test in outcome.unknown]
            other = [test for test in lost if test in bad and test not in outcome.unknown]
            counts += [len(lost), len(lost) - len(unknown) - len(other), len(unknown), len(other)]
        return counts
    print_systems(outcomes, failed, "tests" + "".join(
        f" | lost a master {moment} | passed | failed, with an unknown outcome | failed otherwise"
        for moment in (BETWEEN_COMMANDS, AT_ANY_MOMENT)), cells)


def unexplained(outcome, failed):
    """The failed tests that lost nothing: no master, or one whose replica had all its writes while
    no command was under way."""
    return [test for test in failed if test not in outcome.unknown
            and outcome.killed.get(test) != AT_ANY_MOMENT]


def output_of(outcome, test):
    """What a test has printed."""
    text = outcome.text.split(f"[ RUN      ] {test}\n")[-1]
    return text.split("[ RUN      ]")[0][:3000]


def keep_output(outcomes, folder, mode):
    for outcome in outcomes:
        name = outcome.program.split("core/")[1].replace("/", "_")
        pathlib.Path(folder, f"{mode}_{name}.log").write_text(outcome.text, encoding="utf-8")


def run_while(unrest, page, programs, folder):
    """Prints the results, and returns the exit code."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    programs = [program for program in programs if typed_tests.has_layouts(program)]
    still = typed_tests.run_all(programs, "cluster", "cluster")
    failed = failed_tests(still)
    print_still(still, failed)
    if folder:
        keep_output(still, folder, "still")
    if unrest == "still":
        return 0
    outcomes = typed_tests.run_all(programs, "cluster", "cluster", unrest)
    keep_those_that_pass(still, outcomes)
    failed = failed_tests(outcomes)
    (print_moving if unrest == "moving" else print_failover)(outcomes, failed)
    if folder:
        keep_output(outcomes, folder, unrest)
    unlisted = {name_of(test) for outcome in outcomes
                for test in unexplained(outcome, failed[outcome.program])}
    unlisted -= differences(text, unrest)
    for test in sorted(unlisted):
        print(f"{test} fails, and the page does not say why")
    return 1 if unlisted else 0


def print_rows(layout, redouble, programs):
    outcomes = typed_tests.run_all(programs, "cluster", layout)
    for row in sorted(as_rows(refused(Families(redouble, layout), outcomes))):
        print(f"| {' | '.join(row)} | |")
    for test in sorted(failed_otherwise(outcomes)):
        print(f"| {test} | |")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("redouble")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--print", dest="layout", choices=SECTIONS)
    parser.add_argument("--while", dest="unrest", choices=DIFFERENCES)
    parser.add_argument("--system", action="append", default=[], help="only its tests")
    parser.add_argument("--logs", help="a folder for the output of the programs")
    chosen = parser.parse_args()
    systems = {typed_tests.system_of(program) for program in chosen.programs}
    for system in chosen.system:
        if system not in systems:
            parser.error(f"no system {system}: there are {', '.join(sorted(systems))}")
    if chosen.logs:
        pathlib.Path(chosen.logs).mkdir(parents=True, exist_ok=True)
    chosen.programs = [program for program in chosen.programs
                       if not chosen.system or typed_tests.system_of(program) in chosen.system]
    return chosen


def main():
    global PAGE, REDOUBLE, PROGRAMS
    chosen = arguments()
    PAGE, REDOUBLE, PROGRAMS = chosen.page, chosen.redouble, chosen.programs
    if chosen.layout:
        print_rows(chosen.layout, REDOUBLE, PROGRAMS)
    elif chosen.unrest:
        sys.exit(run_while(chosen.unrest, PAGE, PROGRAMS, chosen.logs))
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
