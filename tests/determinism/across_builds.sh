#!/bin/sh
# Builds trace_hash with both compilers at two optimisation levels and compares what they print:
#
#   tests/determinism/across_builds.sh [PROGRAMS [SEED]]
#
# Exit codes: 0 all four are equal, 1 they are not.
set -eu
cd "$(dirname "$0")/../.."
first=
for config in "--config=dbg" "--config=opt" "--config=clang --config=dbg" "--config=clang --config=opt"; do
  # The words of a configuration are several arguments.
  # shellcheck disable=SC2086
  bazel build --noshow_progress $config //tests/determinism:trace_hash >&2
  hash=$(bazel-bin/tests/determinism/trace_hash "$@")
  echo "$hash $config"
  first=${first:-$hash}
  if [ "$hash" != "$first" ]; then
    echo "the builds differ"
    exit 1
  fi
done
