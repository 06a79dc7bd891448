"""The append-only log, beside redis-server: each server loads what the other wrote."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from served import Redis, Served

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"


class AppendOnlyTest(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="redouble-log-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def start(self, kind, *options):
        """A server that keeps its log in self.data."""
        server = kind("--dir", self.data, "--enable-debug-command", "local", *options)
        self.addCleanup(server.stop)
        return server

    def clear(self):
        for name in os.listdir(self.data):
            path = os.path.join(self.data, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def path(self, name):
        return os.path.join(self.data, FOLDER, name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(os.path.join(self.data, FOLDER)))

    def size(self):
        size = 0
        for name in self.files():
            try:
                size += os.path.getsize(self.path(name))
            except FileNotFoundError:
                pass
        return size

    def info(self, server, names):
        text = server.cli("INFO", "persistence")
        return {name: value.strip() for name, value in re.findall(r"(\w+):(.*)", text) if name in names}

    def config(self, appendonly, preamble):
        path = os.path.join(self.data, "redouble.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"appendonly {appendonly}\naof-use-rdb-preamble {preamble}\n")
        return path

    def check(self):
        return subprocess.run(["redis-check-aof", self.path(MANIFEST)], check=False,
                              capture_output=True).returncode

    def wait_for_rewrite(self, server):
        for _ in range(200):
            if "aof_rewrite_in_progress:0" in server.cli("INFO", "persistence"):
                return
            time.sleep(0.05)
        self.fail("the rewrite has not ended")


class Loading(AppendOnlyTest):
    def fill(self, server):
        server.cli("SET", "k", "v")
        server.cli("RPUSH", "list", "a", "b", "c")
        server.cli("HSET", "hash", "f", "v")
        server.cli("ZADD", "sorted", "1.5", "a", "inf", "b")
        server.cli("SADD", "set", "1", "x")
        server.cli("XADD", "stream", "1-1", "f", "v")
        server.cli("SET", "short", "1", "PX", "600000")
        server.cli("-n", "3", "INCR", "n")

    def test_each_server_loads_the_log_of_the_other(self):
        for preamble in ("yes", "no"):
            for writer, reader in ((Served, Served), (Served, Redis), (Redis, Served)):
                with self.subTest(writer=writer.__name__, reader=reader.__name__, preamble=preamble):
                    self.clear()
                    options = ("--config", self.config("yes", preamble)) if writer is Served else (
                        "--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
                    server = self.start(writer, *options)
                    self.fill(server)
                    self.assertIn("started", server.cli("BGREWRITEAOF"))
                    self.wait_for_rewrite(server)
                    server.cli("INCR", "after")
                    digest = server.cli("DEBUG", "DIGEST")
                    server.stop(signal.SIGKILL)
                    self.assertEqual(self.check(), 0)
                    server = self.start(reader, "--appendonly", "yes")
                    self.assertEqual(server.cli("DEBUG", "DIGEST"), digest)
                    self.assertGreater(int(server.cli("PTTL", "short")), 0)
                    self.assertEqual(server.cli("INCR", "after"), "2\n")
                    server.stop()

    LOADING = (
        "SET a 1", "DEBUG LOADAOF", "GET a", "DEBUG LOADAOF x", "debug loadaof", "BGREWRITEAOF x",
        "MULTI", "SET c 3", "DEBUG LOADAOF", "GET c", "EXEC", "GET c", "DEBUG LOADAOF", "GET c",
        "SELECT 3", "SET x 1", "DEBUG LOADAOF", "SET y 1", "DBSIZE", "SELECT 0", "DBSIZE",
        "SET w 1", "WATCH w", "DEBUG LOADAOF", "MULTI", "GET w", "EXEC",
        "FUNCTION LOAD #!lua\\sname=l\\nredis.register_function('f',function()\\sreturn\\s7\\send)",
        "DEBUG LOADAOF", "FUNCTION LIST", "EVAL return\\sredis.call('debug','loadaof') 0",
        "CONFIG SET appendonly no", "SET lost 1", "DEBUG LOADAOF", "GET lost", "GET a", "DEBUG DIGEST")

    # What the log has takes the place of the keys, while it is written and afterwards.
    def test_the_log_is_loaded_again_as_redis_does(self):
        replies = []
        for kind in (Served, Redis):
            self.clear()
            server = self.start(kind, "--appendonly", "yes")
            wire = server.wire()
            words = [[word.replace("\\s", " ").replace("\\n", "\n") for word in line.split()]
                     for line in self.LOADING]
            replies.append([(line, wire.ask(*line)) for line in words])
            info = server.cli("INFO", "persistence")
            replies[-1].append(re.search("rdb_changes_since_last_save:.*", info).group())
            server.stop()
        self.assertEqual(replies[0], replies[1])

    # Redis exits.
    def test_without_a_log_that_can_be_loaded_the_keys_stay(self):
        server = self.start(Served)
        server.cli("SET", "a", "1")
        self.assertEqual(server.cli("DEBUG", "LOADAOF").strip(),
                         "ERR Error trying to load the append only file: there is no append only file")
        server.cli("CONFIG", "SET", "appendonly", "yes")
        self.wait_for_rewrite(server)
        with open(self.path("appendonly.aof.1.incr.aof"), "ab") as file:
            file.write(b"*1\r\n$4\r\nPING\r\ngarbage\r\n")
        self.assertIn("Bad file format", server.cli("DEBUG", "LOADAOF"))
        self.assertEqual(server.cli("GET", "a"), "1\n")

    def test_a_truncated_log_is_loaded_up_to_its_last_command(self):
        sizes = []
        for kind in (Served, Redis):
            self.clear()
            server = self.start(kind, "--appendonly", "yes")
            server.cli("SET", "a", "1")
            server.cli("SET", "b", "1")
            server.stop(signal.SIGKILL)
            path = self.path("appendonly.aof.1.incr.aof")
            os.truncate(path, os.path.getsize(path) - 3)
            server = self.start(kind, "--appendonly", "yes")
            self.assertEqual(server.cli("KEYS", "*"), "a\n")
            server.stop()
            sizes.append(os.path.getsize(path))
        self.assertEqual(sizes[0], sizes[1])

    def test_the_file_of_redis_6_is_adopted(self):
        results = []
        for kind in (Served, Redis):
            self.clear()
            with open(os.path.join(self.data, "appendonly.aof"), "wb") as file:
                file.write(b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n")
            server = self.start(kind, "--appendonly", "yes")
            self.assertEqual(server.cli("INCR", "a"), "2\n")
            server.stop()
            results.append((self.files(), self.content(MANIFEST), sorted(os.listdir(self.data))))
        self.assertEqual(results[0], results[1])

    def test_the_log_is_loaded_and_not_the_file_of_keys(self):
        for kind in (Served, Redis):
            self.clear()
            server = self.start(kind)
            server.cli("SET", "saved", "1")
            server.cli("SAVE")
            server.stop()
            server = self.start(kind, "--appendonly", "yes")
            self.assertEqual(server.cli("DBSIZE"), "0\n")
            server.stop()


class Writing(AppendOnlyTest):
    FIELDS = ("aof_enabled", "aof_rewrite_in_progress", "aof_rewrite_scheduled", "aof_last_bgrewrite_status",
              "aof_rewrites", "aof_last_write_status", "aof_buffer_length")

    def test_the_files_are_those_of_redis(self):
        results = []
        for kind in (Served, Redis):
            self.clear()
            server = self.start(kind)
            trace = []

            def note(*words, server=server, trace=trace):
                trace.append((words, server.cli(*words)))
                self.wait_for_rewrite(server)
                trace.append(self.info(server, self.FIELDS))
                if os.path.exists(os.path.join(self.data, FOLDER)):
                    trace.append((self.files(), self.content(MANIFEST)))

            note("SET", "a", "1")
            note("BGREWRITEAOF")
            note("CONFIG", "SET", "appendonly", "yes")
            note("SET", "b", "1")
            trace.append(self.content(next(name for name in self.files() if ".incr." in name)))
            note("BGREWRITEAOF")
            for name in ("appendonly", "appendfsync", "appenddirname", "appendfilename"):
                note("CONFIG", "GET", name)
            note("CONFIG", "SET", "appendonly", "no")
            note("SET", "c", "1")
            note("CONFIG", "SET", "appendonly", "yes")
            note("CONFIG", "SET", "appendonly", "perhaps")
            note("CONFIG", "SET", "appendfsync", "perhaps")
            note("CONFIG", "SET", "appendfilename", "x")
            server.stop()
            results.append(trace)
        self.assertEqual(results[0], results[1])

    def test_the_log_begins_after_a_transaction_and_after_a_file_of_keys_as_in_redis(self):
        fields = self.FIELDS[:5]
        for kind in (Served, Redis):
            with self.subTest(kind=kind.__name__):
                server = self.start(kind)
                wire = server.wire()
                for before, begun in (("MULTI", "EXEC"), ("BGSAVE", "PING")):
                    # In one packet, so that the save has not ended.
                    wire.socket.sendall(f"{before}\r\nCONFIG SET appendonly yes\r\nINFO persistence\r\n"
                                        f"INCR n\r\n{begun}\r\n".encode())
                    replies = [wire.read() for _ in range(5)]
                    text = replies[2][1] if before == "BGSAVE" else replies[4][1][1][1]
                    info = {name: value for name, value in re.findall(r"(\w+):(\w+)", text) if name in fields}
                    self.assertEqual(info["aof_enabled"], "1")
                    self.assertEqual(info["aof_rewrite_scheduled"], "1")
                    self.assertEqual(info["aof_rewrite_in_progress"], "0")
                    deadline = time.monotonic() + 20
                    while "aof_rewrite_scheduled:1" in server.cli("INFO", "persistence"):
                        self.assertLess(time.monotonic(), deadline)
                        time.sleep(0.02)
                    self.wait_for_rewrite(server)
                    server.cli("CONFIG", "SET", "appendonly", "no")
                server.stop(signal.SIGKILL)
                server = self.start(kind, "--appendonly", "yes")
                self.assertEqual(server.cli("GET", "n"), "2\n")
                server.stop()
                self.clear()

    def test_clients_go_on_while_the_log_begins(self):
        for preamble in ("yes", "no"):
            with self.subTest(preamble=preamble):
                server = self.start(Served, "--config", self.config("no", preamble))
                server.cli("DEBUG", "POPULATE", "300000", "key", "250")
                wire = server.wire()
                wire.socket.sendall(b"CONFIG SET appendonly yes\r\n")
                written = set()
                while True:
                    wire.socket.sendall(b"INCR n\r\nINFO persistence\r\n")
                    if not written:
                        self.assertEqual(wire.read(), ("+", "OK"))
                    count = wire.read()[1]
                    info = dict(line.split(":") for line in wire.read()[1].split() if ":" in line)
                    if info["aof_rewrite_in_progress"] == "0":
                        break
                    self.assertEqual(info["current_save_keys_total"], "300000")
                    written.add(info["current_save_keys_processed"])
                # Commands were answered between the parts of the file.
                self.assertGreater(len(written), 2)
                server.stop(signal.SIGKILL)
                self.assertEqual(self.check(), 0)
                for kind in (Served, Redis):
                    server = self.start(kind, "--appendonly", "yes")
                    self.assertEqual(server.cli("GET", "n"), f"{count}\n")
                    self.assertEqual(server.cli("DBSIZE"), "300001\n")
                    server.stop()
                self.clear()

    def test_shutdown_is_refused_while_the_log_begins_as_in_redis(self):
        for kind in (Served, Redis):
            with self.subTest(kind=kind.__name__):
                server = self.start(kind)
                server.cli("DEBUG", "POPULATE", "300000", "key", "250")
                wire = server.wire()
                wire.socket.sendall(b"CONFIG SET appendonly yes\r\nSHUTDOWN\r\nPING\r\n")
                self.assertEqual([wire.read() for _ in range(3)],
                                 [("+", "OK"), ("-", "ERR Errors trying to SHUTDOWN. Check logs."), ("+", "PONG")])
                self.wait_for_rewrite(server)
                server.stop()
                server = self.start(kind, "--appendonly", "yes")
                self.assertEqual(server.cli("DBSIZE"), "300000\n")
                server.stop()
                self.clear()

    def test_debug_delays_each_write(self):
        for kind in (Served, Redis):
            server = self.start(kind, "--appendonly", "yes")
            server.cli("DEBUG", "AOF-FLUSH-SLEEP", "200000")
            begun_at = time.monotonic()
            server.cli("SET", "k", "v")
            self.assertGreaterEqual(time.monotonic() - begun_at, 0.2)
            server.stop()
            self.clear()

    def test_a_grown_log_is_rewritten(self):
        for kind in (Served, Redis):
            self.clear()
            server = self.start(kind, "--appendonly", "yes")
            server.cli("CONFIG", "SET", "auto-aof-rewrite-min-size", "10kb", "auto-aof-rewrite-percentage", "100")
            wire = server.wire()
            for _ in range(2000):
                wire.plain("SET", "k", "some value")
            # Without a rewrite there are 74,000 bytes. What Redis writes while its child works stays, and it removes old
            # files in the background.
            for _ in range(300):
                if self.size() < 60_000:
                    break
                time.sleep(0.1)
            self.assertLess(self.size(), 60_000)
            server.stop()

    def test_every_acknowledged_write_survives_a_kill(self):
        for fsync in ("always", "everysec", "no"):
            self.clear()
            server = self.start(Served, "--appendonly", "yes")
            server.cli("CONFIG", "SET", "appendfsync", fsync)
            wire = server.wire()
            for _ in range(500):
                count = wire.plain("INCR", "n")
            server.stop(signal.SIGKILL)
            server = self.start(Served, "--appendonly", "yes")
            self.assertEqual(server.wire().plain("INCR", "n"), count + 1)
            server.stop()


if __name__ == "__main__":
    unittest.main()
