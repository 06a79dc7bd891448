"""These tests run against the package in the tree; test_install.py installs it."""

import os
import socket
import time

import pytest

from redouble import find_program

pytest_plugins = ["pytester"]

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture(scope="session")
def package():
    """The folder of the package."""
    return PACKAGE


@pytest.fixture(scope="session", autouse=True)
def environment():
    """What a process that a test starts needs, whatever its working folder."""
    os.environ["REDOUBLE_BIN"] = find_program()
    os.environ["PYTHONPATH"] = PACKAGE


@pytest.fixture
def wait_until_refused():
    """Waits until a server on a port has gone; fails after ten seconds."""

    def wait(port):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except ConnectionError:
                return
            time.sleep(0.01)
        pytest.fail(f"a server still listens on port {port}")

    return wait
