"""What the closing line of tools/test is counted from."""

import json
import os
import tempfile
import unittest

import test_summary

GTEST = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" disabled="1" errors="0" name="AllTests">
  <testsuite name="Budget" tests="4">
    <testcase name="Adds" status="run" result="completed" classname="Budget" />
    <testcase name="Subtracts" status="run" result="completed" classname="Budget">
      <failure message="1 is not 2" type=""></failure>
    </testcase>
    <testcase name="NeedsTls" status="run" result="skipped" classname="Budget"><skipped message="no TLS"/></testcase>
    <testcase name="DISABLED_Old" status="notrun" result="suppressed" classname="Budget" />
  </testsuite>
</testsuites>
"""
PASSING = '<testsuites><testsuite><testcase name="Adds" status="run" classname="Budget"/></testsuite></testsuites>'


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.reports = []

    def result(self, status, xml, label="//core:budget_test", attempt=1, shard=1):
        outputs = []
        if xml is not None:
            path = os.path.join(self.folder, f"{len(os.listdir(self.folder))} test.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(xml)
            outputs = [{"name": "test.xml", "uri": "file://" + path.replace(" ", "%20")}]
        return {
            "id": {"testResult": {"label": label, "run": 1, "shard": shard, "attempt": attempt}},
            "testResult": {"status": status, "testActionOutput": outputs},
        }

    def summarize(self, *events, exit_code=0):
        lines = [json.dumps(event) for event in events]
        return tuple(test_summary.summarize(lines, exit_code, self.reports.append))

    def test_counts_the_cases_of_a_program(self):
        self.assertEqual((1, 1, 2), self.summarize(self.result("FAILED", GTEST), exit_code=3))
        self.assertIn("failed: //core:budget_test Budget.Subtracts", self.reports)
        self.assertIn("skipped: //core:budget_test Budget.NeedsTls", self.reports)

    def test_adds_programs_and_shards(self):
        events = [self.result("PASSED", PASSING), self.result("PASSED", PASSING, shard=2)]
        events.append(self.result("PASSED", PASSING, label="//core:other_test"))
        self.assertEqual((3, 0, 0), self.summarize(*events))

    def test_takes_the_last_attempt_of_a_flaky_test(self):
        events = [self.result("FAILED", GTEST), self.result("FLAKY", PASSING, attempt=2)]
        self.assertEqual((1, 0, 0), self.summarize(*events))

    def test_a_failure_after_the_last_case_counts(self):
        self.assertEqual((1, 1, 0), self.summarize(self.result("FAILED", PASSING), exit_code=3))
        self.assertEqual(["failed: //core:budget_test the program itself: FAILED"], self.reports)

    def test_a_program_without_readable_xml_counts_as_one_failure(self):
        self.assertEqual((0, 1, 0), self.summarize(self.result("TIMEOUT", None), exit_code=3))
        self.assertEqual((0, 1, 0), self.summarize(self.result("FAILED", "<testsuites>"), exit_code=3))

    def test_a_target_that_does_not_build_counts_as_one_failure(self):
        built = {"id": {"targetCompleted": {"label": "//core:a"}}, "completed": {"success": True}}
        broken = {"id": {"targetCompleted": {"label": "//core:b"}}, "completed": {}}
        aborted = {"id": {"targetCompleted": {"label": "//core:c"}}, "aborted": {"reason": "ANALYSIS_FAILURE"}}
        self.assertEqual((0, 2, 0), self.summarize(built, broken, aborted, exit_code=1))
        self.assertEqual("failed: //core:b does not build", self.reports[0])

    def test_a_failing_bazel_counts_when_nothing_else_failed(self):
        self.assertEqual((0, 1, 0), self.summarize(exit_code=1))
        self.assertEqual((0, 0, 0), self.summarize(exit_code=4))


if __name__ == "__main__":
    unittest.main()
