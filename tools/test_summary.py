"""Counts the test cases of one `bazel test`. Usage: test_summary.py EVENTS BAZEL_EXIT_CODE

EVENTS is what --build_event_json_file wrote. Prints `PASSED FAILED SKIPPED` to stdout and the name of
each failed and skipped case to stderr. A case is a <testcase> of a test's test.xml, so a GoogleTest
program counts each of its tests. What fails without a failed case counts as one: a target that does
not build, a program that crashes or leaks after its last case, and Bazel itself.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree
from collections import namedtuple

Counts = namedtuple("Counts", "passed failed skipped")

# Bazel's exit code when it built everything and the filters left no test.
_NO_TESTS = 4
_GOOD = ("PASSED", "FLAKY")


def read_cases(path):
    """Yields (name, "passed" | "failed" | "skipped") for each case of a test.xml."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        if case.find("failure") is not None or case.find("error") is not None:
            yield name, "failed"
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            yield name, "skipped"
        else:
            yield name, "passed"


def _cases_of(result):
    """The cases of one testResult event; at least one has failed when the program has."""
    path = next((o["uri"] for o in result.get("testActionOutput", []) if o["name"] == "test.xml"), None)
    try:
        cases = list(read_cases(urllib.parse.unquote(path.removeprefix("file://")))) if path else []
    except (OSError, ElementTree.ParseError) as error:
        cases = [(f"test.xml cannot be read: {error}", "failed")]
    status = result.get("status")
    if status not in _GOOD and all(outcome != "failed" for _, outcome in cases):
        cases.append((f"the program itself: {status}", "failed"))
    return cases


def read_events(lines):
    """Yields (label, case, outcome) for everything that the build events tell."""
    results = {}
    for line in lines:
        event = json.loads(line)
        identity = event.get("id", {})
        if "testResult" in identity:
            # Later attempts of a flaky test replace earlier ones.
            key = identity["testResult"]
            results[(key["label"], key.get("run", 1), key.get("shard", 1))] = event.get("testResult", {})
        elif "targetCompleted" in identity and not event.get("completed", {}).get("success"):
            yield identity["targetCompleted"]["label"], "does not build", "failed"
    for (label, _, _), result in sorted(results.items()):
        for name, outcome in _cases_of(result):
            yield label, name, outcome


def summarize(lines, exit_code, report):
    """Counts the outcomes, and calls report(text) for each that is not a pass."""
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for label, name, outcome in read_events(lines):
        totals[outcome] += 1
        if outcome != "passed":
            report(f"{outcome}: {label} {name}")
    if exit_code not in (0, _NO_TESTS) and totals["failed"] == 0:
        totals["failed"] = 1
        report(f"failed: bazel itself, with exit code {exit_code}")
    return Counts(**totals)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as events:
            lines = events.readlines()
    except FileNotFoundError:
        lines = []
    counts = summarize(lines, int(arguments[1]), lambda text: print(text, file=sys.stderr))
    print(*counts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
