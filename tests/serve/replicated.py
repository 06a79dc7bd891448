"""Masters and replicas, for tests: redis-server and `redouble serve` in both roles."""

import random
import re
import socket
import threading
import time
import unittest

from served import Redis, Served, reserve_port
from wire import Wire

KINDS = {"redis": Redis, "redouble": Served}
# (master, replica); the first pair is the judge of the others.
PAIRS = [("redis", "redis"), ("redis", "redouble"), ("redouble", "redis"), ("redouble", "redouble")]

# A load with everything that is propagated in other words than it was sent.
SCRIPT = "redis.call('INCR', KEYS[1]) return redis.call('SPOP', KEYS[2])"


def words_of(reply):
    """A ROLE without offsets and ports."""
    return [words_of(part) if isinstance(part, list) else "#" if str(part).lstrip("-").isdigit() else part
            for part in reply]


class Proxy:
    """Passes bytes between a replica and its master, and closes the connection when the master has sent so
    many of them. It takes a new limit for each connection; after the last one there is none.

    Between hold() and release() it keeps back what the master sends, of new connections too: neither side
    notices, until one of them has waited for too long."""

    def __init__(self, port, limits=()):
        self.port, self.limits = int(port), list(limits)
        self.passes = threading.Event()
        self.passes.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = str(self.listener.getsockname()[1])
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                replica, _ = self.listener.accept()
            except OSError:
                return
            try:
                master = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                replica.close()
                continue
            limits = self.limits  # A test may set others.
            limit = limits.pop(0) if limits else None
            for source, target, most in ((replica, master, None), (master, replica, limit)):
                threading.Thread(target=self.carry, args=(source, target, most, source is master),
                                 daemon=True).start()

    def carry(self, source, target, limit, is_of_master):
        carried = 0
        try:
            while limit is None or carried < limit:
                data = source.recv(1 << 16 if limit is None else min(1 << 16, limit - carried))
                if not data:
                    break
                if is_of_master:
                    self.passes.wait()
                target.sendall(data)
                carried += len(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def hold(self):
        self.passes.clear()

    def release(self):
        self.passes.set()

    def close(self):
        self.listener.close()
        self.release()


class FakeReplica:
    """A connection that takes all keys as a file, and acknowledges what a test says."""

    def __init__(self, server):
        self.wire = Wire(server.open())
        self.wire.ask("REPLCONF", "listening-port", "7777", "ip-address", "10.0.0.1")
        self.wire.send("PSYNC", "?", "-1")
        size = self.line()
        while not size.startswith("$"):  # After FULLRESYNC, and empty lines.
            size = self.line()
        self.file = self.wire.file.read(int(size[1:]))

    def line(self):
        return self.wire.file.readline().decode().strip()

    def acknowledge(self, offset):
        self.wire.send("REPLCONF", "ACK", offset)


class ReplicatedTestCase(unittest.TestCase):
    def for_each_pair(self, run):
        """Runs with each pair, and compares what it returns with that of two redis-servers."""
        self.for_each([{"master": master, "replica": replica} for master, replica in PAIRS], run)

    def for_each_kind(self, run):
        """Runs with each kind of server, and compares what it returns with that of redis-server."""
        self.for_each([{"kind": kind} for kind in KINDS], run)

    def for_each(self, cases, run):
        expected = None
        for case in cases:
            with self.subTest(**case):
                result = run(*case.values())
                expected = expected or result
                self.assertEqual(result, expected)

    def start(self, kind, *options, port=None):
        """A server with a TCP port, which `server.port` has."""
        if port is None:
            keeper = reserve_port()
            self.addCleanup(keeper.close)
            port = str(keeper.getsockname()[1])
        if kind == "redis":
            # At its other addresses the port may be that of any connection of this machine.
            options = ("--bind", "127.0.0.1", *options)
        server = KINDS[kind]("--port", port, "--enable-debug-command", "local", *options)
        server.port = port
        server.log = []
        # A full pipe would stop it.
        threading.Thread(target=self.read_all, args=(server.process.stdout, server.log), daemon=True).start()
        self.addCleanup(server.stop)
        server.cli("CONFIG", "SET", "repl-diskless-sync-delay", "0")
        return server

    @staticmethod
    def read_all(lines, log):
        try:
            log.extend(lines)
        except ValueError:
            pass  # Closed.

    def logged(self, server, *texts):
        """The texts of the log's lines that have one of these, without numbers that differ in each run."""
        # Redis's lines about signals have no date.
        head = re.compile(r"^\d+:\S+ (?:\d+ \w+ \d+ [\d:.]+ [-.*#]|\(\d+\)) ")
        lines = [head.sub("", line).strip() for line in server.log if any(text in line for text in texts)]
        return [re.sub(r"\b(pid|id=|#|lag=|:)\d+", r"\1N", line) for line in lines]

    def wait_for_log(self, server, text):
        self.wait_for(lambda: any(text in line for line in server.log))

    def proxy(self, master, limits=()):
        proxy = Proxy(master.port, limits)
        self.addCleanup(proxy.close)
        return proxy

    def start_replica(self, kind, master, *options):
        """Of a server, or of a port."""
        replica = self.start(kind, "--replicaof", "127.0.0.1", getattr(master, "port", master), *options)
        self.wait_for_link(replica)
        return replica

    def wait_for(self, condition):
        for _ in range(400):
            if condition():
                return
            time.sleep(0.05)
        self.fail("it has not happened")

    def wait_for_link(self, replica):
        self.wait_for(lambda: "master_link_status:up" in replica.cli("INFO", "replication"))

    def field(self, server, name):
        return re.search(name + r":(\S*)", server.cli("INFO", "everything")).group(1)

    def load(self, server, seed, count=500):
        """Runs random commands, in transactions too. Returns the connection."""
        draw = random.Random(seed)
        wire = server.wire()
        for number in range(count):
            key = "k%d" % draw.randrange(20)
            command = draw.choice([
                ("SET", "s" + key, number), ("SET", "t" + key, number, "PX", draw.randrange(1, 400)),
                ("RPUSH", "l" + key, number), ("LPOP", "l" + key), ("SADD", "u" + key, number),
                ("SPOP", "u" + key), ("HINCRBYFLOAT", "h" + key, "f", "0.1"), ("INCRBYFLOAT", "i" + key, "1.5"),
                ("ZADD", "z" + key, number, number), ("ZPOPMIN", "z" + key), ("XADD", "x" + key, "*", "f", number),
                ("XTRIM", "x" + key, "MAXLEN", "~", "10"), ("GETEX", "s" + key, "EX", "1000"),
                ("EVAL", SCRIPT, "2", "n" + key, "u" + key), ("SELECT", draw.randrange(4)),
                ("EXPIRE", "s" + key, "-1"), ("RENAME", "s" + key, "r" + key),
                ("FLUSHDB",) if number == 250 else ("PING",)])
            in_transaction = draw.randrange(10) == 0
            if in_transaction:
                wire.ask("MULTI")
            wire.ask(*command)
            if in_transaction:
                wire.ask("INCR", "transactions")
                wire.ask("EXEC")
        time.sleep(0.5)  # Until the keys with short deadlines have expired.
        return wire

    def assert_equal_keys(self, master, replica, wire=None):
        """Waits until the replica has everything."""
        wire = wire or master.wire()
        wire.ask("SET", "last", "1")
        self.assertGreaterEqual(wire.plain("WAIT", "1", "10000"), 1)
        self.wait_for(lambda: self.field(master, "master_repl_offset") == self.field(replica, "master_repl_offset"))
        self.assertEqual(master.cli("DEBUG", "DIGEST"), replica.cli("DEBUG", "DIGEST"))
