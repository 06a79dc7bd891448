"""Fixtures of pytest. One server serves a test session; each test starts from its first state.

redouble         the server: a redouble.Redouble
redouble_clock   its clock
redouble_faults  its faults

A project changes the server's options in its conftest.py:

    @pytest.fixture(scope="session")
    def redouble_options():
        return {"start": "2026-05-09T14:03:02Z", "seed": 7, "options": ["--maxmemory", "64mb"]}

The report of a failed test shows the time and the keys of its server.
"""

import json

import pytest

from redouble.program import VARIABLE
from redouble.server import Redouble


def pytest_addoption(parser):
    parser.getgroup("redouble").addoption(
        "--redouble-bin", metavar="PATH", help=f"the program `redouble`; default: ${VARIABLE}, then the PATH")


@pytest.fixture(scope="session")
def redouble_options():
    """The keyword arguments of Redouble for this session."""
    return {}


@pytest.fixture(scope="session")
def redouble_server(request, redouble_options):
    """The server without a reset between tests."""
    with Redouble(**{"program": request.config.getoption("--redouble-bin"), **redouble_options}) as server:
        yield server


@pytest.fixture
def redouble(redouble_server):
    """The server, with the state after its start."""
    redouble_server.reset()
    yield redouble_server
    redouble_server.close_clients()


@pytest.fixture
def redouble_clock(redouble):
    """The server's clock."""
    return redouble.clock


@pytest.fixture
def redouble_faults(redouble):
    """The server's faults."""
    return redouble.faults


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    server = getattr(item, "funcargs", {}).get("redouble")
    if report.when == "call" and report.failed and isinstance(server, Redouble):
        report.sections.append(("redouble", _describe(server)))


def _describe(server):
    """What a server holds, or why that is not known: a report must not fail."""
    try:
        return f"{server.clock.now().isoformat()}\n{json.dumps(server.dump(), indent=2, sort_keys=True)}"
    except Exception as error:
        return f"{server!r}: {error}"
