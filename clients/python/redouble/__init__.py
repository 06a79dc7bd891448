"""Redis 7.0 for tests, with a clock that the tests move.

    from redouble import Redouble

    with Redouble() as server:
        redis = server.client()               # redis-py, if it is installed
        redis.set("session", "alice", px=1500)
        server.clock.advance("1501ms")
        assert redis.get("session") is None

The fixtures for pytest are in redouble.pytest_plugin.
"""

from redouble.clock import Clock
from redouble.faults import Fault, Faults
from redouble.program import ProgramNotFound, find_program
from redouble.server import Redouble, StartError
from redouble.wire import ReplyError

__all__ = ["Clock", "Fault", "Faults", "ProgramNotFound", "Redouble", "ReplyError", "StartError", "find_program"]
