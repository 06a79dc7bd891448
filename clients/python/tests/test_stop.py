"""Goal: no server outlives the process that started it, however that one ends."""

import os
import signal
import subprocess
import sys

import pytest

START = """
import os, sys, time
from redouble import Redouble
server = Redouble()
print(server.port, flush=True)
"""


def start(program):
    """(process, port of its server)"""
    process = subprocess.Popen([sys.executable, "-c", START + program], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def end(process, number=signal.SIGKILL):
    process.send_signal(number)
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("program", ["", "sys.exit(3)", "os._exit(4)", "raise SystemError", "del server; time.sleep(60)"])
def test_stops_when_the_process_ends(program, wait_until_refused):
    process, port = start(program)
    try:
        wait_until_refused(port)
    finally:
        end(process)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_stops_when_the_process_is_killed(number, wait_until_refused):
    process, port = start("time.sleep(60)")
    end(process, number)
    wait_until_refused(port)


def test_stops_when_it_runs_a_script_without_end(wait_until_refused):
    process, port = start("""
import socket
connection = socket.create_connection((server.host, server.port))
connection.sendall(b'EVAL "while true do end" 0\\r\\n')
time.sleep(60)""")
    end(process)
    wait_until_refused(port)


def test_stop_does_not_wait_for_a_forked_child(wait_until_refused):
    process, port = start("""
child = os.fork()
if not child:
    time.sleep(60)
server.stop()
print("stopped", child, flush=True)
time.sleep(60)""")
    word, child = process.stdout.readline().split()
    assert word == "stopped"
    wait_until_refused(port)
    os.kill(int(child), signal.SIGKILL)
    end(process)


def test_a_forked_child_does_not_stop_the_server_of_its_parent():
    process, port = start("""
if not os.fork():
    sys.exit(0)  # With the finalizers that os._exit leaves out.
os.wait()
print(server.command("PING"), flush=True)
time.sleep(60)""")
    assert process.stdout.readline() == "PONG\n"
    end(process)
