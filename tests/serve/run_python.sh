#!/bin/bash
# Runs a Python test with the system's interpreter, because the test needs its packages.
exec /usr/bin/python3 -B "$@"
