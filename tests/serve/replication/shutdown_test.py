"""Goal: a server stops as redis-server does: it waits for its replicas, and goes on if it must not stop."""

import os
import shutil
import signal
import tempfile
import unittest

from replicated import FakeReplica, ReplicatedTestCase

ERROR = ("-", "ERR Errors trying to SHUTDOWN. Check logs.")
# The lines about a shutdown. The last one has the name of the program before it.
LINES = ("shutdown", "shutting down", "SIG", "replica", "Lagging", "can't exit", "Exit anyway", "now ready to exit",
         "Saving the final")
# Those of the synchronization.
OTHERS = ("ynchroniz", "resync", "BGSAVE", "Connection with replica", "Background", "acklog")


class ShutdownTest(ReplicatedTestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="redouble-data-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def file(self):
        return os.path.join(self.data, "dump.rdb")

    def start_with_replica(self, kind):
        """A server that has written something which its replica has not acknowledged."""
        server = self.start(kind, "--dir", self.data)
        for name, value in (("repl-ping-replica-period", "3600"), ("shutdown-timeout", "300"), ("save", "")):
            server.cli("CONFIG", "SET", name, value)
        replica = FakeReplica(server)
        self.addCleanup(replica.wire.close)
        self.wait_for(lambda: "state=online" in server.cli("INFO", "replication"))
        if os.path.exists(self.file()):  # redis-server leaves the replica's file there.
            os.remove(self.file())
        replica.acknowledge(0)
        server.cli("SET", "k", "1")
        return server, replica

    def acknowledge_all(self, server, replica):
        replica.acknowledge(self.field(server, "master_repl_offset"))

    def wait_until_it_waits(self, server):
        self.wait_for(lambda: "shutdown_in_milliseconds" in server.cli("INFO", "server"))

    def lines(self, server):
        def told(line):
            return any(text in line for text in LINES) and not any(text in line for text in OTHERS)

        return [line.replace("Redouble", "Redis") for line in self.logged(server, *LINES) if told(line)]

    def ended(self, server):
        """How the process has ended, and what it has logged and left."""
        code = server.process.wait(30)
        self.wait_for_log(server, "ready to exit")
        files = sorted(os.listdir(self.data))
        for name in files:
            os.remove(os.path.join(self.data, name))
        return code, files, self.lines(server)

    def blocked(self, server, *words):
        """A connection whose command waits."""
        before = int(self.field(server, "blocked_clients"))
        wire = server.wire()
        self.addCleanup(wire.close)
        wire.send(*words)
        self.wait_for(lambda: int(self.field(server, "blocked_clients")) == before + 1)
        return wire

    def test_a_master_waits_until_its_replicas_have_everything(self):
        def run(kind):
            results = []
            for how in ("SHUTDOWN", "SHUTDOWN NOSAVE FORCE", "SIGTERM", "SIGINT"):
                server, replica = self.start_with_replica(kind)
                if how.startswith("SIG"):
                    server.process.send_signal(getattr(signal, how))
                    self.wait_until_it_waits(server)
                else:
                    self.blocked(server, *how.split())
                left_ms = int(self.field(server, "shutdown_in_milliseconds"))
                self.assertTrue(200_000 < left_ms <= 300_000, left_ms)
                # Writes wait, and a second SHUTDOWN does too, whatever its words.
                writer = self.blocked(server, "SET", "k", "2")
                self.blocked(server, "SHUTDOWN", "NOW")
                server.cli("CLIENT", "UNPAUSE")
                results += [server.cli("GET", "k"), self.field(server, "blocked_clients")]
                self.acknowledge_all(server, replica)
                results.append(self.ended(server))
                self.assertEqual(writer.socket.recv(100), b"")
            return results

        self.for_each_kind(run)

    def test_a_master_whose_replicas_have_everything_stops_at_once(self):
        def run(kind):
            server, replica = self.start_with_replica(kind)
            self.acknowledge_all(server, replica)
            self.wait_for(lambda: self.caught_up(server))
            # Nothing that happens later can end it.
            server.cli("DEBUG", "PAUSE-CRON", "1")
            server.cli("SHUTDOWN")
            return self.ended(server)

        self.for_each_kind(run)

    def caught_up(self, server):
        return f"offset={self.field(server, 'master_repl_offset')}," in server.cli("INFO", "replication")

    def test_it_waits_for_shutdown_timeout_at_most(self):
        def run(kind):
            server, _ = self.start_with_replica(kind)
            server.cli("CONFIG", "SET", "shutdown-timeout", "1")
            server.process.send_signal(signal.SIGTERM)
            result = [self.ended(server)]
            for words in (("CONFIG", "SET", "shutdown-timeout", "0"), ("PING",)):
                server, _ = self.start_with_replica(kind)
                server.cli(*words)
                server.cli("SHUTDOWN", *(["NOW"] if words == ("PING",) else []))
                result.append(self.ended(server))
            return result

        self.for_each_kind(run)

    def test_it_goes_on_after_abort(self):
        def run(kind):
            server, replica = self.start_with_replica(kind)
            server.cli("CLIENT", "PAUSE", "100000", "WRITE")
            waiting = [self.blocked(server, "SHUTDOWN") for _ in range(2)]
            writer = self.blocked(server, "SET", "k", "2")
            result = [server.cli("SHUTDOWN", "ABORT"), server.cli("SHUTDOWN", "ABORT")]
            result += [wire.read() for wire in waiting]
            # The client's own pause holds on.
            result += [self.field(server, "blocked_clients"), server.cli("CLIENT", "UNPAUSE"), writer.read()]
            self.assertNotIn("shutdown_in_milliseconds", server.cli("INFO", "server"))
            server.process.send_signal(signal.SIGTERM)
            self.wait_until_it_waits(server)
            result += [server.cli("SHUTDOWN", "ABORT"), server.cli("SET", "k", "3")]
            self.blocked(server, "SHUTDOWN")
            self.acknowledge_all(server, replica)
            return result + [self.ended(server)]

        self.for_each_kind(run)

    def test_it_goes_on_if_it_cannot_save_after_the_wait(self):
        def run(kind):
            server, replica = self.start_with_replica(kind)
            waiting = [self.blocked(server, "SHUTDOWN", "SAVE") for _ in range(2)]
            writer = self.blocked(server, "SET", "k", "2")
            os.makedirs(os.path.join(self.file(), "inside"))
            self.acknowledge_all(server, replica)
            result = [wire.read() for wire in waiting]
            self.assertEqual(result, [ERROR, ERROR])
            result += [writer.read(), server.cli("SHUTDOWN", "ABORT")]
            shutil.rmtree(self.file())
            self.blocked(server, "SHUTDOWN", "SAVE")
            self.acknowledge_all(server, replica)
            return result + [self.ended(server)]

        self.for_each_kind(run)

    def test_a_signal_that_has_not_been_handled_is_taken_back(self):
        def run(kind):
            server = self.start(kind, "--dir", self.data)
            server.cli("DEBUG", "PAUSE-CRON", "1")
            server.process.send_signal(signal.SIGTERM)
            self.wait_for_log(server, "Received SIGTERM")
            result = [server.cli("SHUTDOWN", "ABORT"), server.cli("DEBUG", "PAUSE-CRON", "0"), server.cli("PING")]
            server.cli("SHUTDOWN", "NOSAVE")
            return result + [self.ended(server)]

        self.for_each_kind(run)

    def test_a_second_interrupt_ends_it_at_once(self):
        def run(kind):
            server, _ = self.start_with_replica(kind)
            server.process.send_signal(signal.SIGINT)
            self.wait_until_it_waits(server)
            server.process.send_signal(signal.SIGTERM)
            self.wait_for_log(server, "Received SIGTERM")
            self.assertIn("shutdown_in_milliseconds", server.cli("INFO", "server"))
            server.process.send_signal(signal.SIGINT)
            self.assertEqual(server.process.wait(20), 1)
            self.wait_for_log(server, "You insist... exiting now.")

        self.for_each_kind(run)

    def test_the_configuration_says_what_signals_do(self):
        def run(kind):
            results = []
            for name in ("sigterm", "sigint"):
                for words in ("default", "nosave", "save", "now", "save force", "nosave now force"):
                    server, _ = self.start_with_replica(kind)
                    server.cli("CONFIG", "SET", "save", "3600 1" if "now" in words else "")
                    server.cli("CONFIG", "SET", f"shutdown-on-{name}", words)
                    server.cli("CONFIG", "SET", "shutdown-timeout", "300" if "now" in words else "0")
                    server.process.send_signal(getattr(signal, name.upper()))
                    results.append((words, self.ended(server)[:2]))
            return results

        self.for_each_kind(run)

    def test_a_replication_goes_on_after_a_restart(self):
        def run(kind):
            result = []
            for role in ("master", "replica"):
                data = tempfile.mkdtemp(prefix="redouble-data-")
                self.addCleanup(shutil.rmtree, data, ignore_errors=True)
                options = ("--dir", data)
                master = self.start(kind, *(options if role == "master" else ()))
                replica = self.start(kind, *(options if role == "replica" else ()))
                for server in (master, replica):
                    server.cli("CONFIG", "SET", "repl-ping-replica-period", "3600")
                replica.cli("REPLICAOF", "127.0.0.1", master.port)
                self.wait_for_link(replica)
                wire = self.load(master, 3, count=100)
                wire.ask("SELECT", "3")
                wire.ask("SET", "short", "1", "PX", "300000")
                self.assert_equal_keys(master, replica, wire)
                ended = master if role == "master" else replica
                before = (self.field(ended, "master_replid"), self.field(ended, "master_repl_offset"))
                ended.cli("SHUTDOWN", "SAVE", "NOW")
                ended.process.wait(20)
                if role == "replica":
                    wire.ask("SET", "later", "1")
                    options += ("--replicaof", "127.0.0.1", master.port)
                again = self.start(kind, *options, port=ended.port)
                if role == "master":
                    self.assertEqual(
                        (self.field(again, "master_replid2"), self.field(again, "master_repl_offset")), before)
                    self.assertEqual(self.field(again, "second_repl_offset"), str(int(before[1]) + 1))
                    master = again
                else:
                    replica = again
                self.wait_for_link(replica)
                self.assert_equal_keys(master, replica)
                result += [self.field(master, name) for name in ("sync_full", "sync_partial_ok", "sync_partial_err",
                                                                 "repl_backlog_active")]
                for server in (replica, master):
                    server.cli("SHUTDOWN", "NOSAVE", "NOW")
            return result

        self.for_each_kind(run)

    def test_keys_that_expire_while_a_master_is_down_expire_in_its_replicas(self):
        def run(kind):
            master = self.start(kind, "--dir", self.data)
            master.cli("CONFIG", "SET", "repl-ping-replica-period", "3600")
            replica = self.start(kind)
            replica.cli("REPLICAOF", "127.0.0.1", master.port)
            self.wait_for_link(replica)
            master.cli("DEBUG", "SET-ACTIVE-EXPIRE", "0")
            for number in range(20):
                master.cli("-n", str(number % 3), "SET", str(number), "v", "PX", "1")
            self.assertEqual(self.wait_for_offset(master, replica), True)
            master.cli("SHUTDOWN", "SAVE", "NOW")
            master.process.wait(20)
            master = self.start(kind, "--dir", self.data, port=master.port)
            self.wait_for_link(replica)
            expired = self.field(master, "rdb_last_load_keys_expired")
            self.assert_equal_keys(master, replica)
            self.wait_for(lambda: "keys=1," in replica.cli("INFO", "keyspace"))
            return [expired, replica.cli("INFO", "keyspace").count("db"), self.field(master, "sync_partial_ok")]

        self.for_each_kind(run)

    def wait_for_offset(self, master, replica):
        self.wait_for(lambda: self.field(master, "master_repl_offset") == self.field(replica, "master_repl_offset"))
        return True


if __name__ == "__main__":
    unittest.main()
