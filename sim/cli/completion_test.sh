#!/bin/bash
# Completes command lines in bash, as the tab key does. Usage: redouble.bash
set -euo pipefail

source "$1"
failed=0

# The words that complete the last one of a command line. Usage: expect "WORD..." LINE...
expect() {
  local expected="$1"
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _redouble || true  # Nothing completes the word.
  if [[ "${COMPREPLY[*]}" != "$expected" ]]; then
    echo "$*: completed by '${COMPREPLY[*]}', expected '$expected'"
    failed=1
  fi
}

cd "$TEST_TMPDIR"
touch case.json

complete -p redouble >/dev/null
expect "serve" redouble se
expect "replay redis-server record" redouble re
expect "--version" redouble --v
expect "--requirepass --replicaof --ready-file" redouble serve --re
expect "system" redouble serve --clock s
expect "bash" redouble completion b
expect "replay redis-server record" redouble help re
expect "diff" redouble trace ""
expect "case.json" redouble replay ca
expect "case.json" redouble trace diff ca
exit "$failed"
