"""The rows of requests_bench.py and instructions.py, and a client that sends them.

A row is a request of one or more commands, and the commands that prepare the keys for it. In the words of a request
`__rand_int__` is a random number of twelve digits, as redis-benchmark writes it, and `__next_int__` counts from 1.
"""

import dataclasses
import os
import random
import selectors
import socket
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RANGE = 100_000
BATCH = 64
END = b"$4\r\n\x01end\r\n"


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    request: tuple  # Of commands, which are tuples of words.
    prepare: tuple = ()
    # Commands that prepare the keys by the number of requests: the words of one, repeated.
    prepare_each: tuple = ()
    share: float = 1  # Of the requests of the benchmark: less for slow ones.
    depths: tuple = (1, 64)
    clients: int = 50
    subscribers: int = 0


def script(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def numbers(count, *form):
    """The words of `form` for each number, in one command."""
    return tuple(word.format(i) for i in range(count) for word in form)


APPLY_DELTA = script("core/orchestrator/scripts/apply_delta.lua")
APPLY_DELTA_GUARDED = script("core/orchestrator/scripts/apply_delta_guarded.lua")
APPEND_RECORDS = script("core/korvet/scripts/append_records.lua")
# Of append_records.lua: identity, limits, retention, type, and one record of two words.
APPEND_ARGUMENTS = ("t", "t", "4095", "9007199254740991", "-1", "-1", "", "", "0", "1048576",
                    "2", "value", "x" * 100)
KEY = "key:__rand_int__"
ELEMENT = "element:__rand_int__"
LIST = (("RPUSH", "list", *numbers(1000, "element:{}")),)


def one(name, *words, **options):
    return Row(name, (words,), **options)


ROWS = (
    # The tests of redis-benchmark. As there, GET, LPOP and SPOP find no key.
    one("set", "SET", KEY, "xxx"),
    one("get", "GET", KEY),
    one("incr", "INCR", "counter:__rand_int__"),
    one("lpush", "LPUSH", "mylist", "xxx"),
    one("rpush", "RPUSH", "mylist", "xxx"),
    one("lpop", "LPOP", "mylist"),
    one("sadd", "SADD", "myset", ELEMENT),
    one("hset", "HSET", "myhash", ELEMENT, "xxx"),
    one("spop", "SPOP", "myset"),
    one("zadd", "ZADD", "myzset", "0", ELEMENT),
    one("mset", "MSET", *(KEY, "xxx") * 10, share=0.25),
    one("xadd", "XADD", "stream", "MAXLEN", "~", "100000", "*", "field", "value"),
    one("apply_delta", "EVAL", APPLY_DELTA, "2", "applied:run", "active_tokens:run", "consume:__rand_int__", "1",
        share=0.25),
    # The same on keys that exist.
    one("get_hit", "GET", KEY, prepare_each=("SET", "key:{:012}", "xxx")),
    one("lpop_hit", "LPOP", "mylist", prepare_each=("RPUSH", "mylist", "xxx")),
    one("spop_hit", "SPOP", "myset", prepare_each=("SADD", "myset", "element:{:012}")),
    # Further commands.
    one("getrange", "GETRANGE", "text", "1000", "1099", prepare=(("SET", "text", "x" * 10_000),)),
    one("hgetall_100", "HGETALL", "hash", prepare=(("HSET", "hash", *numbers(100, "field:{}", "value:{}")),),
        share=0.05),
    one("lrange_100", "LRANGE", "list", "0", "99", prepare=LIST, share=0.05),
    one("lrange_300", "LRANGE", "list", "0", "299", prepare=LIST, share=0.02),
    one("lrange_600", "LRANGE", "list", "0", "599", prepare=LIST, share=0.01),
    one("zrange_100", "ZRANGE", "board", "0", "99", prepare=(("ZADD", "board", *numbers(1000, "{}", "member:{}")),),
        share=0.05),
    one("zadd_1m", "ZADD", "board", "__rand_int__", "member:__rand_int__",
        prepare=tuple(("ZADD", "board", *(word for i in range(at, at + 1000) for word in (str(i), f"member:{i:012}")))
                      for at in range(0, 1_000_000, 1000)), share=0.25),
    Row("xreadgroup_xack", (("XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "stream", ">"),
                            ("XACK", "stream", "g", "__next_int__-1")),
        prepare=(("XGROUP", "CREATE", "stream", "g", "0", "MKSTREAM"),),
        prepare_each=("XADD", "stream", "{}-1", "field", "value"), share=0.1),
    one("publish_100", "PUBLISH", "channel", "message", share=0.02, subscribers=100),
    Row("multi_10", (("MULTI",), *(("SET", KEY, "xxx"),) * 10, ("EXEC",)), share=0.1),
    one("delta_guarded", "EVAL", APPLY_DELTA_GUARDED, "2", "applied:run", "active_tokens:run",
        "emit:__rand_int__", "1", prepare=(("SET", "active_tokens:run", "1"),), share=0.1),
    one("append_record", "EVAL", APPEND_RECORDS, "2", "log", "topic", *APPEND_ARGUMENTS,
        prepare=(("HSET", "topic", "id", "t", "partitions", "1"),), share=0.05),
    one("sinter_100", "SINTER", "a", "b", prepare=(("SADD", "a", *numbers(150, "m:{}")),
                                                  ("SADD", "b", *numbers(100, "m:{}"))), share=0.02),
    one("set_1k", "SET", "value", "x" * 1024, share=0.25),
    one("get_1k", "GET", "value", prepare=(("SET", "value", "x" * 1024),), share=0.25),
    one("set_100k", "SET", "value", "x" * 102_400, share=0.05, depths=(1,)),
    one("get_100k", "GET", "value", prepare=(("SET", "value", "x" * 102_400),), share=0.05, depths=(1,)),
    one("set_1m", "SET", "value", "x" * 1_048_576, share=0.005, depths=(1,), clients=4),
    one("get_1m", "GET", "value", prepare=(("SET", "value", "x" * 1_048_576),), share=0.005, depths=(1,), clients=4),
)


def encode(words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        text = word.encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(text), text))
    return b"".join(parts)


class Client:
    """Some connections to a server's Unix socket, which send batches of requests."""

    def __init__(self, path, connections):
        self.sockets = [self.connect(path) for _ in range(connections)]

    @staticmethod
    def connect(path):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        return connection

    def exchange(self, batches):
        """Sends one batch on each connection, and reads all replies."""
        for connection, batch in zip(self.sockets, batches):
            connection.sendall(batch + encode(("ECHO", "\x01end")))
        for connection, _ in zip(self.sockets, batches):
            tail = b""
            while not tail.endswith(END):
                received = connection.recv(1 << 18)
                if not received:
                    raise ConnectionError("the server closed the connection")
                tail = (tail + received)[-len(END):]

    def call(self, words):
        self.exchange([encode(words)])

    def close(self):
        for connection in self.sockets:
            connection.close()


def prepare(client, row, requests):
    """Makes the keys that `requests` requests of the row need."""
    client.call(("FLUSHALL",))
    for words in row.prepare:
        client.call(words)
    if not row.prepare_each:
        return
    draws = any("__rand_int__" in word for words in row.request for word in words)
    for at in range(0, RANGE if draws else requests, 1000):
        client.exchange([b"".join(encode([word.format(i) for word in row.prepare_each])
                                  for i in range(at + 1, at + 1001))])


class Requests:
    """The encoded requests of a row, from one seed."""

    def __init__(self, row, seed):
        self.row = row
        self.random = random.Random(seed)
        self.next = 0

    def one(self):
        self.next += 1

        def fill(word):
            if "__rand_int__" in word:
                word = word.replace("__rand_int__", f"{self.random.randrange(RANGE):012}")
            return word.replace("__next_int__", str(self.next))

        return b"".join(encode([fill(word) for word in words]) for words in self.row.request)

    def batch(self, size=BATCH):
        return b"".join(self.one() for _ in range(size))


class Subscribers:
    """Connections that subscribe to `channel` and drop what they receive."""

    def __init__(self, path, count):
        self.selector = selectors.DefaultSelector()
        self.sockets = [Client.connect(path) for _ in range(count)]
        for connection in self.sockets:
            connection.sendall(encode(("SUBSCRIBE", "channel")))
            connection.recv(1000)
            self.selector.register(connection, selectors.EVENT_READ)
        self.ends = False
        self.thread = threading.Thread(target=self.drain)
        self.thread.start()

    def drain(self):
        while not self.ends:
            for key, _ in self.selector.select(0.1):
                key.fileobj.recv(1 << 18)

    def close(self):
        self.ends = True
        self.thread.join()
        for connection in self.sockets:
            connection.close()
