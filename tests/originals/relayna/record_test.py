"""Checks what the recorder says where it cannot record: without a checkout, and without the packages it needs."""

import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

RECORDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "record.py")


def record(flags=(), **variables):
    """Runs the recorder; `flags` are the interpreter's."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("REDOUBLE_RELAYNA", "XML_OUTPUT_FILE")}
    return subprocess.run([sys.executable, *flags, RECORDER], env=environment | variables, capture_output=True,
                          text=True, check=False)


class RecordTest(unittest.TestCase):
    def test_without_a_checkout_the_test_is_skipped(self):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "test.xml")
            run = record(XML_OUTPUT_FILE=report)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("REDOUBLE_RELAYNA does not name a checkout", run.stdout)
            skipped = xml.etree.ElementTree.parse(report).getroot().find(".//testcase/skipped")
            self.assertIn("REDOUBLE_RELAYNA", skipped.get("message"))

    def test_names_the_packages_that_are_missing(self):
        # -S leaves out the folders of packages.
        run = record(["-S"], REDOUBLE_RELAYNA="/nowhere")
        self.assertEqual(run.returncode, 1)
        self.assertIn("has no pydantic 2 and no redis", run.stderr)
        self.assertNotIn("Traceback", run.stderr)


if __name__ == "__main__":
    unittest.main()
