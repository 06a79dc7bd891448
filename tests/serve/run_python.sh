#!/bin/bash
# Runs a Python test with the system's interpreter, because the test needs its packages, or with REDOUBLE_PYTHON.
exec "${REDOUBLE_PYTHON:-/usr/bin/python3}" -B "$@"
