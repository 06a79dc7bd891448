"""RESP over a plain socket: what this package itself sends, so that it needs no client library."""

import socket
import threading


class ReplyError(Exception):
    """An error reply. Its text is Redis's own: "WRONGTYPE Operation against a key ..."."""


class Connection:
    """One connection. Threads may share it: a lock keeps each pipeline together with its replies."""

    def __init__(self, host, port, timeout):
        """`timeout` is in seconds, for connecting and for each reply."""
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._lock = threading.Lock()

    def close(self):
        self._file.close()
        self._socket.close()

    def command(self, *words):
        """Sends one command and returns its reply, with text as str. Raises ReplyError, OSError."""
        return self.pipeline([words])[0]

    def pipeline(self, commands):
        """Sends commands in one write and returns their replies. Raises the first error after reading all."""
        with self._lock:
            self._socket.sendall(b"".join(map(_encode, commands)))
            replies = [self._read() for _ in commands]
        for reply in replies:
            if isinstance(reply, ReplyError):
                raise reply
        return replies

    def _read(self):
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("redouble: the server closed the connection")
        kind, text = line[:1], line[1:-2].decode("utf-8", "surrogateescape")
        if kind == b"-":
            return ReplyError(text)
        if kind == b":":
            return int(text)
        if kind == b"$":
            size = int(text)
            return None if size < 0 else self._file.read(size + 2)[:-2].decode("utf-8", "surrogateescape")
        if kind == b"*":
            return None if text == "-1" else [self._read() for _ in range(int(text))]
        return text


def _encode(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogateescape")
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)
