"""Goal: what clients see of a replica while it gets its master's keys, and of the master, is what redis-server shows."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from replicated import FakeReplica, ReplicatedTestCase
from served import CONFIGURED
from wire import Wire

# A replica that loads has its former functions, and Redis the new ones: without `no-writes` FCALL would be told READONLY.
LIBRARY = ("#!lua name=test\nredis.register_function{function_name='test', callback=function() return '%s' end, "
           "flags={'no-writes'}}")

# Those that are refused while keys are loaded, and those that are not.
COMMANDS = (
    "GET k", "SET k 1", "PING", "DBSIZE", "CONFIG GET maxmemory", "CONFIG SET maxmemory-samples 6",
    "CONFIG SET appendonly no", "CONFIG SET maxmemory-samples 7 dir /", "CONFIG SET nothing 1 appendonly no",
    "REPLICAOF NO ONE", "REPLICAOF 127.0.0.1 1", "MULTI", "INCR a", "EXEC", "MULTI", "INFO server", "EXEC", "MULTI",
    "PING", "DISCARD", "EVAL return(1) 0", "FCALL test 0", "FCALL none 0", "FUNCTION LIST", "WATCH a", "UNWATCH", "SUBSCRIBE c",
    "UNSUBSCRIBE c", "PUBLISH c m", "AUTH x", "COMMAND COUNT", "SHUTDOWN ABORT", "ROLE", "WAIT 0 0", "KEYS *", "SCAN 0",
    "SCRIPT KILL", "SCRIPT EXISTS x", "SAVE", "BGSAVE", "BGREWRITEAOF", "LASTSAVE", "SELECT 1", "SELECT 0", "SWAPDB 0 1",
    "FLUSHALL", "DEBUG DIGEST", "MEMORY DOCTOR", "OBJECT HELP", "CLIENT GETNAME", "CLIENT PAUSE 0", "SLOWLOG LEN",
    "LATENCY RESET", "ACL WHOAMI", "TIME", "REPLCONF capa eof", "PSYNC ? -1", "SYNC", "MONITOR", "RESET", "ECHO a",
    "FAILOVER", "HELLO 2")
LOADING = re.compile(r"^(loading_\w+|master_sync_\w+|master_link_\w+|async_loading|loading):", re.M)


class LoadingTest(ReplicatedTestCase):
    def configure(self, server, **values):
        for name, value in values.items():
            self.assertEqual(server.cli("CONFIG", "SET", name.replace("_", "-"), str(value)), "OK\n")

    def populated(self, kind, keys=200, bytes_each=3000):
        """A master whose keys are more than what is loaded without a look at the clients."""
        master = self.start(kind)
        self.configure(master, rdbcompression="no", save="")
        master.cli("DEBUG", "POPULATE", str(keys), "key", str(bytes_each))
        master.cli("FUNCTION", "LOAD", LIBRARY % "new")
        return master

    def start_loading(self, replica, master):
        """Lets the replica load so slowly that a test sees it."""
        self.configure(replica, key_load_delay=20_000, loading_process_events_interval_bytes=1024)
        self.assertEqual(replica.cli("REPLICAOF", "127.0.0.1", master.port), "OK\n")

    def finish_loading(self, replica):
        self.configure(replica, key_load_delay=0)
        self.wait_for_link(replica)

    def wait_for_state(self, replica, state):
        self.wait_for(lambda: f"\n{state}:1" in replica.cli("INFO", "persistence").replace("\r", ""))

    def replies(self, server):
        wire, replies = server.wire(), []
        for command in COMMANDS:
            if command == "MONITOR":  # The next replies would be lines.
                wire.close()
                wire = server.wire()
            kind, text = wire.ask(*command.split())
            # The numbers of the others differ.
            replies.append((command, text if kind == "-" else kind))
            if command == "FLUSHALL" and kind != "-":
                self.fail("the keys are gone")
        wire.close()
        return replies

    def test_commands_are_refused_while_the_keys_are_loaded(self):
        def run(master_kind, replica_kind):
            result = []
            for mode in ("disabled", "on-empty-db", "swapdb"):
                master = self.populated(master_kind)
                replica = self.start(replica_kind)
                self.configure(replica, repl_diskless_load=mode, save="")
                self.start_loading(replica, master)
                self.wait_for_state(replica, "loading")
                result += [mode, self.replies(replica)]
                info = replica.cli("INFO", "everything").replace("\r", "")
                result += [LOADING.findall(info), self.field(replica, "loading"), self.field(replica, "async_loading"),
                           self.field(replica, "master_sync_in_progress"), replica.wire().plain("ROLE")[3]]
                self.finish_loading(replica)
                result += [self.field(replica, "loading"), replica.cli("DBSIZE"), replica.cli("FCALL", "test", "0")]
                self.assert_equal_keys(master, replica)
            return result

        self.for_each_pair(run)

    def start_again(self, master, replica):
        """Lets a replica that has been one ask for all keys again."""
        wire = master.wire()
        wire.ask("MULTI")
        wire.ask("CLIENT", "KILL", "TYPE", "replica")
        wire.ask("CONFIG", "SET", "repl-backlog-size", "16384")
        for number in range(20):
            wire.ask("SET", f"filler:{number}", "x" * 4096)
        wire.ask("EXEC")
        wire.close()

    def test_the_former_keys_of_the_same_stream_are_served(self):
        def run(master_kind, replica_kind):
            master = self.populated(master_kind)
            replica = self.start(replica_kind)
            self.configure(replica, repl_diskless_load="swapdb", replica_read_only="no", save="")
            replica.cli("REPLICAOF", "127.0.0.1", master.port)
            self.wait_for_link(replica)
            replica.cli("SET", "own", "1")
            replica.cli("FUNCTION", "LOAD", "REPLACE", LIBRARY % "old")
            self.configure(replica, key_load_delay=100_000, loading_process_events_interval_bytes=1024)
            self.start_again(master, replica)
            self.wait_for_state(replica, "async_loading")
            self.assertEqual(self.field(replica, "loading"), "0")
            commands = ("GET own", "FCALL test 0", "SET own 2", "DBSIZE", "REPLICAOF NO ONE", "CONFIG SET appendonly no",
                        "CONFIG SET maxmemory-samples 6", "SAVE", "BGSAVE", "BGREWRITEAOF", "FLUSHALL",
                        "SWAPDB 0 1", "FUNCTION DELETE test", "MULTI", "FLUSHDB", "EXEC", "EVAL return(1) 0")
            wire = replica.wire()
            result = [(command, wire.ask(*command.split())) for command in commands]
            self.assertEqual(self.field(replica, "async_loading"), "1")
            self.finish_loading(replica)
            self.assert_equal_keys(master, replica)
            return result + [replica.cli("EXISTS", "own"), replica.cli("FCALL", "test", "0"),
                             self.field(master, "sync_full")]

        self.for_each_pair(run)

    def test_the_former_keys_stay_when_the_link_is_cut(self):
        def run(master_kind, replica_kind):
            result = []
            for mode in ("disabled", "swapdb"):
                master = self.populated(master_kind, bytes_each=50_000)
                replica = self.start(replica_kind)
                replica.cli("SET", "own", "1")
                self.configure(replica, repl_diskless_load=mode, loading_process_events_interval_bytes=1024)
                # So slow that it does not end by itself.
                self.configure(master, rdb_key_save_delay=50_000)
                replica.cli("REPLICAOF", "127.0.0.1", master.port)
                if mode == "swapdb":
                    self.wait_for_state(replica, "loading")
                    result.append(replica.wire().ask("GET", "own"))
                else:
                    self.wait_for(lambda: self.field(replica, "master_sync_in_progress") == "1")
                self.configure(master, repl_diskless_sync_delay=100)
                result.append(master.cli("CLIENT", "KILL", "TYPE", "replica"))
                self.wait_for(lambda: self.field(replica, "loading") == "0")
                result += [replica.cli("GET", "own"), replica.cli("DBSIZE"), self.field(replica, "role")]
                self.configure(master, rdb_key_save_delay=0)
                result += [replica.cli("REPLICAOF", "NO", "ONE"), replica.cli("GET", "own")]
            return result

        self.for_each_pair(run)

    def test_all_keys_are_loaded_when_the_link_is_lost_meanwhile(self):
        def run(master_kind, replica_kind):
            master = self.populated(master_kind)
            replica = self.start(replica_kind)
            self.start_loading(replica, master)
            self.wait_for_state(replica, "loading")
            master.cli("CLIENT", "KILL", "TYPE", "replica")
            master.cli("SET", "later", "1")
            self.finish_loading(replica)
            self.assert_equal_keys(master, replica)
            return [self.field(master, name) for name in ("sync_full", "sync_partial_ok")]

        self.for_each_pair(run)

    def test_a_replica_that_loads_is_not_given_up_while_they_load(self):
        def run(master_kind, replica_kind):
            master = self.populated(master_kind)
            self.configure(master, repl_timeout=2)
            replica = self.start(replica_kind)
            self.start_loading(replica, master)  # Takes four seconds.
            self.wait_for_link(replica)
            self.assert_equal_keys(master, replica)
            return self.field(master, "sync_full")

        self.for_each_pair(run)


class StartTest(ReplicatedTestCase):
    """A server that loads its file when it starts."""

    def start_loading(self, kind):
        """The process, a connection, and the folder."""
        folder = tempfile.mkdtemp(prefix="redouble-data-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        writer = self.start("redis", "--dir", folder, "--rdbcompression", "no")
        writer.cli("DEBUG", "POPULATE", "200", "key", "3000")
        writer.cli("SAVE")
        writer.stop()
        path = f"{folder}/s"
        arguments = ["--port", "0", "--unixsocket", path, "--dir", folder, "--save", "3600 1", "--key-load-delay", "50000",
                     "--loading-process-events-interval-bytes", "1024"]
        process = subprocess.Popen([*CONFIGURED[kind], *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.kill)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.wait_for(lambda: os.path.exists(path) and connection.connect_ex(path) == 0)
        connection.settimeout(20)
        wire = Wire(connection)
        self.addCleanup(wire.close)
        return process, wire, folder

    def test_clients_are_served(self):
        def run(kind):
            _, wire, _ = self.start_loading(kind)
            commands = ("GET key:1", "PING", "DBSIZE", "SET a 1", "CONFIG SET appendonly yes", "BGSAVE", "CLIENT GETNAME",
                        "PSYNC ? -1", "REPLICAOF NO ONE", "EVAL return(1) 0", "FLUSHALL")
            result = [(command, wire.ask(*command.split())) for command in commands]
            info = wire.plain("INFO", "persistence").replace("\r", "")
            result.append(LOADING.findall(info))
            self.assertIn("\nloading:1\n", info)
            total, loaded = (int(re.search(name + r":(\d+)", info)[1]) for name in ("total_bytes", "loaded_bytes"))
            self.assertGreater(total, 600_000)
            self.assertTrue(0 < loaded < total, loaded)
            result.append(wire.plain("CONFIG", "SET", "key-load-delay", "0"))
            self.wait_for(lambda: "\nloading:0" in wire.plain("INFO", "persistence").replace("\r", ""))
            return result + [wire.plain("DBSIZE"), wire.plain("STRLEN", "key:1")]

        self.for_each_kind(run)

    def test_a_shutdown_leaves_the_file(self):
        def run(kind):
            result = []
            for how in ("SIGTERM", "SHUTDOWN"):
                process, wire, folder = self.start_loading(kind)
                with open(f"{folder}/dump.rdb", "rb") as file:
                    before = file.read()
                if how == "SHUTDOWN":
                    wire.send("SHUTDOWN")
                else:
                    process.send_signal(signal.SIGTERM)
                result.append(process.wait(20))
                with open(f"{folder}/dump.rdb", "rb") as file:
                    self.assertEqual(file.read(), before)
            return result

        self.for_each_kind(run)


class SendingTest(ReplicatedTestCase):
    maxDiff = None

    """A master that sends its keys."""

    LINES = ("Starting BGSAVE", "Waiting for end", "Current BGSAVE", "Delay next", "asks for synchronization",
             "Replica generated", "CRITICAL", "Background RDB", "last replica dropped", "done reading", "not accepted",
             "Full resync", "Unable to partial", "greater than the master")

    def start_slow(self, kind, diskless):
        """A master that writes keys so slowly that a test sees it."""
        master = self.start(kind)
        for name, value in (("repl-diskless-sync", diskless), ("rdb-key-save-delay", "50000"), ("save", ""),
                            ("rdbcompression", "no")):
            master.cli("CONFIG", "SET", name, value)
        master.cli("DEBUG", "POPULATE", "100", "key", "1000")
        return master

    def ask(self, master, *options):
        """A connection that asks for all keys."""
        wire = Wire(master.open())
        self.addCleanup(wire.close)
        if options:
            wire.ask("REPLCONF", *options)
        wire.send("PSYNC", "?", "-1")
        return wire

    def states(self, master):
        return re.findall(r"state=(\w+)", master.cli("INFO", "replication"))

    @staticmethod
    def line(wire):
        while True:
            text = wire.file.readline().decode().strip()
            if text:
                return text

    def test_replicas_share_a_file(self):
        def run(kind):
            master = self.start_slow(kind, "no")
            first, result = self.ask(master), []
            self.wait_for(lambda: self.field(master, "rdb_bgsave_in_progress") == "1")
            master.cli("SET", "meanwhile", "1")
            offset = int(self.field(master, "master_repl_offset"))
            second = self.ask(master, "capa", "eof")
            self.wait_for(lambda: len(self.states(master)) == 2)
            result += [self.states(master), master.wire().ask("BGSAVE"), master.wire().ask("SAVE")]
            answers = [self.line(wire) for wire in (first, second)]
            self.assertEqual(*answers)
            result.append(int(answers[0].split()[-1]) < offset)
            master.cli("CONFIG", "SET", "rdb-key-save-delay", "0")
            files = []
            for wire in (first, second):
                size = self.line(wire)
                result.append(size[0])
                files.append(wire.file.read(int(size[1:])))
                self.assertIn(b"meanwhile", wire.file.read(60))
            self.assertEqual(*files)
            self.wait_for(lambda: self.states(master) == ["online", "online"])
            return result + [self.field(master, name) for name in ("sync_full", "total_forks",
                                                                   "rdb_bgsave_in_progress")]

        self.for_each_kind(run)

    def test_a_stream_is_sent_while_it_is_written(self):
        def run(kind):
            master = self.start_slow(kind, "yes")
            wire, result = self.ask(master, "capa", "eof"), []
            self.line(wire)
            mark = self.line(wire)
            result += [mark[:5], len(mark), wire.file.read(9), self.states(master)]
            late = self.ask(master, "capa", "eof")
            self.wait_for_log(master, "Current BGSAVE has socket target")
            result += [self.states(master), self.field(master, "rdb_bgsave_in_progress")]
            master.cli("SET", "meanwhile", "1")
            master.cli("CONFIG", "SET", "rdb-key-save-delay", "0")
            data = b""
            while not data.endswith(mark[5:].encode()):
                data += wire.file.read(1)
            self.wait_for(lambda: "online" in self.states(master))
            # The stream begins after an acknowledgement.
            wire.socket.settimeout(0.3)
            with self.assertRaises(TimeoutError):
                wire.socket.recv(1)
            wire.socket.settimeout(20)
            wire.send("REPLCONF", "ACK", "0")
            self.assertIn(b"meanwhile", wire.socket.recv(100))
            result.append(self.line(late).split()[0])
            late.close()
            return result + [self.field(master, "sync_full"), self.logged(master, *self.LINES[:2], "Current BGSAVE")]

        self.for_each_kind(run)

    def test_writing_ends_with_the_last_replica(self):
        def run(kind):
            result = []
            for diskless in ("no", "yes"):
                master = self.start_slow(kind, diskless)
                wires = [self.ask(master, "capa", "eof")]
                self.wait_for(lambda: self.field(master, "rdb_bgsave_in_progress") == "1")
                if diskless == "no":
                    wires.append(self.ask(master, "capa", "eof"))
                    self.wait_for(lambda: len(self.states(master)) == 2)
                    wires.pop().close()
                    self.wait_for(lambda: len(self.states(master)) == 1)
                    result.append(self.field(master, "rdb_bgsave_in_progress"))
                wires.pop().close()
                self.wait_for(lambda: self.field(master, "rdb_bgsave_in_progress") == "0")
                # FLUSHALL takes the keys away that were to be sent.
                wire = self.ask(master, "capa", "eof")
                self.wait_for(lambda: self.field(master, "rdb_bgsave_in_progress") == "1")
                master.cli("FLUSHALL")
                wire.socket.settimeout(20)
                while wire.socket.recv(1 << 16):
                    pass
                self.wait_for(lambda: self.field(master, "rdb_bgsave_in_progress") == "0")
                result += [self.states(master), master.cli("DBSIZE")]
            return result

        self.for_each_kind(run)

    def test_a_stream_waits_for_more_replicas(self):
        def run(kind):
            result = []
            for most, delay in ((2, 1000), (0, 1), (0, 0)):
                master = self.start(kind)
                master.cli("CONFIG", "SET", "repl-diskless-sync-delay", str(delay))
                master.cli("CONFIG", "SET", "repl-diskless-sync-max-replicas", str(most))
                first = self.ask(master, "capa", "eof")
                if delay:
                    self.wait_for_log(master, "Delay next BGSAVE")
                    result.append(self.states(master))
                # An old one gets a file at once, and so do those that wait.
                wires = [first] + ([self.ask(master, "capa", "eof")] if most else [])
                result.append([self.line(wire).split()[0] for wire in wires])
                result += [self.line(wire)[:5] for wire in wires]
                result.append(self.field(master, "sync_full"))
            return result

        self.for_each_kind(run)

    def test_a_replica_that_gets_a_reply_is_disconnected(self):
        def run(kind):
            master, result = self.start(kind), []
            master.cli("CONFIG", "SET", "repl-diskless-sync", "no")
            master.cli("SADD", "set", "a")
            for command in ("PING", "GET k", "SET k 1", "XINFO HELP", "SLOWLOG GET", "EVAL return(1) 0", "NONE",
                            "LPUSH k", "LPUSH set a", "SET k 1 NONE", "LSET none 0 a", "EXPIRE k a", "EXEC",
                            "REPLCONF capa eof", "PUBLISH a b", "REPLCONF ACK 1", "PSYNC ? -1"):
                replica = FakeReplica(master)
                replica.wire.send(*command.split())
                replica.wire.socket.settimeout(0.3)
                try:
                    result.append((command, replica.wire.socket.recv(100)))
                except TimeoutError:
                    result.append((command, "connected"))
                replica.wire.close()
            lines = self.logged(master, "Replica generated", "CRITICAL")
            return result + [line.split("disconnecting it")[0] for line in lines] + [master.cli("EXISTS", "k")]

        self.for_each_kind(run)

    def test_a_refusal_is_explained(self):
        def run(kind):
            master = self.start(kind)
            name = self.field(master, "master_replid")
            said = []
            for words in (("x", "offset"), ("x", "1"), (name, "1"), (name, "1000")):
                wire = Wire(master.open())
                wire.send("PSYNC", *words)
                said.append(re.sub("[0-9a-f]{40}", "ID", self.line(wire)))
                wire.close()
                self.wait_for(lambda: not self.states(master))
                name = self.field(master, "master_replid")
            lines = self.logged(master, "asks for", "not accepted", "Unable to partial", "greater than")
            return said + [re.sub("[0-9a-f]{40}", "ID", line) for line in lines]

        self.for_each_kind(run)

    def test_a_replica_may_want_only_the_functions(self):
        def run(kind):
            master = self.start(kind)
            master.cli("SET", "secret", "1")
            master.cli("FUNCTION", "LOAD", LIBRARY % "new")
            result = []
            for words in (("rdb-only", "1"), ("rdb-filter-only", "functions"), ("rdb-filter-only", "")):
                wire = self.ask(master, "capa", "eof", *words)
                self.line(wire)
                mark = self.line(wire)
                data = b""
                while not data.endswith(mark[5:].encode()):
                    data += wire.file.read(1)
                result.append((words, b"secret" in data, b"register_function" in data))
                if words[0] == "rdb-only":
                    result.append(wire.socket.recv(1))
                wire.close()
            refused = Wire(master.open())
            refused.ask("REPLCONF", "rdb-filter-only", "functions")
            result.append(refused.ask("PSYNC", "?", "-1"))
            refused.close()
            return result

        self.for_each_kind(run)


if __name__ == "__main__":
    unittest.main()
