"""The systems' typed tests on a redis-server with TLS: all of them pass.

    tls_typed_test.py PROGRAM...
"""

import sys
import unittest

import typed_tests


class TlsTypedTest(unittest.TestCase):
    def test_all_pass(self):
        passed = 0
        for outcome in typed_tests.run_all(PROGRAMS, "tls"):
            self.assertTrue(outcome.tests, f"{outcome.program} has no live tests: {outcome.text}")
            for test, result in outcome.tests.items():
                self.assertEqual(result, "OK", f"{outcome.program}: {test}\n{outcome.text[-8000:]}")
            passed += len(outcome.tests)
        print(f"{passed} live tests of {len(PROGRAMS)} programs pass through TLS")


if __name__ == "__main__":
    PROGRAMS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)
