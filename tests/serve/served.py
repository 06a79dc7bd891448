"""A `redouble serve` of a test's own, on a Unix socket in a folder of its own."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile


class Served:
    """Runs until stop(), which gives the exit code."""

    def __init__(self, *options):
        program = os.path.join(os.environ.get("TEST_SRCDIR", "."), "redouble", "redouble")
        self.folder = tempfile.mkdtemp(prefix="redouble-serve-")
        self.path = os.path.join(self.folder, "s")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--unixsocket", self.path, *options],
            stdout=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()

    def open(self):
        """A plain connection."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(20)
        connection.connect(self.path)
        return connection

    def ask(self, data, connection=None):
        """What comes back for these bytes until the server closes, or PING is answered."""
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
        """The output of a program that is told the socket."""
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
