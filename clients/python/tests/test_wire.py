"""The package's own connection."""

import socket
import threading

import pytest

from redouble.wire import Connection, ReplyError


@pytest.fixture
def answer():
    """A connection to a peer that answers the first request with some bytes and closes."""
    listener = socket.create_server(("127.0.0.1", 0))
    opened = []

    def connect(data):
        def serve():
            peer, _ = listener.accept()
            peer.recv(1 << 16)
            peer.sendall(data)
            peer.close()

        thread = threading.Thread(target=serve)
        thread.start()
        connection = Connection(*listener.getsockname(), timeout=5)
        opened.append((connection, thread))
        return connection

    yield connect
    for connection, thread in opened:
        connection.close()
        thread.join()
    listener.close()


@pytest.mark.parametrize("data, reply", [
    (b"+OK\r\n", "OK"), (b":-7\r\n", -7), (b"$-1\r\n", None), (b"$2\r\n\xff\n\r\n", "\udcff\n"), (b"*-1\r\n", None),
    (b"*2\r\n*0\r\n$1\r\na\r\n", [[], "a"])])
def test_reads_every_kind_of_reply(answer, data, reply):
    assert answer(data).command("ANY") == reply


def test_an_error_is_raised_after_the_replies_behind_it_are_read(answer):
    connection = answer(b"-ERR first\r\n+OK\r\n-ERR second\r\n:3\r\n")
    with pytest.raises(ReplyError, match="^ERR first$"):
        connection.pipeline([["A"], ["B"], ["C"]])
    assert connection._read() == 3


@pytest.mark.parametrize("data", [b"", b"$5\r", b"*1\r\n"])
def test_an_incomplete_reply_is_an_error(answer, data):
    with pytest.raises(ConnectionError, match="closed the connection"):
        answer(data).command("ANY")
