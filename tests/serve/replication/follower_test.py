"""`redouble serve` as a replica, and as the master of one, beside redis-server in the same roles."""

import re
import time
import unittest

from replicated import ReplicatedTestCase, words_of

# What differs between two runs of redis-server: numbers that depend on time, and names of streams.
VARYING = re.compile(r"(offset|histlen|seconds_ago|seconds|lag|replid|replid2|first_byte_offset)([:=])[-0-9a-f]+")


class FollowerTest(ReplicatedTestCase):
    def test_a_replica_gets_all_keys_and_then_every_change(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            self.load(master, 1)
            replica = self.start_replica(replica_kind, master)
            for seed in (2, 3):
                wire = self.load(master, seed)
                self.assert_equal_keys(master, replica, wire)
            return [self.field(master, name) for name in ("sync_full", "sync_partial_ok", "connected_slaves")]

        self.for_each_pair(run)

    def test_what_the_servers_say_of_each_other(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            replica = self.start_replica(replica_kind, master)
            self.assert_equal_keys(master, replica)
            wire = replica.wire()
            said = [words_of(server.wire().plain("ROLE")) for server in (master, replica)]
            for server in (master, replica):
                info = VARYING.sub(r"\1\2#", server.cli("INFO", "replication"))
                said.append(info.replace(master.port, "MASTER").replace(replica.port, "REPLICA"))
            for command in (
                    ("SET", "a", "1"), ("EVAL", "return redis.call('SET', 'a', 1)", "0"),
                    ("EVAL", "#!lua\nreturn 1", "0"), ("EVAL", "#!lua flags=no-writes\nreturn 1", "0"),
                    ("WAIT", "0", "0"), ("REPLICAOF", "127.0.0.1", master.port), ("FAILOVER",), ("GET", "last"),
                    ("PSYNC", "?", "-1", "FAILOVER"), ("CONFIG", "SET", "replicaof", "a 1"), ("PUBLISH", "c", "m"),
                    ("FLUSHALL",), ("MULTI",), ("SET", "a", "1"), ("EXEC",), ("GETEX", "last"), ("DBSIZE",)):
                said.append((command[0], str(wire.plain(*command)).replace(master.port, "MASTER")))
            said.append(replica.cli("CONFIG", "GET", "replicaof").replace(master.port, "MASTER"))
            for server in (master, replica):
                for kind in ("master", "replica", "normal"):
                    lines = server.cli("CLIENT", "LIST", "TYPE", kind).splitlines()
                    said.append(sorted(re.search(r"flags=\S+", line).group() for line in lines if line))
                said.append(self.field(server, "connected_clients"))
            return said

        self.for_each_pair(run)

    def test_a_server_follows_when_it_is_told_to(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            replica = self.start(replica_kind)
            self.load(master, 4, count=100)
            replica.cli("SET", "own", "1")
            blocked = replica.wire()
            blocked.send("BLPOP", "nothing", "0")
            time.sleep(0.1)
            said = [replica.cli("REPLICAOF", "127.0.0.1", master.port), blocked.read()]
            self.wait_for_link(replica)
            self.assert_equal_keys(master, replica)
            said.append(replica.cli("EXISTS", "own"))
            said.append(replica.cli("SLAVEOF", "NO", "ONE"))
            said.append(replica.cli("SET", "own", "1"))
            said.append(words_of(replica.wire().plain("ROLE")))
            return said

        self.for_each_pair(run)

    def test_a_master_decides_when_keys_expire(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            replica = self.start_replica(replica_kind, master)
            master.cli("DEBUG", "SET-ACTIVE-EXPIRE", "0")
            for key in ("a", "b"):
                master.cli("SET", key, "1", "PX", "200")
            master.cli("HSET", "kept", "f", "v")
            self.assert_equal_keys(master, replica)
            time.sleep(0.4)
            said = [replica.cli(*words) for words in (("GET", "a"), ("EXISTS", "a"), ("TTL", "a"), ("DBSIZE",))]
            master.cli("GET", "a")
            self.assert_equal_keys(master, replica)
            return said + [replica.cli("DBSIZE"), sorted(replica.wire().plain("KEYS", "*"))]

        self.for_each_pair(run)

    def test_passwords_and_users(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind, "--requirepass", "secret")
            replica = self.start(replica_kind)
            replica.cli("REPLICAOF", "127.0.0.1", master.port)
            time.sleep(1.5)
            said = [self.field(replica, "master_link_status")]
            replica.cli("CONFIG", "SET", "masterauth", "secret")
            self.wait_for_link(replica)
            master.cli("-a", "secret", "ACL", "SETUSER", "copy", "on", ">word", "+psync", "+replconf", "+ping")
            replica.cli("CONFIG", "SET", "masteruser", "copy", "masterauth", "word")
            master.cli("-a", "secret", "CLIENT", "KILL", "TYPE", "replica")
            self.wait_for_link(replica)
            lines = master.cli("-a", "secret", "CLIENT", "LIST", "TYPE", "replica")
            return said + re.findall(r"user=\S+", lines)

        self.for_each_pair(run)

    def test_a_replica_of_a_replica(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            middle = self.start_replica(replica_kind, master)
            self.load(master, 5, count=100)
            last = self.start_replica(master_kind, middle)
            wire = self.load(master, 6)
            self.assert_equal_keys(master, middle, wire)
            self.wait_for(lambda: self.field(master, "master_repl_offset") == self.field(last, "master_repl_offset"))
            self.assertEqual(master.cli("DEBUG", "DIGEST"), last.cli("DEBUG", "DIGEST"))
            self.assertEqual(self.field(master, "master_replid"), self.field(last, "master_replid"))
            return [self.field(middle, name) for name in ("connected_slaves", "sync_full", "role")]

        self.for_each_pair(run)

    def test_replicas_that_writes_need(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            master.cli("CONFIG", "SET", "min-replicas-to-write", "1")
            said = [master.cli("SET", "a", "1"), master.cli("EVAL", "return redis.call('SET', 'a', 1)", "0")]
            replica = self.start_replica(replica_kind, master)
            self.wait_for(lambda: self.field(master, "min_slaves_good_slaves") == "1")
            said += [master.cli("SET", "a", "1"), replica.cli("SET", "a", "1")]
            replica.stop()
            self.wait_for(lambda: self.field(master, "min_slaves_good_slaves") == "0")
            return said + [master.cli("SET", "a", "1")]

        self.for_each_pair(run)

    def test_wait_counts_from_the_last_command_of_its_client(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            replica = self.start_replica(replica_kind, master)
            wire = master.wire()
            wire.ask("SET", "a", "1")
            said = [wire.plain("WAIT", "1", "5000")]
            replica.stop()
            said.append(wire.plain("WAIT", "1", "50"))
            return said

        self.for_each_pair(run)


if __name__ == "__main__":
    unittest.main()
