"""MIGRATE between `redouble serve` and redis-server, and to targets that fail.

Each test runs with both programs in both roles; two redis-servers are the judge.
"""

import random
import re
import socket
import threading
import unittest

from replicated import ReplicatedTestCase
from wire import Wire, plain

SOURCES = ("redis", "redouble")  # The first is the judge.
HOST = "127.0.0.1"
LONG = "60000"  # No test waits so long.
SHORT = "100"  # For what never happens.
UNHURRIED = "2000"  # The same, after something that does happen.

# What a target does instead of a reply.
CLOSE = object()
SILENCE = object()

# Every type, in each of its encodings.
VALUES = [
    ("SET", "number", "12345"), ("SET", "text", "hello"), ("SET", "large", "xyz" * 100000),
    ("RPUSH", "list", "a", "b", "c"), ("RPUSH", "long list", *range(20000)),
    ("SADD", "numbers", 1, 2, 3), ("SADD", "set", "a", "b"), ("SADD", "large set", *("m%d" % n for n in range(1000))),
    ("HSET", "hash", "f", "v", "g", "w"), ("HSET", "large hash", "f", "x" * 100, "g", "y"),
    ("ZADD", "scores", "1.5", "a", "-inf", "b"), ("ZADD", "large scores", *(n for m in range(200) for n in (m, m))),
    ("XADD", "stream", "1-1", "f", "v"), ("XGROUP", "CREATE", "stream", "g", "0"),
    ("XREADGROUP", "GROUP", "g", "c", "STREAMS", "stream", ">"), ("PFADD", "counted", "a", "b", "c")]


class Target:
    """A target whose connections do what their scripts say.

    A script has a line for each command that the connection receives; CLOSE and SILENCE end it. A connection
    without a script reads nothing."""

    def __init__(self, *scripts, address=(HOST, 0), family=socket.AF_INET):
        self.scripts = list(scripts)
        self.connections = []  # The commands of each.
        self.done = []
        self.sockets = []
        self.listener = socket.create_server(address, family=family)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.port = str(self.listener.getsockname()[1])
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.sockets.append(connection)
            if not self.scripts:
                continue
            done = threading.Event()
            commands = []
            self.done.append(done)
            self.connections.append(commands)
            threading.Thread(target=self.serve, args=(connection, self.scripts.pop(0), commands, done),
                             daemon=True).start()

    @staticmethod
    def serve(connection, script, commands, done):
        wire = Wire(connection)
        try:
            for line in script:
                words = plain(wire.read())
                if words[0].startswith("RESTORE"):
                    words[3] = "<payload>"
                commands.append(words)
                if line is CLOSE:
                    break
                if line is SILENCE:
                    wire.file.read()
                    break
                connection.sendall(line.encode() + b"\r\n")
            else:
                done.set()
                return
        except (ConnectionError, ValueError):
            pass
        wire.close()
        done.set()

    def commands(self):
        """Those of each connection, once each has got as far as it gets."""
        for done in self.done:
            if not done.wait(20):
                raise AssertionError("a connection has not ended")
        return self.connections

    def close(self):
        try:
            self.listener.shutdown(socket.SHUT_RDWR)  # Wakes accept().
        except OSError:
            pass
        self.listener.close()
        for connection in self.sockets:
            connection.close()


class MigrateTest(ReplicatedTestCase):
    def target(self, *scripts, **place):
        target = Target(*scripts, **place)
        self.addCleanup(target.close)
        return target

    def for_both(self, run):
        """Runs with each program as the source, and compares what it returns."""
        theirs, ours = (run(kind) for kind in SOURCES)
        self.assertEqual(ours, theirs)
        return ours

    def pair(self, source_kind, target_kind, *target_options):
        source = self.start(source_kind)
        target = self.start(target_kind, *target_options)
        self.move = lambda *words: source.wire().plain("MIGRATE", HOST, target.port, *words)
        return source, target, source.wire(), target.wire()

    def digests(self, *servers):
        return [server.cli("-n", number, "DEBUG", "DIGEST") for server in servers for number in ("0", "9")]

    def test_a_value_of_each_type_arrives(self):
        def run(source_kind, target_kind):
            source, target, here, there = self.pair(source_kind, target_kind)
            for words in VALUES:
                here.ask(*words)
            before = source.cli("DEBUG", "DIGEST")
            keys = sorted(here.plain("KEYS", "*"))
            half = len(keys) // 2
            replies = [self.move(key, "0", LONG) for key in keys[:half]]
            replies.append(self.move("", "0", LONG, "KEYS", *keys[half:]))
            self.assertEqual(target.cli("DEBUG", "DIGEST"), before)
            return replies, here.plain("KEYS", "*"), there.plain("XINFO", "GROUPS", "stream")

        self.for_each_pair(run)

    def test_options(self):
        def run(source_kind, target_kind):
            source, target, here, there = self.pair(source_kind, target_kind)
            results = []

            def move(*words):
                reply = self.move(*words)
                lookups = self.field(source, "keyspace_hits"), self.field(source, "keyspace_misses")
                results.append((reply, lookups, sorted(here.plain("KEYS", "*")), sorted(there.plain("KEYS", "*")),
                                there.plain("GET", "a"), self.digests(source, target)))

            here.ask("MSET", "a", "1", "b", "2", "c", "3")
            move("a", "0", LONG, "COPY")
            move("a", "0", LONG, "COPY")
            here.ask("SET", "a", "changed")
            move("a", "0", LONG, "copy", "Replace")
            move("a", "0", LONG)
            move("a", "0", LONG, "REPLACE")
            move("a", "0", LONG)
            move("", "0", LONG, "COPY", "KEYS", "none", "b", "absent", "c")
            move("", "0", LONG, "KEYS", "b", "none", "c")
            move("", "0", LONG, "KEYS", "none", "absent")
            move("", "0", LONG, "REPLACE", "KEYS", "b", "b", "c")
            here.ask("MSET", "x", "1", "y", "2")
            move("", "0", LONG, "KEYS", "x", "x")
            move("y", "9", LONG)
            here.ask("SELECT", "9")
            here.ask("SET", "z", "1")
            here.ask("SELECT", "0")
            move("z", "9", LONG)
            here.ask("MSET", "v", "1", "", "empty", "w", "2")
            for database in ("16", "-1", "99999999999", "9223372036854775807", "x"):
                move("v", database, LONG)
            move("", "0", LONG)
            move("w", "0", "0", "REPLACE")
            return results

        self.for_each_pair(run)

    def test_the_remaining_time_arrives(self):
        def run(source_kind, target_kind):
            _, _, here, there = self.pair(source_kind, target_kind)
            here.ask("SET", "a", "1", "PX", "100000000")
            here.ask("SET", "b", "1")
            here.ask("SET", "c", "1", "PX", "1")
            self.wait_for(lambda: here.plain("EXISTS", "c") == 0)
            replies = [self.move("", "0", LONG, "KEYS", "a", "b", "c"), self.move("c", "0", LONG)]
            left = there.plain("PTTL", "a")
            self.assertTrue(90000000 < left <= 100000000, left)
            return replies, there.plain("PTTL", "b"), there.plain("EXISTS", "c")

        self.for_each_pair(run)

    def test_passwords(self):
        def run(source_kind, target_kind):
            _, _, here, there = self.pair(source_kind, target_kind, "--requirepass", "right")
            there.ask("AUTH", "right")
            there.ask("ACL", "SETUSER", "ann", "on", ">hers", "~a*", "+@all")
            there.ask("ACL", "SETUSER", "bob", "on", ">his", "~*", "+select", "+auth")
            here.ask("MSET", "a", "1", "b", "2", "a2", "3")
            replies = []
            for words in (
                    (), ("AUTH", "wrong"), ("AUTH2", "ann", "wrong"), ("AUTH2", "nobody", "hers"),
                    ("AUTH2", "bob", "his"), ("AUTH2", "ann", "hers")):
                replies.append(self.move("", "0", LONG, *words, "KEYS", "a", "b"))
                replies.append(sorted(here.plain("KEYS", "*")))
            # The connection stays authenticated.
            replies.append(self.move("a2", "0", LONG))
            replies.append(self.move("b", "0", LONG, "AUTH", "right"))
            return replies, sorted(there.plain("KEYS", "*"))

        self.for_each_pair(run)

    def test_a_busy_target_refuses(self):
        def run(source_kind, target_kind):
            _, target, here, there = self.pair(source_kind, target_kind)
            here.ask("MSET", "a", "1", "b", "2")
            there.ask("CONFIG", "SET", "busy-reply-threshold", "1")
            there.send("EVAL", "while true do end", "0")
            observer = target.wire()
            self.wait_for(lambda: "BUSY" in str(observer.plain("PING")))
            reply = self.move("", "0", LONG, "KEYS", "a", "b")
            observer.ask("SCRIPT", "KILL")
            there.read()
            return reply, here.plain("DBSIZE"), self.move("", "0", LONG, "KEYS", "a", "b"), there.plain("DBSIZE")

        self.for_each_pair(run)

    def test_connections_are_kept(self):
        def run(source_kind, target_kind):
            source, target, here, there = self.pair(source_kind, target_kind)
            sockets = [self.field(source, "migrate_cached_sockets")]
            here.ask("MSET", "a", "1", "b", "2", "c", "3", "d", "4")
            before = int(self.field(target, "total_connections_received"))
            replies = [self.move("a", "0", LONG), self.move("b", "0", LONG)]
            sockets.append(self.field(source, "migrate_cached_sockets"))
            made = [int(self.field(target, "total_connections_received")) - before]
            # The target closes it: the next MIGRATE opens another one.
            there.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            replies.append(self.move("c", "0", LONG))
            replies.append(self.move("a", "0", LONG))
            sockets.append(self.field(source, "migrate_cached_sockets"))
            return sockets, made, replies, here.plain("KEYS", "*"), sorted(there.plain("KEYS", "*"))

        self.for_each_pair(run)

    def test_transactions_scripts_and_statistics(self):
        def run(source_kind, target_kind):
            source, target, here, _ = self.pair(source_kind, target_kind)
            here.ask("MSET", "a", "1", "b", "2", "c", "3", "d", "4")
            words = (HOST, target.port)
            replies = [here.plain("MULTI"), here.plain("MIGRATE", *words, "a", "0", LONG), here.plain("DBSIZE"),
                       here.plain("EXEC")]
            script = "return redis.pcall('MIGRATE', ARGV[1], ARGV[2], KEYS[1], '0', ARGV[3])"
            replies += [here.plain("EVAL", script, "1", key, *words, LONG) for key in ("b", "b", "c")]
            here.ask("SET", "b", "again")
            replies.append(here.plain("EVAL", script, "1", "b", *words, LONG))
            replies.append(here.plain("MIGRATE", HOST, "1", "d", "0", LONG))
            stats = source.cli("INFO", "errorstats") + source.cli("INFO", "commandstats")
            calls = re.findall(r"errorstat.*|(cmdstat_migrate:calls=\d+),.*(rejected_calls=.*)", stats)
            return replies, calls, self.field(source, "total_error_replies")

        self.for_each_pair(run)

    def test_replicas_and_watchers_see_deletions(self):
        def run(kind):
            source = self.start(kind)
            replica = self.start_replica("redis", source)
            target = self.target(["+OK", "-BUSYKEY no", "+OK", "+OK", "+OK", "+OK", "+OK"])
            here = source.wire()
            here.ask("MSET", "a", "1", "b", "2", "c", "3", "d", "4")
            here.ask("CONFIG", "SET", "notify-keyspace-events", "KEA")
            self.assertEqual(here.plain("WAIT", "1", LONG), 1)
            monitor, events = replica.wire(), source.wire()
            monitor.ask("MONITOR")
            events.ask("PSUBSCRIBE", "__keyevent@*")
            move = ("MIGRATE", HOST, target.port, "", "0", LONG)
            replies = [here.plain(*move, "KEYS", "a", "b", "c", "none"),
                       here.plain(*move, "COPY", "KEYS", "a")]
            here.ask("MULTI")
            here.ask(*move, "KEYS", "a")
            here.ask("SET", "last", "1")
            replies.append(here.plain("EXEC"))
            seen, lines = [], []
            while not seen or seen[-1][-1] != "last":
                seen.append(plain(events.read()))
            while not lines or '"EXEC"' not in lines[-1].upper():
                line = re.sub(r"^[0-9.]+ \[\d+ [^]]*\] ", "", monitor.read()[1])
                if not re.match(r'(?i)"(PING|REPLCONF)"', line):
                    lines.append(line)
            return replies, seen, lines

        self.for_both(run)

    def test_targets_that_fail(self):
        """Breaks and silences at each place: the replies, what is sent, and what remains."""
        ok = "+OK"
        busy = "-BUSYKEY Target key name already exists."
        cases = [
            # Before the first key is answered, another connection is tried, but only one.
            [[CLOSE], [ok, ok, ok, ok]],
            [[ok, CLOSE], [ok, ok, ok, ok]],
            [[ok, ok, CLOSE], [ok, ok, ok, ok]],
            [[ok, ok, CLOSE], [ok, CLOSE]],
            [[CLOSE], [ok, ok, ok, CLOSE]],
            # Afterwards it is too late.
            [[ok, ok, ok, CLOSE]],
            [[ok, ok, busy, CLOSE]],
            [[ok, "-WRONGPASS no", CLOSE], [ok, ok, ok, ok]],
            # Silence is not tried again.
            [[SILENCE]],
            [[ok, SILENCE]],
            [[ok, ok, SILENCE]],
            [[ok, ok, ok, SILENCE]],
            [[ok, ok, busy, SILENCE]],
            # Errors of the target.
            [[ok, ok, busy, ok]],
            [[ok, ok, ok, busy]],
            [["-WRONGPASS no", "-NOAUTH no", "-NOAUTH no", "-NOAUTH no"]],
            [["-WRONGPASS no", ok, ok, ok]],
            [[ok, "-ERR no database", ok, "-ERR key"]],
            [[ok, ok, "-", "-ERR second"]],
            [[ok, ok, "-ERR a\rb", ok]],
            [[ok, ok, "-ERR " + "x" * 2000, ok]],
            # What is no reply of RESTORE.
            [["hello", "$-1", "*0", ":1"]],
            [["", "", "", ""]],
            [[ok, ok, ok + "\n\n", ok]],
        ]
        sources = {kind: self.start(kind) for kind in SOURCES}
        for number, scripts in enumerate(cases):
            def run(kind):
                target = self.target(*scripts)
                wire = sources[kind].wire()
                wire.ask("FLUSHALL")
                wire.ask("MSET", "a", "1", "b", "2")
                silent = [script for script in scripts if SILENCE in script]
                timeout = (SHORT if silent[0][0] is SILENCE else UNHURRIED) if silent else LONG
                reply = wire.plain("MIGRATE", HOST, target.port, "", "3", timeout, "AUTH", "p", "KEYS", "a", "b")
                commands = target.commands()
                keys = sorted(wire.plain("KEYS", "*"))
                wire.close()
                target.close()
                return reply, keys, commands

            with self.subTest(case=number):
                self.for_both(run)

    def test_targets_that_are_not_reached(self):
        def run(kind):
            source = self.start(kind)
            wire = source.wire()
            # More than the buffers of a connection hold; random, so that the payload is no smaller.
            wire.ask("SET", "k", random.Random(1).randbytes(30000000))
            refusing = self.target()
            refusing.close()
            deaf = self.target()
            replies = [
                wire.plain("MIGRATE", HOST, refusing.port, "k", "0", LONG),
                wire.plain("MIGRATE", "localhost", refusing.port, "k", "0", LONG),
                wire.plain("MIGRATE", "no such host", "1", "k", "0", LONG),
                wire.plain("MIGRATE", "", "1", "k", "0", LONG),
                wire.plain("MIGRATE", HOST, "-1", "k", "0", LONG),
                # It takes a part of the value, and then no more.
                wire.plain("MIGRATE", HOST, deaf.port, "k", "0", SHORT, "COPY"),
                wire.plain("MIGRATE", HOST, deaf.port, "k", "0", SHORT),
                wire.plain("STRLEN", "k"), self.field(source, "migrate_cached_sockets")]
            return replies

        self.for_both(run)

    def test_addresses_of_both_families(self):
        def run(kind):
            wire = self.start(kind).wire()
            replies = []
            for host, family in ((HOST, socket.AF_INET), ("::1", socket.AF_INET6)):
                target = self.target(["+OK", "+OK"], address=(host, 0), family=family)
                wire.ask("SET", "k", "v")
                replies.append((wire.plain("MIGRATE", host, target.port, "k", "0", LONG), target.commands()))
            return replies

        self.for_both(run)

    def test_a_server_waits_for_itself_in_vain(self):
        def run(kind):
            source = self.start(kind)
            wire = source.wire()
            wire.ask("SET", "k", "v")
            reply = wire.plain("MIGRATE", HOST, source.port, "k", "9", SHORT)
            # What was sent is executed afterwards.
            self.wait_for(lambda: source.cli("-n", "9", "GET", "k") == "v\n")
            return reply, wire.plain("GET", "k")

        self.for_both(run)

    def test_a_cluster_asks(self):
        def run(kind):
            if kind == "redis":
                source = self.start(kind, "--cluster-enabled", "yes")
                source.cli("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
                self.wait_for(lambda: "cluster_state:ok" in source.cli("CLUSTER", "INFO"))
            else:
                source = self.start(kind, "--cluster-slots")
            target = self.target(["+OK", "-MOVED 1 127.0.0.1:7000"], )
            wire = source.wire()
            wire.ask("SET", "k", "v")
            return wire.plain("MIGRATE", HOST, target.port, "k", "0", LONG, "REPLACE"), target.commands()

        self.for_both(run)

    def test_with_a_manual_clock_the_timeout_is_real(self):
        source = self.start("redouble", "--clock", "manual")
        silent = self.target([SILENCE])
        target = self.start("redis")
        wire = source.wire()
        wire.ask("SET", "k", "v", "PX", "100000000")
        self.assertEqual(wire.plain("MIGRATE", HOST, silent.port, "k", "0", SHORT),
                         "IOERR error or timeout reading to target instance")
        self.assertEqual(wire.plain("MIGRATE", HOST, target.port, "k", "0", LONG), "OK")
        self.assertEqual(silent.commands(), [[["SELECT", "0"]]])
        self.assertEqual(target.cli("GET", "k"), "v\n")
        self.assertLessEqual(90000000, int(target.cli("PTTL", "k")))


if __name__ == "__main__":
    unittest.main()
