"""redis-server as a replica of `redouble serve`."""

import unittest

from replicated import FakeReplica, ReplicatedTestCase
from served import Redis
from wire import Wire, encoded


class ReplicationTest(ReplicatedTestCase):
    def setUp(self):
        self.master = self.start("redouble")
        self.port = self.master.port

    def follow(self, *options):
        replica = Redis("--replicaof", "127.0.0.1", self.port, "--enable-debug-command", "local",
                        "--repl-diskless-load", "disabled", *options)
        self.addCleanup(replica.stop)
        self.wait_for_link(replica)
        return replica

    def test_a_replica_gets_all_keys_and_then_every_change(self):
        self.load(self.master, 1)
        replica = self.follow()
        for seed in (2, 3, 4):
            self.assert_equal_keys(self.master, replica, self.load(self.master, seed))
        self.assertEqual(self.field(self.master, "connected_slaves"), "1")
        self.assertIn("state=online", self.master.cli("INFO", "replication"))
        self.assertEqual(self.master.wire().plain("ROLE")[0], "master")
        self.assertEqual(self.master.wire().plain("ROLE")[2][0][0], "127.0.0.1")
        self.assertEqual(self.field(self.master, "master_replid"), self.field(replica, "master_replid"))
        self.assertEqual(self.field(self.master, "sync_full"), "1")

    def test_a_replica_that_comes_back_gets_what_it_lacks(self):
        replica = self.follow()
        self.load(self.master, 5)
        for seed in (6, 7):
            replica.cli("CLIENT", "KILL", "TYPE", "master")
            wire = self.load(self.master, seed)
            self.wait_for_link(replica)
            self.assert_equal_keys(self.master, replica, wire)
        self.assertEqual(self.field(self.master, "sync_full"), "1")
        self.assertEqual(self.field(self.master, "sync_partial_ok"), "2")

    def test_a_replica_that_lacks_too_much_gets_all_keys(self):
        self.master.cli("CONFIG", "SET", "repl-backlog-size", "16kb")
        replica = self.follow()
        replica.cli("REPLICAOF", "127.0.0.1", "1")
        wire = self.load(self.master, 8)
        for number in range(100):
            wire.ask("SET", "large", "x" * 1000)
        replica.cli("REPLICAOF", "127.0.0.1", self.port)
        self.wait_for_link(replica)
        self.assert_equal_keys(self.master, replica, wire)
        self.assertEqual(self.field(self.master, "sync_full"), "2")

    def test_the_counters_of_a_master_begin_again(self):
        names = ("sync_full", "sync_partial_ok", "sync_partial_err", "total_forks", "total_connections_received",
                 "rejected_connections")
        counters = []
        for master in (self.start("redis"), self.start("redouble")):
            replica = self.start_replica("redis", master)
            replica.cli("CLIENT", "KILL", "TYPE", "master")
            self.wait_for(lambda: self.field(master, "sync_partial_ok") == "1")
            self.assertEqual(self.field(master, "sync_full"), "1")
            self.assertEqual(self.field(master, "total_forks"), "1")
            master.cli("CONFIG", "RESETSTAT")
            stats = dict(line.split(":") for line in master.cli("INFO", "stats").split() if ":" in line)
            counters.append([stats[name] for name in names])
        self.assertEqual(*counters)
        self.assertEqual(counters[0], ["0", "0", "0", "0", "1", "0"])

    def test_a_smaller_backlog_is_in_effect_at_once(self):
        for master in (self.start("redis"), self.start("redouble")):
            with self.subTest(type(master).__name__):
                master.cli("CONFIG", "SET", "repl-diskless-sync", "no")
                FakeReplica(master).wire.close()
                self.wait_for(lambda: self.field(master, "connected_slaves") == "0")
                wire = master.wire()
                self.assertEqual(wire.plain("DEBUG", "PAUSE-CRON", "1"), "OK")
                for _ in range(30):
                    wire.ask("SET", "large", "x" * 10_000)
                self.assertEqual(wire.plain("CONFIG", "SET", "repl-backlog-size", "16384"), "OK")
                replica = Wire(master.open())
                self.addCleanup(replica.close)
                replica.send("PSYNC", self.field(master, "master_replid"), "1")
                self.assertTrue(replica.file.readline().startswith(b"+FULLRESYNC"))
                self.assertEqual(wire.plain("DEBUG", "PAUSE-CRON", "0"), "OK")

    def test_what_a_replica_does_not_read_evicts_no_keys(self):
        for master in (self.master, self.start("redis")):
            with self.subTest(type(master).__name__):
                wire, replica = master.wire(), master.open()
                self.addCleanup(replica.close)
                for command in ("CONFIG SET repl-diskless-sync no", "CONFIG SET repl-backlog-size 16384",
                                "CONFIG SET maxmemory-policy allkeys-lru", *(f"SET key:{i} v" for i in range(50))):
                    self.assertEqual(wire.plain(*command.split()), "OK")
                replica.sendall(b"SYNC\r\n")
                self.wait_for(lambda: "state=online" in wire.plain("INFO", "replication"))
                used = int(self.field(master, "used_memory"))
                self.assertEqual(wire.plain("CONFIG", "SET", "maxmemory", str(used + 4_000_000)), "OK")
                for _ in range(200):
                    self.assertEqual(wire.plain("SET", "key:0", "x" * 100_000), "OK")
                self.assertEqual(wire.plain("DBSIZE"), 50)
                self.assertEqual(self.field(master, "evicted_keys"), "0")
                self.assertGreater(int(self.field(master, "mem_clients_slaves")), 10_000_000)

    def test_an_acknowledgement_has_no_reply(self):
        connection = self.master.open()
        self.addCleanup(connection.close)
        # In one write, so that the master reads the second command before it has sent the keys.
        connection.sendall(encoded(("PSYNC", "?", "-1")) + encoded(("REPLCONF", "ACK", "1")))
        data = b""
        while b"REDIS" not in data:
            data += connection.recv(1 << 16)
        self.assertRegex(data, rb"\A\+FULLRESYNC [0-9a-f]{40} 0\r\n\$")

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

    def test_debug_replicate_reaches_the_replicas_only(self):
        replica = self.follow()
        wire = self.master.wire()
        self.assertEqual(wire.plain("DEBUG", "REPLICATE", "SET", "there", "1"), "OK")
        self.assertEqual(wire.plain("WAIT", "1", "10000"), 1)
        self.assertEqual(self.master.cli("EXISTS", "there"), "0\n")
        self.assertEqual(replica.cli("GET", "there"), "1\n")

    def test_a_replica_does_not_know_a_stream_whose_id_debug_changed(self):
        replica = self.follow()
        wire = self.load(self.master, 10)
        before = self.field(self.master, "master_replid")
        wire.ask("DEBUG", "CHANGE-REPL-ID")
        self.assertNotEqual(self.field(self.master, "master_replid"), before)
        self.assertEqual(self.field(self.master, "master_replid2"), "0" * 40)
        replica.cli("CLIENT", "KILL", "TYPE", "master")
        self.wait_for_link(replica)
        self.assert_equal_keys(self.master, replica, wire)
        self.assertEqual(self.field(self.master, "sync_full"), "2")

    def test_a_replica_can_take_over(self):
        replica = self.follow()
        wire = self.load(self.master, 9)
        self.assert_equal_keys(self.master, replica, wire)
        digest = replica.cli("DEBUG", "DIGEST")
        self.master.stop()
        replica.cli("REPLICAOF", "NO", "ONE")
        self.assertEqual(replica.cli("DEBUG", "DIGEST"), digest)
        self.assertEqual(replica.cli("SET", "own", "1"), "OK\n")

    def test_redis_cli_copies_the_keys(self):
        self.load(self.master, 10)
        path = self.master.folder + "/copy.rdb"
        self.master.run("redis-cli", "-p", self.port, "--rdb", path)
        self.master.run("redis-check-rdb", path)


if __name__ == "__main__":
    unittest.main()
