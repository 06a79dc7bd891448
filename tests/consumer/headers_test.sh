#!/bin/bash
# Compiles every public header alone, with the warnings that a consumer may have on. Usage: COMPILER
#
# Reads the tree that the WORKSPACE file of the runfiles is in. Nothing is generated: a public header
# must not need a generated one.
set -euo pipefail

root="$(dirname "$(realpath WORKSPACE)")"
inner="$TEST_TMPDIR/include"
mkdir -p "$inner"
ln -sfn "$root" "$inner/redouble"

failed=0
for header in "$root"/include/redouble/*.h; do
  if ! output="$("$1" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
    -I"$root/include" -I"$inner" -include "$header" -x c++ /dev/null 2>&1)"; then
    echo "$(basename "$header"):"
    echo "$output"
    failed=1
  fi
done

# An older language gives one error, which says what to do.
for header in "$root"/include/redouble/*.h; do
  output="$("$1" -std=c++17 -fsyntax-only -I"$root/include" -I"$inner" -include "$header" -x c++ /dev/null \
    2>&1 || true)"
  if [[ "$(grep -c 'error:' <<<"$output")" != 1 ]] || ! grep -q 'Redouble needs C++20' <<<"$output"; then
    echo "$(basename "$header") as C++17:"
    echo "$output"
    failed=1
  fi
done
exit "$failed"
