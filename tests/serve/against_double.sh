#!/bin/bash
# Runs tests against live Redis with the double in redis-server's place.
# Usage: against_double.sh DOUBLE FILTER TEST...

export PATH="$PWD/$(dirname "$1"):$PATH"
filter="$2"
shift 2
# One report per program would overwrite the one before.
unset XML_OUTPUT_FILE
failed=()
for test in "$@"; do
  [[ -x "$test" && ! -d "$test" ]] || continue
  echo "== $test"
  "$test" --gtest_brief=1 --gtest_filter="$filter" || failed+=("$test")
done
((${#failed[@]} == 0)) && exit 0
printf 'failed against the double: %s\n' "${failed[@]}"
exit 1
