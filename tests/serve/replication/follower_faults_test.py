"""Replicas whose link, master or file of keys is lost at any byte."""

import random
import re
import shutil
import signal
import tempfile
import unittest

from replicated import KINDS, PAIRS, ReplicatedTestCase, words_of

# The replica is the one that is tested.
FOLLOWERS = [pair for pair in PAIRS if pair[1] == "redouble"]


class FollowerFaultsTest(ReplicatedTestCase):
    def test_the_link_is_cut_at_any_byte(self):
        for master_kind, replica_kind in PAIRS[1:]:
            with self.subTest(master=master_kind, replica=replica_kind):
                draw = random.Random(7)
                master = self.start(master_kind)
                self.load(master, 1, count=50)
                # The first cuts are in the handshake and the file of keys, later ones in the stream.
                proxy = self.proxy(master, [draw.randrange(1, 3000) for _ in range(6)] + [20000] +
                                   [draw.randrange(1, 3000) for _ in range(6)])
                replica = self.start(replica_kind, "--replicaof", "127.0.0.1", proxy.address)
                for seed in range(2, 100):
                    wire = self.load(master, seed, count=150)
                    if not proxy.limits:
                        break
                self.wait_for_link(replica)
                self.assert_equal_keys(master, replica, wire)
                self.assertGreater(int(self.field(master, "sync_partial_ok")), 0)

    def test_a_file_of_keys_that_is_cut_changes_nothing(self):
        for master_kind, replica_kind in FOLLOWERS:
            with self.subTest(master=master_kind):
                master = self.start(master_kind)
                for number in range(100):
                    master.cli("SET", "k%d" % number, "x" * 200)
                proxy = self.proxy(master, [1000, 2000] * 1000)
                replica = self.start(replica_kind)
                replica.cli("SET", "own", "1")
                replica.cli("REPLICAOF", "127.0.0.1", proxy.address)
                # The third connection comes after two that were cut.
                self.wait_for(lambda: len(proxy.limits) <= 2 * 1000 - 3)
                self.assertEqual(replica.cli("GET", "own"), "1\n")
                proxy.limits = []
                self.wait_for_link(replica)
                self.assert_equal_keys(master, replica)
                self.assertEqual(replica.cli("EXISTS", "own"), "0\n")

    def test_the_master_is_killed(self):
        for master_kind, replica_kind in FOLLOWERS:
            with self.subTest(master=master_kind):
                master = self.start(master_kind)
                replica = self.start_replica(replica_kind, master)
                wire = self.load(master, 3, count=100)
                self.assert_equal_keys(master, replica, wire)
                digest = replica.cli("DEBUG", "DIGEST")
                master.stop(signal.SIGKILL)
                self.wait_for(lambda: self.field(replica, "master_link_status") == "down")
                self.assertEqual(replica.cli("DEBUG", "DIGEST"), digest)
                self.assertEqual(replica.wire().plain("ROLE")[3:], ["connect", -1])
                # It comes back without its keys, and under another name.
                master = self.start(master_kind, port=master.port)
                self.wait_for_link(replica)
                self.assert_equal_keys(master, replica)
                self.assertEqual(replica.cli("DBSIZE"), "1\n")

    def test_the_replica_is_killed(self):
        for master_kind, replica_kind in FOLLOWERS:
            with self.subTest(master=master_kind):
                master = self.start(master_kind)
                replica = self.start_replica(replica_kind, master)
                replica.stop(signal.SIGKILL)
                wire = self.load(master, 4, count=100)
                replica = self.start_replica(replica_kind, master)
                self.assert_equal_keys(master, replica, wire)

    def test_the_connection_to_the_master_is_killed(self):
        for master_kind, replica_kind in FOLLOWERS:
            with self.subTest(master=master_kind):
                master = self.start(master_kind)
                replica = self.start_replica(replica_kind, master)
                for seed in (5, 6):
                    self.assertEqual(replica.cli("CLIENT", "KILL", "TYPE", "master"), "1\n")
                    wire = self.load(master, seed, count=100)
                    self.wait_for_link(replica)
                    self.assert_equal_keys(master, replica, wire)
                self.assertEqual(self.field(master, "sync_full"), "1")
                self.assertEqual(self.field(master, "sync_partial_ok"), "2")

    def test_keys_that_may_be_stale(self):
        expected = None
        for master_kind, replica_kind in PAIRS:
            with self.subTest(master=master_kind, replica=replica_kind):
                master = self.start(master_kind)
                replica = self.start_replica(replica_kind, master, "--replica-serve-stale-data", "no") \
                    if replica_kind == "redis" else self.start_replica(replica_kind, master)
                replica.cli("CONFIG", "SET", "replica-serve-stale-data", "no")
                said = [replica.cli("GET", "a")]
                master.stop(signal.SIGKILL)
                self.wait_for(lambda: self.field(replica, "master_link_status") == "down")
                wire = replica.wire()
                for command in (("GET", "a"), ("SET", "a", "1"), ("PING",), ("MULTI",), ("GET", "a"), ("EXEC",),
                                ("EVAL", "return redis.call('GET', 'a')", "0"), ("EVAL", "return 1", "0"),
                                ("EVAL", "#!lua flags=no-writes\nreturn 1", "0"), ("CLIENT", "ID"),
                                ("EVAL", "#!lua flags=no-writes,allow-stale\nreturn 1", "0"), ("ECHO", "a"),
                                ("PSYNC", "?", "-1"), ("SYNC",)):
                    said.append((command[0], wire.plain(*command) if command[0] != "CLIENT" else None))
                replica.cli("REPLICAOF", "NO", "ONE")
                said.append(replica.cli("GET", "a"))
                expected = expected or said
                self.assertEqual(said, expected)

    @staticmethod
    def hold_before_persist(proxy, wire):
        """Holds the link, so that the replica does not know that the key `kept` has no deadline any more."""
        ttl_ms = 250
        persisted = 0
        while not persisted:  # The deadline may pass on a busy machine.
            ttl_ms *= 2
            proxy.release()
            wire.plain("SET", "kept", "1", "PX", ttl_ms)
            wire.plain("WAIT", "1", "10000")
            proxy.hold()
            persisted = wire.plain("PERSIST", "kept")

    def test_a_replica_whose_link_is_held_shows_old_values(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            proxy = self.proxy(master)
            replica = self.start_replica(replica_kind, proxy.address)
            wire = master.wire()
            wire.ask("MSET", "a", "old", "deleted", "1")
            self.assert_equal_keys(master, replica, wire)
            self.hold_before_persist(proxy, wire)
            said = [wire.plain(*words) for words in (("SET", "a", "new"), ("DEL", "deleted"), ("WAIT", "0", "10"),
                                                     ("WAIT", "1", "100"))]
            said += [replica.cli(*words) for words in (("GET", "a"), ("EXISTS", "deleted"))]
            self.wait_for(lambda: replica.cli("EXISTS", "kept") == "0\n")
            said.append(master.cli("EXISTS", "kept"))
            # Neither side has noticed anything.
            said += [self.field(replica, "master_link_status"), self.field(master, "connected_slaves"),
                     words_of(replica.wire().plain("ROLE")), master.wire().plain("ROLE")[0]]
            offset = re.search(r"slave0:.*,offset=(\d+)", master.cli("INFO", "replication")).group(1)
            self.assertLess(int(offset), int(self.field(master, "master_repl_offset")))
            proxy.release()
            said.append(wire.plain("WAIT", "1", "10000"))
            said += [replica.cli(*words) for words in (("GET", "a"), ("EXISTS", "deleted"), ("GET", "kept"))]
            self.assert_equal_keys(master, replica, wire)
            return said + [self.field(master, name) for name in ("sync_full", "sync_partial_ok")]

        self.for_each_pair(run)

    def test_a_link_that_is_held_for_too_long_is_down(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            proxy = self.proxy(master)
            replica = self.start_replica(replica_kind, proxy.address)
            replica.cli("CONFIG", "SET", "replica-serve-stale-data", "no")
            wire = master.wire()
            wire.ask("SET", "a", "old")
            self.assert_equal_keys(master, replica, wire)
            proxy.hold()
            wire.ask("SET", "a", "new")
            said = [replica.cli("GET", "a")]
            replica.cli("CONFIG", "SET", "repl-timeout", "1")
            self.wait_for(lambda: self.field(replica, "master_link_status") == "down")
            said += [replica.cli("GET", "a"), replica.cli("EVAL", "return redis.call('GET', 'a')", "0")]
            replica.cli("CONFIG", "SET", "replica-serve-stale-data", "yes")
            said.append(replica.cli("GET", "a"))
            replica.cli("CONFIG", "SET", "repl-timeout", "60")
            proxy.release()
            self.wait_for_link(replica)
            self.assert_equal_keys(master, replica, wire)
            return said + [replica.cli("GET", "a"), self.field(master, "sync_full")]

        self.for_each_pair(run)

    def test_a_master_sends_the_file_of_keys_from_its_disk_or_without_it(self):
        for master_kind in KINDS:
            for diskless in ("no", "yes"):
                with self.subTest(master=master_kind, diskless=diskless):
                    master = self.start(master_kind)
                    self.assertEqual(master.cli("CONFIG", "SET", "repl-diskless-sync", diskless), "OK\n")
                    self.load(master, 10, count=200)
                    replicas = [self.start_replica(kind, master) for kind in KINDS]
                    wire = self.load(master, 11, count=100)
                    for replica in replicas:
                        self.assert_equal_keys(master, replica, wire)
                    self.assertEqual(self.field(master, "sync_full"), "2")

    def test_a_log_is_rewritten_after_the_keys_were_replaced(self):
        master = self.start("redis")
        self.load(master, 9, count=100)
        replica = self.start("redouble", "--appendonly", "yes", "--dir", self.make_folder())
        replica.cli("SET", "own", "1")
        replica.cli("REPLICAOF", "127.0.0.1", master.port)
        self.wait_for_link(replica)
        self.assert_equal_keys(master, replica)
        self.wait_for(lambda: self.field(replica, "aof_rewrites") == "1"
                      and self.field(replica, "aof_rewrite_in_progress") == "0")
        master.cli("INCR", "after")
        self.assert_equal_keys(master, replica)
        digest = replica.cli("DEBUG", "DIGEST")
        replica.stop(signal.SIGKILL)
        replica = self.start("redouble", "--appendonly", "yes", "--dir", self.data)
        self.assertEqual(replica.cli("DEBUG", "DIGEST"), digest)

    def make_folder(self):
        self.data = tempfile.mkdtemp(prefix="redouble-follower-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        return self.data


if __name__ == "__main__":
    unittest.main()
