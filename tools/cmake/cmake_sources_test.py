"""Runs `tools/cmake_sources --check` over the workspace in which the WORKSPACE of the runfiles really is."""

import os
import sys

import cmake_sources

if __name__ == "__main__":
    sys.exit(cmake_sources.main([os.path.dirname(os.path.realpath("WORKSPACE")), "--check"]))
