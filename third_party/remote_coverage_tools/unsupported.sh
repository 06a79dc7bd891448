#!/bin/bash
echo "bazel coverage is not supported: Debian does not package Bazel's coverage tools" >&2
exit 1
