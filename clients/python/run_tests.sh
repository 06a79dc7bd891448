#!/bin/bash
# Runs the tests of the package with the system's pytest and redis-py. Usage: run_tests.sh PROGRAM FOLDER
set -euo pipefail

REDOUBLE_BIN="$PWD/$1"
export REDOUBLE_BIN PYTHONPATH="$PWD/$2" TMPDIR="${TEST_TMPDIR:-/tmp}"
exec /usr/bin/python3 -B -m pytest -p redouble.pytest_plugin -p no:cacheprovider --junit-xml="$XML_OUTPUT_FILE" "$2/tests"
