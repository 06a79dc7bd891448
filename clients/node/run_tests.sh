#!/bin/bash
# Runs the tests of the package with the system's Node. Usage: run_tests.sh PROGRAM FOLDER
set -euo pipefail

REDOUBLE_BIN="$PWD/$1"
export REDOUBLE_BIN TMPDIR="${TEST_TMPDIR:-/tmp}"
# Bazel's folder holds symbolic links into the tree.
exec node --preserve-symlinks --preserve-symlinks-main --test "$2"/tests/*.test.mjs
