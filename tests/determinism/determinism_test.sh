#!/bin/sh
# Two processes give the same hash for the same seed, and another one for another seed. With a
# recorded hash: it is that one, whichever machine, compiler and optimisation level it came from.
#
#   determinism_test.sh PROGRAM [RECORDED]
set -eu
one=$("$1" 50 1)
other=$("$1" 50 1)
different=$("$1" 50 2)
if [ "$one" != "$other" ]; then
  echo "two processes differ: $one and $other"
  exit 1
fi
if [ "$one" = "$different" ]; then
  echo "two seeds give the same trace: $one"
  exit 1
fi
if [ $# -gt 1 ] && [ "$one" != "$2" ]; then
  echo "recorded was $2, this build gives $one"
  exit 1
fi
echo "$one"
