#!/bin/bash
# The program with a system of its own finds the race, finds none when it is mended, and names what a
# file gets wrong. Usage: PROGRAM WORLD
set -euo pipefail

code=0
"$1" explore "$2" >"$TEST_TMPDIR/found" || code=$?
if ((code != 1)) || ! grep -q "one book was sold" "$TEST_TMPDIR/found"; then
  echo "expected exit code 1 and the invariant, got $code:"
  cat "$TEST_TMPDIR/found"
  exit 1
fi
"$1" explore "$2" --hardened

sed 's/"operation": "sell"/"operation": "steal"/' "$2" >"$TEST_TMPDIR/wrong.world.json"
code=0
"$1" explore "$TEST_TMPDIR/wrong.world.json" 2>"$TEST_TMPDIR/errors" || code=$?
if ((code != 2)) || ! grep -q steal "$TEST_TMPDIR/errors"; then
  echo "expected exit code 2 and the unknown operation, got $code:"
  cat "$TEST_TMPDIR/errors"
  exit 1
fi
