"""A separate `redouble serve`, or redis-server, on a Unix socket in a temporary folder."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from wire import Wire

PROGRAM = os.path.join(os.environ.get("TEST_SRCDIR", "."), "redouble", "redouble")


def reserve_port(address="127.0.0.1"):
    """A socket that reserves a port for a server that sets SO_REUSEADDR, as Redis does."""
    keeper = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    keeper.bind((address, 0))
    return keeper


class Served:
    """Runs until stop(), which returns the exit code."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="redouble-serve-")
        self.path = os.path.join(self.folder, "s")
        if "--port" not in options:
            options = ("--port", "none", *options)
        self.process = subprocess.Popen([PROGRAM, "serve", "--unixsocket", self.path, *options],
                                        stdout=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()

    def open(self):
        """A plain connection."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # With a timeout, connecting would fail instead of waiting while the server's queue of new
        # connections is full.
        connection.connect(self.path)
        connection.settimeout(20)
        return connection

    def wire(self, protocol=2):
        """A connection that returns replies with their RESP types."""
        wire = Wire(self.open())
        if protocol == 3:
            wire.ask("HELLO", "3")
        return wire

    def ask(self, data, connection=None):
        """The server's bytes for these bytes until it closes the connection or answers PING."""
        own = connection or self.open()
        got = b""
        try:
            own.sendall(data + b"*2\r\n$4\r\nECHO\r\n$8\r\n<ending>\r\n")
        except BrokenPipeError:
            pass
        while not got.endswith(b"<ending>\r\n"):
            try:
                part = own.recv(1 << 16)
            except ConnectionResetError:
                break
            if not part:
                break
            got += part
        if connection is None:
            own.close()
        return got.removesuffix(b"$8\r\n<ending>\r\n")

    def run(self, *command, data=None):
        """The output of a client program that gets the socket as an option."""
        return subprocess.run([*command], input=data, capture_output=True, timeout=60, check=True).stdout

    def cli(self, *words, data=None):
        return self.run("redis-cli", "-s", self.path, *words, data=data).decode()

    def stop(self, signal_number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        code = self.process.wait(20)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code


class Redis(Served):
    """A redis-server with the same interface."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="redouble-redis-")
        self.path = os.path.join(self.folder, "s")
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--dir",
             self.folder, *options], stdout=subprocess.PIPE, text=True)
        lines = []
        for self.line in self.process.stdout:
            if "accept connections at" in self.line:
                return
            lines.append(self.line)
        raise ChildProcessError("redis-server has not started: " + "".join(lines))


# The programs that take redis-server's arguments.
CONFIGURED = {"redouble": [PROGRAM, "redis-server"], "redis": ["redis-server"]}


class Configured(Served):
    """`redouble redis-server`, or redis-server: a program that takes redis-server's arguments.

    The first argument may be a configuration file. `text` is the standard input. If the server does not
    start, `output` is what it printed, without the times of log lines."""

    def __init__(self, program, *arguments, text=None):
        self.folder = tempfile.mkdtemp(prefix="redouble-configured-")
        self.path = os.path.join(self.folder, "s")
        first = [word for word in arguments[:1] if not word.startswith("-")]
        rest = arguments[len(first):]
        command = [*program, *first, "--port", "0"]
        if "--unixsocket" not in rest:
            command += ["--unixsocket", self.path]
        self.process = subprocess.Popen([*command, *rest], stdin=subprocess.PIPE, text=True, cwd=self.folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if text is not None:
            self.process.stdin.write(text)
        self.process.stdin.close()
        lines = []
        for self.line in self.process.stdout:
            if "accept connections at" in self.line:
                return
            lines.append(self.line)
        self.output = re.sub(r"(?m)^.* [#*] ", "", "".join(lines))


class ConfiguredTestCase(unittest.TestCase):
    """Runs both programs in turn on one file of a temporary folder, and compares what `run` returns."""

    NAME = "redis.conf"  # The file's name.

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redouble-files-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.path = os.path.join(self.folder, self.NAME)

    def write(self, text, name=None):
        path = os.path.join(self.folder, name) if name else self.path
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self):
        with open(self.path, encoding="utf-8", newline="") as file:
            return file.read()

    def start(self, kind, *arguments, text=None):
        server = Configured(CONFIGURED[kind], *arguments, text=text)
        self.addCleanup(server.stop, signal.SIGKILL)  # A script may run.
        return server

    def both(self, run):
        ours, theirs = (run(kind) for kind in CONFIGURED)
        self.assertEqual(ours, theirs)
        return ours
