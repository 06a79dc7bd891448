#!/bin/bash
# Runs the tests of live Redis with Redouble, under the name redis-server, instead of redis-server.
# Usage: against_double.sh REDOUBLE FILTER TEST...

mkdir -p "$TEST_TMPDIR/as_redis"
ln -sfn "$PWD/$1" "$TEST_TMPDIR/as_redis/redis-server"
export PATH="$TEST_TMPDIR/as_redis:$PATH"
filter="$2"
shift 2
# Each program would overwrite the report of the previous one.
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
