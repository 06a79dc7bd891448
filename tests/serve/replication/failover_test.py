"""Replicas that take over: by REPLICAOF NO ONE and by FAILOVER, and what is lost then."""

import signal
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


class LostWritesTest(ReplicatedTestCase):
    """What a master acknowledged and its replica had not got is gone after the replica took over."""

    def start_behind_proxy(self, master_kind, replica_kind):
        """A master, its replica, and the proxy between them; both have the same keys."""
        master = self.start(master_kind)
        proxy = self.proxy(master)
        replica = self.start_replica(replica_kind, proxy.address)
        wire = self.load(master, 5, count=50)
        # Nothing but writes is in the stream from here on, so that its length is known.
        wire.ask("CONFIG", "SET", "repl-ping-replica-period", "1000")
        wire.ask("SELECT", "0")
        wire.ask("SET", "n", "1")
        self.assert_equal_keys(master, replica, wire)
        return master, replica, proxy, wire

    def counters(self, server):
        return [self.field(server, name) for name in ("sync_full", "sync_partial_ok", "sync_partial_err")]

    def test_the_tail_is_lost_with_the_master(self):
        def run(master_kind, replica_kind):
            master, replica, proxy, wire = self.start_behind_proxy(master_kind, replica_kind)
            proxy.hold()
            said = [wire.plain("INCR", "n"), wire.plain("SET", "tail", "1"), wire.plain("WAIT", "1", "100")]
            behind = int(self.field(master, "master_repl_offset")) - int(self.field(replica, "master_repl_offset"))
            self.assertGreater(behind, 0)
            master.stop(signal.SIGKILL)
            said.append(replica.cli("REPLICAOF", "NO", "ONE"))
            said += [replica.cli(*words) for words in (("GET", "n"), ("EXISTS", "tail"), ("GET", "last"),
                                                       ("INCR", "n"), ("SET", "tail", "2"))]
            return said

        self.for_each_pair(run)

    def rejoin(self, former, present):
        """The former master follows, and has what the present one has."""
        former.cli("REPLICAOF", "127.0.0.1", present.port)
        self.wait_for_link(former)
        self.assert_equal_keys(present, former)

    def test_a_former_master_loses_what_it_alone_has(self):
        # The numbers of writes on both sides: the end of the former master's stream is before, at or after
        # the end of the present one's. Where it is within that, the bytes of the two differ all the same.
        for own, others in ((1, 0), (1, 1), (1, 30), (30, 1)):
            def run(master_kind, replica_kind, own=own, others=others):
                master, replica, proxy, wire = self.start_behind_proxy(master_kind, replica_kind)
                proxy.hold()
                # The stream of the replica begins with a SELECT as well.
                wire.ask("SELECT", "1")
                for _ in range(own):
                    wire.plain("INCR", "a")
                said = [replica.cli("REPLICAOF", "NO", "ONE")]
                for _ in range(others):
                    replica.cli("INCR", "b")
                if own == others:
                    self.assertEqual(self.field(master, "master_repl_offset"),
                                     self.field(replica, "master_repl_offset"))
                said += [self.field(server, "role") for server in (master, replica)]
                self.rejoin(master, replica)
                said += [master.cli(*words) for words in (("-n", "1", "EXISTS", "a"), ("GET", "b"), ("GET", "n"),
                                                          ("INCR", "n"))]
                return said + [self.counters(replica), self.counters(master)]

            with self.subTest(own=own, others=others):
                self.for_each_pair(run)

    def test_a_replica_that_is_ahead_of_the_new_master_loses_the_difference(self):
        def run(master_kind, replica_kind):
            master, behind, proxy, wire = self.start_behind_proxy(master_kind, replica_kind)
            ahead = self.start_replica(replica_kind, master)
            self.wait_for(lambda: self.field(master, "connected_slaves") == "2")
            proxy.hold()
            said = [wire.plain("SET", "tail", "1"), wire.plain("WAIT", "1", "10000"), ahead.cli("GET", "tail")]
            master.stop(signal.SIGKILL)
            said.append(behind.cli("REPLICAOF", "NO", "ONE"))
            self.rejoin(ahead, behind)
            return said + [ahead.cli("EXISTS", "tail"), self.counters(behind)]

        self.for_each_pair(run)

    def test_a_forced_failover_loses_the_tail(self):
        def run(master_kind, replica_kind):
            master, replica, proxy, wire = self.start_behind_proxy(master_kind, replica_kind)
            proxy.hold()
            said = [wire.plain("INCR", "n"), wire.plain("SET", "tail", "1")]
            said.append(wire.plain("FAILOVER", "TO", "127.0.0.1", replica.port, "FORCE", "TIMEOUT", "100"))
            self.wait_for(lambda: self.field(replica, "role") == "master")
            self.wait_for(lambda: self.field(master, "master_failover_state") == "no-failover")
            self.wait_for_link(master)
            said += [replica.cli(*words) for words in (("GET", "n"), ("EXISTS", "tail"), ("INCR", "n"))]
            self.assert_equal_keys(replica, master)
            return said + [master.cli("EXISTS", "tail"), self.counters(replica)]

        self.for_each_pair(run)


if __name__ == "__main__":
    unittest.main()
