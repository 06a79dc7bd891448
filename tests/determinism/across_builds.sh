#!/bin/sh
# Builds the programs here with both compilers at two optimisation levels and compares what they
# print:
#
#   tests/determinism/across_builds.sh [COUNT [SEED]]
#
# COUNT is of programs and of seeds of worlds. Exit codes: 0 all four are equal, 1 they are not.
set -eu
cd "$(dirname "$0")/../.."
first=
for config in "--config=dbg" "--config=opt" "--config=clang --config=dbg" "--config=clang --config=opt"; do
  # The words of a configuration are several arguments.
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
