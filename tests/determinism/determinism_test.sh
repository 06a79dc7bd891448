#!/bin/sh
# Two processes print the same hash for the same seed, and a different one for another seed. With
# RECORDED, the hash must equal it on every machine, with every compiler and optimization level.
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
