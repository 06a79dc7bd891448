"""One `redouble serve` process of a test run."""

import functools
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import weakref

from redouble.clock import Clock
from redouble.faults import Faults
from redouble.program import find_program
from redouble.wire import Connection

HOST = "127.0.0.1"
DEFAULT_START = "2026-01-01T00:00:00Z"

_STOP_WITH_PARENT = os.path.join(os.path.dirname(__file__), "stop_with_parent.sh")
_READY = re.compile(rb"accepts? connections")
_START_TIMEOUT_SECONDS = 30
_STOP_TIMEOUT_SECONDS = 5
_REPLY_TIMEOUT_SECONDS = 30
_POLL_SECONDS = 0.002
_PORT_ATTEMPTS = 5
_SNAPSHOT = "redouble-client:start"


class StartError(RuntimeError):
    """The server did not start; the text has what it printed."""


class Redouble:
    """A running server. It stops with stop(), at the end of a `with` block, and with this process.

    host, port  where it listens: a free TCP port of the loopback interface
    url         "redis://127.0.0.1:PORT/0", which Redis clients of any kind take
    clock       a Clock
    faults      Faults
    """

    def __init__(self, program=None, *, clock="manual", start=DEFAULT_START, seed=0, options=()):
        """Starts the server and waits until it accepts connections.

        program  the path of `redouble`; None: REDOUBLE_BIN, then the PATH
        clock    "manual": moved by `clock`; "system": the machine's time
        start    where a manual clock starts: an RFC 3339 text, or milliseconds since the epoch
        seed     decides random choices: SPOP, RANDOMKEY, eviction
        options  more options of `redouble serve`, such as ["--maxmemory", "64mb"]

        Raises ProgramNotFound and StartError.
        """
        self.host = HOST
        self._manual = clock == "manual"
        command = [find_program(program), "serve", "--clock", clock, "--seed", str(seed), *map(str, options)]
        if self._manual:
            command += ["--start", str(start)]
        self.port, process, log = _start(command)
        # Also when the object is not used any more, and at the end of the interpreter.
        self._stop = weakref.finalize(self, _stop, process, log, os.getpid())
        self._process = process
        self._clients = []
        try:
            self._connection = Connection(self.host, self.port, _REPLY_TIMEOUT_SECONDS)
            # Not a method of this object, so that no cycle of references delays the finalizer.
            self._sim = functools.partial(self._connection.command, "SIM")
            self._configuration, self._users = self._settings()
            if self._manual:
                self._sim("SNAPSHOT", _SNAPSHOT)
        except BaseException:
            self._stop()
            raise
        self.clock = Clock(self._sim)
        self.faults = Faults(self._sim)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def __repr__(self):
        return f"<Redouble {self.url}{'' if self.running else ', stopped'}>"

    @property
    def url(self):
        return f"redis://{self.host}:{self.port}/0"

    @property
    def running(self):
        return self._process.poll() is None

    def client(self, **options):
        """A redis.Redis of redis-py for this server, closed by reset() and stop(). Takes its options."""
        import redis  # The package works without it.

        client = redis.Redis(host=self.host, port=self.port, **options)
        self._clients.append(client)
        return client

    def aclient(self, **options):
        """A redis.asyncio.Redis of redis-py for this server. The caller closes it: `async with`."""
        import redis.asyncio

        return redis.asyncio.Redis(host=self.host, port=self.port, **options)

    def command(self, *words):
        """Sends any command and returns its reply, without a client library. Raises ReplyError."""
        return self._connection.command(*words)

    def sim(self, *words):
        """Sends a SIM command: sim("SEED", 7). docs/serve.md lists them."""
        return self._sim(*words)

    def dump(self, db=0):
        """The keys of a database, with their types, values and TTLs, as a dict. Needs a manual clock."""
        return json.loads(self.sim("DUMP", db))

    def wait_until_blocked(self, clients=1, timeout=5.0):
        """Waits until so many clients are blocked, as in BLPOP, so that time can move on for them.

        `timeout` is in seconds of the machine. Raises TimeoutError.
        """
        deadline = time.monotonic() + timeout
        while True:
            info = self.command("INFO", "clients")
            blocked = int(re.search(r"^blocked_clients:(\d+)", info, re.MULTILINE)[1])
            if blocked >= clients:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"{blocked} of {clients} clients are blocked after {timeout} s")
            time.sleep(_POLL_SECONDS)

    def reset(self):
        """Returns to the state after the start: keys, time, seed, faults, scripts, configuration, users.

        Closes the clients of client(). Other connections stay as they are.
        """
        self.close_clients()
        if self._manual:
            self.sim("FAULT", "CLEAR")  # First, because a fault may concern every command.
            restore = ("SIM", "RESTORE", _SNAPSHOT)
        else:
            restore = ("FLUSHALL",)
        self._connection.pipeline([restore, ("SCRIPT", "FLUSH"), ("FUNCTION", "FLUSH")])
        configuration, users = self._settings()
        repairs = [("CONFIG", "SET", name, value) for name, value in self._configuration.items()
                   if configuration.get(name) != value]
        repairs += [("ACL", "DELUSER", name) for name in users.keys() - self._users.keys()]
        repairs += [("ACL", "SETUSER", name, "reset", *rules) for name, rules in self._users.items()
                    if users.get(name) != rules]
        if repairs:
            self._connection.pipeline(repairs)

    def close_clients(self):
        for client in self._clients:
            client.close()
            client.connection_pool.disconnect()
        self._clients.clear()

    def stop(self):
        """Stops the server. Does nothing when it has stopped."""
        self.close_clients()
        self._connection.close()
        self._stop()

    def _settings(self):
        """The configuration and the rules of each user, as dicts."""
        pairs, lines = self._connection.pipeline([("CONFIG", "GET", "*"), ("ACL", "LIST")])
        users = {}
        for line in lines:
            _, name, *rules = line.split()
            # The default, which Redis lists only for a user that was reset.
            users[name] = [rule for rule in rules if rule != "sanitize-payload"]
        return dict(zip(pairs[::2], pairs[1::2])), users


def _start(command):
    """(port, process, log): a server that accepts connections."""
    for attempt in range(_PORT_ATTEMPTS):
        port = _free_port()
        log = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C interrupts the tests, and the tests stop the server.
        process = subprocess.Popen(["/bin/sh", _STOP_WITH_PARENT, *command, "--bind", HOST, "--port", str(port)],
                                   stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            ready = _wait_until_ready(process, log)
        except BaseException:
            _stop(process, log, os.getpid())
            raise
        if ready:
            return port, process, log
        text = _read(log).decode(errors="replace").strip()
        _stop(process, log, os.getpid())
        # Another program may have taken the port since.
        if attempt + 1 == _PORT_ATTEMPTS or _is_free(port):
            raise StartError(f"{' '.join(command)}: exit code {process.returncode}\n{text}")
    raise AssertionError("unreachable")


def _wait_until_ready(process, log):
    """Whether it accepts connections; False when it has ended."""
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while True:
        ended = process.poll() is not None
        if _READY.search(_read(log)):
            return True
        if ended:
            return False
        if time.monotonic() > deadline:
            raise StartError(f"the server is not ready after {_START_TIMEOUT_SECONDS} s; "
                             f"it printed: {_read(log).decode(errors='replace')}")
        time.sleep(_POLL_SECONDS)


def _read(log):
    """The whole log. The process has the same file position, so that this must not move it."""
    return os.pread(log.fileno(), os.fstat(log.fileno()).st_size, 0)


def _free_port():
    with socket.create_server((HOST, 0)) as listener:
        return listener.getsockname()[1]


def _is_free(port):
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def _stop(process, log, owner):
    if os.getpid() != owner:
        return  # A forked child: the server is its parent's.
    try:
        process.stdin.write(b"\n")
        process.stdin.close()
    except OSError:
        pass  # It has ended.
    try:
        process.wait(_STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    log.close()
