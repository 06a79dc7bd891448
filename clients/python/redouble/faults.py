"""Faults that a server injects. docs/faults.md describes them."""

from collections import namedtuple

# `error` is None for faults without an error reply; `count` is how many calls are still to fail.
Fault = namedtuple("Fault", "name command error count")


class Faults:
    """Each function arms a fault for the next `count` calls of a command; "*" is every command."""

    def __init__(self, sim):
        self._sim = sim

    def error_reply(self, command, error, count=1):
        """The calls are not executed and return this error: "OOM command not allowed"."""
        self._sim("FAULT", "error_reply", command, error, "COUNT", count)

    def drop_request(self, command, count=1):
        """The server closes the connection instead of executing the calls."""
        self._sim("FAULT", "drop_request", command, "COUNT", count)

    def drop_reply(self, command, count=1):
        """The server executes the calls and closes the connection instead of replying."""
        self._sim("FAULT", "drop_reply", command, "COUNT", count)

    def pending(self):
        """The faults that are still to be injected, as a list of Fault."""
        return [Fault(name, command, error or None, count)
                for name, command, error, count in self._sim("FAULT", "LIST")]

    def clear(self):
        self._sim("FAULT", "CLEAR")
