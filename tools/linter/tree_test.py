"""Runs the lint over the whole workspace, which is where the WORKSPACE file in the runfiles really is."""

import os
import sys

import lint

if __name__ == "__main__":
    sys.exit(lint.main([os.path.dirname(os.path.realpath("WORKSPACE"))]))
