#!/bin/sh
# Builds the programs of this folder with both compilers at two optimization levels and compares
# their outputs:
#
#   tests/determinism/across_builds.sh [COUNT [SEED]]
#
# COUNT is the number of programs and of world seeds. Exit codes: 0 if all four are equal, else 1.
set -eu
cd "$(dirname "$0")/../.."
first=
for config in "--config=dbg" "--config=opt" "--config=clang --config=dbg" "--config=clang --config=opt"; do
  # A configuration consists of several arguments.
  # shellcheck disable=SC2086
  bazel build --noshow_progress $config //tests/determinism:all >&2
  hashes="$(bazel-bin/tests/determinism/trace_hash "$@") $(bazel-bin/tests/determinism/world_hash "$@")"
  echo "$hashes $config"
  first=${first:-$hashes}
  if [ "$hashes" != "$first" ]; then
    echo "the builds differ"
    exit 1
  fi
done
