#!/bin/bash
# Runs a test written in Python with the interpreter of the machine, whose packages it needs.
exec /usr/bin/python3 -B "$@"
