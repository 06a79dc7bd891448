#!/bin/bash
# Compiles every public header alone, with the warnings that a consumer may have on. Usage: COMPILER
#
# Files of the consumer's own may have the paths of ours below the root: they are never included. Only
# redis_asio.h includes Boost.Asio.
#
# Reads the tree that the WORKSPACE file of the runfiles is in. Nothing is generated: a public header
# must not need a generated one.
set -euo pipefail

root="$(dirname "$(realpath WORKSPACE)")"
inner="$TEST_TMPDIR/include"
mkdir -p "$inner"
ln -sfn "$root" "$inner/redouble"

own="$TEST_TMPDIR/own"
while read -r file; do
  mkdir -p "$own/$(dirname "$file")"
  echo '#error "a file of the consumer is included"' >"$own/$file"
done < <(cd "$root" && find core backends sim -name '*.h')
if [[ ! -f "$own/core/base/time/clock.h" ]]; then
  echo "no files of the consumer's own were made from $root"
  exit 1
fi

include=(-I"$own" -I"$root/include" -I"$inner" -x c++ /dev/null)
failed=0
for header in "$root"/include/redouble/*.h; do
  if ! output="$("$1" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
    -include "$header" "${include[@]}" 2>&1)"; then
    echo "$(basename "$header"):"
    echo "$output"
    failed=1
  fi
  uses_asio=no
  if grep -q /boost/asio/ <<<"$("$1" -std=c++20 -M -include "$header" "${include[@]}")"; then uses_asio=yes; fi
  may_use_asio=no
  if [[ "$header" == */redis_asio.h ]]; then may_use_asio=yes; fi
  if [[ "$uses_asio" != "$may_use_asio" ]]; then
    echo "$(basename "$header") includes Boost.Asio: $uses_asio, expected $may_use_asio"
    failed=1
  fi
done

# An older language gives one error, which says what to do.
for header in "$root"/include/redouble/*.h; do
  output="$("$1" -std=c++17 -fsyntax-only -include "$header" "${include[@]}" 2>&1 || true)"
  if [[ "$(grep -c 'error:' <<<"$output")" != 1 ]] || ! grep -q 'Redouble needs C++20' <<<"$output"; then
    echo "$(basename "$header") as C++17:"
    echo "$output"
    failed=1
  fi
done
exit "$failed"
