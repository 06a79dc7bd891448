"""redis-server as a replica of `redouble serve`."""

import random
import re
import time
import unittest

from served import Redis, Served, reserve_port

# A load with everything that is propagated in other words than it was sent.
SCRIPT = "redis.call('INCR', KEYS[1]) return redis.call('SPOP', KEYS[2])"


class ReplicationTest(unittest.TestCase):
    def setUp(self):
        keeper = reserve_port()
        self.addCleanup(keeper.close)
        self.port = str(keeper.getsockname()[1])
        self.master = Served("--port", self.port, "--enable-debug-command", "local")
        self.addCleanup(self.master.stop)

    def follow(self, *options):
        replica = Redis("--replicaof", "127.0.0.1", self.port, "--enable-debug-command", "local",
                        "--repl-diskless-load", "disabled", *options)
        self.addCleanup(replica.stop)
        self.wait_for(lambda: "master_link_status:up" in replica.cli("INFO", "replication"))
        return replica

    def wait_for(self, condition):
        for _ in range(400):
            if condition():
                return
            time.sleep(0.05)
        self.fail("it has not happened")

    def field(self, server, name):
        return re.search(name + r":(\S*)", server.cli("INFO", "everything")).group(1)

    def load(self, seed):
        """Random commands, in transactions too."""
        draw = random.Random(seed)
        wire = self.master.wire()
        for number in range(500):
            key = "k%d" % draw.randrange(20)
            command = draw.choice([
                ("SET", "s" + key, number), ("SET", "t" + key, number, "PX", draw.randrange(1, 400)),
                ("RPUSH", "l" + key, number), ("LPOP", "l" + key), ("SADD", "u" + key, number),
                ("SPOP", "u" + key), ("HINCRBYFLOAT", "h" + key, "f", "0.1"), ("INCRBYFLOAT", "i" + key, "1.5"),
                ("ZADD", "z" + key, number, number), ("ZPOPMIN", "z" + key), ("XADD", "x" + key, "*", "f", number),
                ("XTRIM", "x" + key, "MAXLEN", "~", "10"), ("GETEX", "s" + key, "EX", "1000"),
                ("EVAL", SCRIPT, "2", "n" + key, "u" + key), ("SELECT", draw.randrange(4)),
                ("EXPIRE", "s" + key, "-1"), ("RENAME", "s" + key, "r" + key), ("FLUSHDB",) if number == 250 else ("PING",)])
            in_transaction = draw.randrange(10) == 0
            if in_transaction:
                wire.ask("MULTI")
            wire.ask(*command)
            if in_transaction:
                wire.ask("INCR", "transactions")
                wire.ask("EXEC")
        time.sleep(0.5)  # Until the keys with short deadlines have expired.
        return wire

    def assert_equal_keys(self, replica, wire):
        wire.ask("SET", "last", "1")
        self.assertEqual(wire.plain("WAIT", "1", "10000"), 1)
        self.assertEqual(self.master.cli("DEBUG", "DIGEST"), replica.cli("DEBUG", "DIGEST"))

    def test_a_replica_gets_all_keys_and_then_every_change(self):
        self.load(1)
        replica = self.follow()
        for seed in (2, 3, 4):
            self.assert_equal_keys(replica, self.load(seed))
        self.assertEqual(self.field(self.master, "connected_slaves"), "1")
        self.assertIn("state=online", self.master.cli("INFO", "replication"))
        self.assertEqual(self.master.wire().plain("ROLE")[0], "master")
        self.assertEqual(self.master.wire().plain("ROLE")[2][0][0], "127.0.0.1")
        self.assertEqual(self.field(self.master, "master_replid"), self.field(replica, "master_replid"))
        self.assertEqual(self.field(self.master, "sync_full"), "1")

    def test_a_replica_that_comes_back_gets_what_it_lacks(self):
        replica = self.follow()
        self.load(5)
        for seed in (6, 7):
            replica.cli("CLIENT", "KILL", "TYPE", "master")
            wire = self.load(seed)
            self.wait_for(lambda: "master_link_status:up" in replica.cli("INFO", "replication"))
            self.assert_equal_keys(replica, wire)
        self.assertEqual(self.field(self.master, "sync_full"), "1")
        self.assertEqual(self.field(self.master, "sync_partial_ok"), "2")

    def test_a_replica_that_lacks_too_much_gets_all_keys(self):
        self.master.cli("CONFIG", "SET", "repl-backlog-size", "16kb")
        replica = self.follow()
        replica.cli("REPLICAOF", "127.0.0.1", "1")
        wire = self.load(8)
        for number in range(100):
            wire.ask("SET", "large", "x" * 1000)
        replica.cli("REPLICAOF", "127.0.0.1", self.port)
        self.wait_for(lambda: "master_link_status:up" in replica.cli("INFO", "replication"))
        self.assert_equal_keys(replica, wire)
        self.assertEqual(self.field(self.master, "sync_full"), "2")

    def test_wait_counts_the_replicas(self):
        wire = self.master.wire()
        self.assertEqual(wire.plain("WAIT", "0", "0"), 0)
        self.assertEqual(wire.plain("WAIT", "1", "20"), 0)
        first = self.follow()
        second = self.follow()
        wire.ask("SET", "a", "1")
        self.assertEqual(wire.plain("WAIT", "2", "10000"), 2)
        self.assertEqual(wire.plain("WAIT", "3", "2000"), 2)
        first.stop()
        self.wait_for(lambda: self.field(self.master, "connected_slaves") == "1")
        wire.ask("SET", "a", "2")
        self.assertEqual(wire.plain("WAIT", "1", "10000"), 1)
        self.assertEqual(second.cli("GET", "a"), "2\n")

    def test_a_replica_can_take_over(self):
        replica = self.follow()
        wire = self.load(9)
        self.assert_equal_keys(replica, wire)
        digest = replica.cli("DEBUG", "DIGEST")
        self.master.stop()
        replica.cli("REPLICAOF", "NO", "ONE")
        self.assertEqual(replica.cli("DEBUG", "DIGEST"), digest)
        self.assertEqual(replica.cli("SET", "own", "1"), "OK\n")

    def test_redis_cli_copies_the_keys(self):
        self.load(10)
        path = self.master.folder + "/copy.rdb"
        self.master.run("redis-cli", "-p", self.port, "--rdb", path)
        self.master.run("redis-check-rdb", path)


if __name__ == "__main__":
    unittest.main()
