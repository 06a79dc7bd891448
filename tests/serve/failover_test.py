"""Replicas that take over: by REPLICAOF NO ONE and by FAILOVER."""

import time
import unittest

from replicated import ReplicatedTestCase


class FailoverTest(ReplicatedTestCase):
    def test_other_replicas_continue_with_the_one_that_took_over(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            first = self.start_replica(replica_kind, master)
            second = self.start_replica(master_kind, master)
            wire = self.load(master, 1, count=100)
            self.assert_equal_keys(master, first, wire)
            self.assert_equal_keys(master, second, wire)
            self.assertEqual(first.cli("REPLICAOF", "NO", "ONE"), "OK\n")
            self.assertEqual(self.field(first, "master_replid2"), self.field(master, "master_replid"))
            self.assertEqual(int(self.field(first, "second_repl_offset")),
                             int(self.field(first, "master_repl_offset")) + 1)
            second.cli("REPLICAOF", "127.0.0.1", first.port)
            self.wait_for_link(second)
            wire = self.load(first, 2, count=100)
            self.assert_equal_keys(first, second, wire)
            # The former master follows too. It has written nothing meanwhile.
            master.cli("REPLICAOF", "127.0.0.1", first.port)
            self.wait_for_link(master)
            self.assert_equal_keys(first, master)
            return [self.field(first, name) for name in ("sync_full", "sync_partial_ok", "sync_partial_err")]

        self.for_each_pair(run)

    def test_failover_exchanges_the_roles(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            said = [master.cli("FAILOVER"), master.cli("FAILOVER", "ABORT")]
            replica = self.start_replica(replica_kind, master)
            wire = self.load(master, 3, count=100)
            self.assert_equal_keys(master, replica, wire)
            for words in (("TO", "127.0.0.1", "1"), ("TO", "127.0.0.1", replica.port, "FORCE"),
                          ("FORCE", "TIMEOUT", "100")):
                said.append(master.cli("FAILOVER", *words))
            said.append(master.cli("FAILOVER", "TO", "127.0.0.1", replica.port, "TIMEOUT", "20000"))
            self.wait_for(lambda: self.field(replica, "role") == "master")
            self.wait_for(lambda: self.field(master, "role") == "slave")
            self.wait_for_link(master)
            self.wait_for(lambda: self.field(master, "master_failover_state") == "no-failover")
            said.append(replica.cli("SET", "new", "1"))
            self.assert_equal_keys(replica, master)
            said.append(master.cli("SET", "new", "1"))
            return said + [self.field(replica, name) for name in ("sync_full", "sync_partial_ok")]

        self.for_each_pair(run)

    def test_failover_waits_and_gives_up(self):
        def run(master_kind, replica_kind):
            master = self.start(master_kind)
            replica = self.start_replica(replica_kind, master)
            self.assert_equal_keys(master, replica)
            # It does not acknowledge anything.
            replica.process.send_signal(19)
            master.cli("SET", "a", "1")
            said = [master.cli("FAILOVER", "TIMEOUT", "600"), master.cli("FAILOVER"),
                    master.cli("REPLICAOF", "127.0.0.1", "1"), self.field(master, "master_failover_state")]
            wire = master.wire()
            wire.send("SET", "a", "2")
            time.sleep(0.2)
            said.append(self.field(master, "blocked_clients"))
            said.append(wire.read())
            said.append(self.field(master, "master_failover_state"))
            said.append(master.cli("FAILOVER"))
            said.append(master.cli("FAILOVER", "ABORT"))
            said.append(master.cli("SET", "a", "3"))
            replica.process.send_signal(18)
            return said

        self.for_each_pair(run)


if __name__ == "__main__":
    unittest.main()
