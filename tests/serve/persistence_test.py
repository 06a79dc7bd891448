"""SAVE, BGSAVE, save points, SHUTDOWN and the moving of folders and listeners, beside redis-server."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from served import PROGRAM, Redis, Served, reserve_port


class PersistenceTest(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="redouble-data-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def start(self, kind, *options):
        """A server that keeps its keys in self.data."""
        server = kind("--dir", self.data, *options)
        self.addCleanup(server.stop)
        return server

    def file(self, name="dump.rdb"):
        return os.path.join(self.data, name)


class Saving(PersistenceTest):
    def test_keys_are_there_again_after_a_restart(self):
        for writer, reader in ((Served, Served), (Served, Redis), (Redis, Served)):
            with self.subTest(writer=writer.__name__, reader=reader.__name__):
                if os.path.exists(self.file()):
                    os.remove(self.file())
                debug = ("--enable-debug-command", "local")
                server = self.start(writer, *debug)
                server.cli("SET", "k", "v")
                server.cli("RPUSH", "list", "a", "b")
                server.cli("SET", "short", "1", "PX", "60000")
                self.assertEqual(server.cli("SAVE"), "OK\n")
                digest = server.cli("DEBUG", "DIGEST")
                server.stop()
                server = self.start(reader, *debug)
                self.assertEqual(server.cli("GET", "k"), "v\n")
                self.assertEqual(server.cli("LRANGE", "list", "0", "-1"), "a\nb\n")
                self.assertGreater(int(server.cli("PTTL", "short")), 0)
                self.assertEqual(server.cli("DEBUG", "DIGEST"), digest)
                self.assertEqual(subprocess.run(["redis-check-rdb", self.file()], check=False,
                                                capture_output=True).returncode, 0)
                server.stop()

    def test_replies_are_those_of_redis(self):
        replies = []
        for kind in (Served, Redis):
            server = self.start(kind)
            wire = server.wire()
            commands = ["SAVE", "BGSAVE x", "BGSAVE SCHEDULE x", "SAVE x", "CONFIG GET dbfilename",
                        "CONFIG GET dir", "CONFIG SET dir /", "CONFIG SET dbfilename x.rdb",
                        "CONFIG SET save 60", "CONFIG SET save", "MULTI", "SAVE", "EXEC",
                        "MULTI", "BGSAVE", "EXEC", "SHUTDOWN SAVE NOSAVE", "SHUTDOWN ABORT"]
            replies.append([wire.ask(*command.split()) for command in commands])
            server.stop()
        self.assertEqual(replies[0], replies[1])

    def test_a_save_while_the_log_is_rewritten_is_that_of_redis(self):
        for kind in (Served, Redis):
            with self.subTest(kind=kind.__name__):
                server = self.start(kind, "--appendonly", "yes")
                wire = server.wire()
                # In one packet, so that the rewrite has not ended.
                wire.socket.sendall(b"BGREWRITEAOF\r\nBGSAVE\r\nBGSAVE SCHEDULE\r\n")
                self.assertEqual(
                    [wire.read()[1] for _ in range(3)],
                    ["Background append only file rewriting started",
                     "ERR Another child process is active (AOF?): can't BGSAVE right now. Use "
                     "BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.",
                     "Background saving scheduled"])
                deadline = time.monotonic() + 20
                while "rdb_saves:1" not in server.cli("INFO", "persistence"):
                    self.assertLess(time.monotonic(), deadline)
                server.stop()
                shutil.rmtree(self.file("appendonlydir"))

    def test_a_delayed_save_is_that_of_redis(self):
        seen = []
        for kind in (Served, Redis):
            server = self.start(kind)
            wire = server.wire()

            def fields():
                info = dict(line.split(":", 1) for line in wire.plain("INFO", "everything").splitlines() if ":" in line)
                return [info[name] for name in ("rdb_bgsave_in_progress", "rdb_saves", "aof_rewrite_scheduled",
                                                "aof_rewrite_in_progress", "aof_rewrites", "total_forks")]
            replies = [wire.ask(*command.split()) for command in
                       ("MSET a 1 b 2", "CONFIG SET rdb-key-save-delay 100000000", "BGSAVE", "BGSAVE", "BGREWRITEAOF")]
            replies.append(fields())
            # It would be a file of keys that are gone.
            replies.append(wire.ask("FLUSHALL"))
            deadline = time.monotonic() + 60
            while (last := fields())[-1] != "2" or last[3] != "0":
                self.assertLess(time.monotonic(), deadline, last)
            seen.append(replies + [last])
            server.stop()
        self.assertEqual(*seen)

    def test_saving_in_the_background(self):
        server = self.start(Served)
        server.cli("SET", "k", "1")
        self.assertEqual(server.cli("BGSAVE"), "Background saving started\n")
        server.cli("SET", "k", "2")
        deadline = time.monotonic() + 20
        while "rdb_bgsave_in_progress:1" in server.cli("INFO", "persistence"):
            self.assertLess(time.monotonic(), deadline)
        info = server.cli("INFO", "persistence")
        self.assertIn("rdb_changes_since_last_save:1\n", info.replace("\r", ""))
        self.assertIn("rdb_last_bgsave_status:ok", info)
        self.assertIn("rdb_saves:1", info)
        server.stop()
        self.assertEqual(self.start(Served).cli("GET", "k"), "1\n")

    def test_clients_go_on_while_keys_are_saved_in_the_background(self):
        debug = ("--enable-debug-command", "local")
        server = self.start(Served, *debug)
        server.cli("CONFIG", "SET", "rdbcompression", "no")
        server.cli("DEBUG", "POPULATE", "200000", "key", "250")
        server.cli("MSET", "a", "1", "b", "1", "c", "1")
        digest = server.cli("DEBUG", "DIGEST")
        wire = server.wire()
        self.assertEqual(wire.ask("BGSAVE"), ("+", "Background saving started"))
        for command in ("BGSAVE", "SAVE"):
            self.assertEqual(wire.ask(command), ("-", "ERR Background save already in progress"))
        written = []
        changes = 0
        while True:
            # After each round the databases are exchanged.
            number = len(written)
            deleted = 0 if number % 2 else 2 if number == 0 else 1
            changes += 3 + deleted
            wire.socket.sendall(b"SET a 2\r\nDEL key:%d b\r\nSET new:%d 1\r\nSWAPDB 0 1\r\nINFO persistence\r\n"
                                % (199_999 - number, number))
            self.assertEqual([wire.read() for _ in range(4)],
                             [("+", "OK"), (":", deleted), ("+", "OK"), ("+", "OK")])
            info = dict(line.split(":") for line in wire.read()[1].split() if ":" in line)
            if info["rdb_bgsave_in_progress"] == "0":
                break
            self.assertEqual(info["current_save_keys_total"], "200003")
            written.append(int(info["current_save_keys_processed"]))
        # Commands were answered between the parts of the file.
        self.assertGreater(len(set(written)), 2)
        self.assertEqual(written, sorted(written))
        self.assertEqual(info["current_save_keys_total"], "0")
        self.assertEqual(info["rdb_last_bgsave_status"], "ok")
        self.assertEqual(info["rdb_saves"], "1")
        self.assertEqual(int(info["rdb_changes_since_last_save"]), changes)
        server.stop()
        self.assertEqual(self.start(Served, *debug).cli("DEBUG", "DIGEST"), digest)
        self.assertEqual(self.start(Redis, *debug).cli("DEBUG", "DIGEST"), digest)

    def test_flushall_and_shutdown_stop_a_save_in_the_background(self):
        for stop in ("FLUSHALL", "SHUTDOWN NOSAVE"):
            server = self.start(Served, "--enable-debug-command", "local")
            server.cli("SET", "k", "1")
            server.cli("SAVE")
            server.cli("DEBUG", "POPULATE", "200000", "key", "250")
            wire = server.wire()
            wire.socket.sendall(f"BGSAVE\r\n{stop}\r\nINFO persistence\r\n".encode())
            self.assertEqual(wire.read(), ("+", "Background saving started"))
            if stop == "FLUSHALL":
                self.assertEqual(wire.read(), ("+", "OK"))
                info = wire.read()[1]
                self.assertIn("rdb_bgsave_in_progress:0", info)
                self.assertIn("rdb_last_bgsave_status:ok", info)
                server.stop()
            else:
                server.process.wait(20)
            self.assertEqual(os.listdir(self.data), ["dump.rdb"])
            server = self.start(Served)
            self.assertEqual(server.cli("DBSIZE"), "1\n")
            server.stop()

    def test_flushall_saves_if_there_are_save_points_as_redis_does(self):
        for points in ("3600 1", ""):
            results = []
            for kind in (Served, Redis):
                server = self.start(kind)
                server.cli("CONFIG", "SET", "save", points)
                server.cli("SET", "k", "1")
                server.cli("SAVE")
                server.cli("SET", "k", "2")
                self.assertEqual(server.cli("FLUSHALL"), "OK\n")
                info = server.cli("INFO", "persistence")
                server.stop(signal.SIGKILL)
                fields = re.findall("(?:rdb_changes_since_last_save|rdb_saves|rdb_last_bgsave_status):.*", info)
                server = self.start(kind)
                results.append((points, fields, server.cli("DBSIZE")))
                server.stop(signal.SIGKILL)
                os.remove(self.file())
            self.assertEqual(results[0], results[1])

    def test_a_save_point_of_a_manual_clock(self):
        server = self.start(Served, "--clock", "manual", "--start", "2026-05-09T14:00:00Z")
        server.cli("CONFIG", "SET", "save", "60 2")
        server.cli("MSET", "a", "1", "b", "2")
        server.cli("SIM", "CLOCK", "ADVANCE", "61s")
        deadline = time.monotonic() + 20
        while not os.path.exists(self.file()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(server.cli("LASTSAVE"), "1778335261\n")

    def test_a_failed_save_is_told_and_refuses_writes_as_redis_does(self):
        replies = []
        for kind in (Served, Redis):
            server = self.start(kind)
            # redis-server writes temp-PID.rdb and renames it; a folder cannot be replaced by a file.
            os.mkdir(self.file())
            os.mkdir(os.path.join(self.file(), "inside"))
            wire = server.wire()
            got = [wire.ask("SET", "k", "1"), wire.ask("SAVE"), wire.ask("SET", "k", "2"),
                   wire.ask("CONFIG", "SET", "save", "3600 1"), wire.ask("BGSAVE")]
            deadline = time.monotonic() + 20
            while "rdb_last_bgsave_status:err" not in server.cli("INFO", "persistence"):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            commands = ["SET k 3", "GET k", "PING", "PUBLISH a b", "FLUSHALL", "MULTI", "PING", "EXEC",
                        "CONFIG SET min-replicas-to-write 1", "SET k 3", "PING",
                        "CONFIG SET stop-writes-on-bgsave-error no", "SET k 4", "PING",
                        "CONFIG SET min-replicas-to-write 0", "SET k 4", "CONFIG SET save"]
            got += [wire.ask(*command.split()) for command in commands]
            got += [wire.ask("EVAL", "return redis.call('PING')", "0"), wire.ask("CONFIG", "SET", "save", "")]
            replies.append(got)
            server.stop()
            shutil.rmtree(self.file())
        self.assertEqual(replies[0], replies[1])

    def test_a_damaged_file_is_refused(self):
        with open(self.file(), "wb") as file:
            file.write(b"REDIS0010 and nothing else")
        folder = tempfile.mkdtemp(prefix="redouble-serve-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        program = subprocess.run(
            [PROGRAM, "serve", "--port", "none", "--unixsocket", os.path.join(folder, "s"), "--dir",
             self.data], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(program.returncode, 1)
        self.assertIn("dump.rdb: ", program.stderr)


class Stopping(PersistenceTest):
    def saved(self, stop, *options):
        """Whether `stop` leaves a file."""
        server = self.start(Served, *options)
        server.cli("SET", "k", "v")
        stop(server)
        server.process.wait(20)
        exists = os.path.exists(self.file())
        if exists:
            os.remove(self.file())
        return exists

    def test_shutdown_saves_as_redis_does(self):
        def with_points(server):
            server.cli("CONFIG", "SET", "save", "3600 1")

        def word(*words):
            return lambda server: server.cli("SHUTDOWN", *words)

        self.assertFalse(self.saved(word()))
        self.assertTrue(self.saved(word("SAVE")))
        self.assertFalse(self.saved(lambda s: (with_points(s), s.cli("SHUTDOWN", "NOSAVE"))))
        self.assertTrue(self.saved(lambda s: (with_points(s), s.cli("SHUTDOWN"))))
        self.assertFalse(self.saved(lambda s: s.process.send_signal(signal.SIGTERM)))
        self.assertTrue(
            self.saved(lambda s: (with_points(s), s.process.send_signal(signal.SIGTERM))))

    REFUSED = ("-", "ERR Errors trying to SHUTDOWN. Check logs.")

    def cannot_save(self, how):
        """Makes every save of a server that runs fail."""
        if how == "no folder":
            shutil.rmtree(self.data)
        else:  # A file cannot take the place of a folder with something in it.
            os.makedirs(os.path.join(self.file(), "inside"))

    def can_save_again(self, how):
        if how == "no folder":
            os.mkdir(self.data)  # For the next server: this one is in the folder that is gone.
        else:
            shutil.rmtree(self.file())

    def wait_for_line(self, server, text):
        """Reads the server's log up to a line with this text."""
        giving_up = threading.Timer(20, server.process.kill)
        giving_up.start()
        self.addCleanup(giving_up.cancel)
        self.assertTrue(any(text in line for line in server.process.stdout), f"no line has {text}")
        giving_up.cancel()

    def test_a_shutdown_that_cannot_save_is_refused_as_in_redis(self):
        for how in ("no folder", "no file"):
            replies = []
            for kind in (Served, Redis):
                server = self.start(kind)
                wire = server.wire()
                wire.ask("SET", "k", "1")
                self.cannot_save(how)
                refused = ("SHUTDOWN SAVE", "SHUTDOWN SAVE NOW", "SHUTDOWN NOW SAVE")
                got = [wire.ask(*command.split()) for command in (*refused, "PING", "SET k 2")]
                self.assertEqual(got[:len(refused)], [self.REFUSED] * len(refused))
                got.append(wire.ask("CONFIG", "SET", "save", "3600 1"))
                got += [wire.ask(*command.split()) for command in (
                    "SHUTDOWN", "SHUTDOWN NOW", "SHUTDOWN ABORT", "GET k")]
                wire.close()
                # New clients are served too.
                got.append(server.cli("GET", "k"))
                self.assertEqual(server.process.poll(), None)
                self.can_save_again(how)
                server.wire().send("SHUTDOWN", "NOSAVE")
                got.append((server.process.wait(20), os.listdir(self.data)))
                replies.append((how, got))
            self.assertEqual(replies[0], replies[1])

    def test_shutdown_force_stops_without_the_file_as_in_redis(self):
        for how in ("no folder", "no file"):
            for words in ("SAVE FORCE", "FORCE SAVE NOW", "FORCE", "NOSAVE", "NOSAVE NOW FORCE"):
                for kind in (Served, Redis):
                    with self.subTest(how=how, words=words, kind=kind.__name__):
                        server = self.start(kind)
                        server.cli("CONFIG", "SET", "save", "3600 1")
                        server.cli("SET", "k", "1")
                        self.cannot_save(how)
                        wire = server.wire()
                        wire.send("SHUTDOWN", *words.split())
                        self.assertEqual(wire.socket.recv(100), b"")
                        self.assertEqual(server.process.wait(20), 0)
                        self.can_save_again(how)
                        self.assertEqual(os.listdir(self.data), [])

    def test_a_signal_does_not_stop_a_server_that_cannot_save(self):
        for kind in (Served, Redis):
            for name in ("SIGTERM", "SIGINT"):
                with self.subTest(kind=kind.__name__, name=name):
                    server = self.start(kind)
                    server.cli("CONFIG", "SET", "save", "3600 1")
                    server.cli("SET", "k", "1")
                    self.cannot_save("no file")
                    server.process.send_signal(getattr(signal, name))
                    self.wait_for_line(server, "Errors trying to shut down the server. Check the logs")
                    self.assertEqual(server.cli("GET", "k"), "1\n")
                    self.can_save_again("no file")
                    server.process.send_signal(getattr(signal, name))
                    self.assertEqual(server.process.wait(20), 0)
                    self.assertEqual(os.listdir(self.data), ["dump.rdb"])
                    os.remove(self.file())

    WORDS = ("NOWAIT", "SAVE NOWAIT", "NOW NOW x", "ABORT NOW", "ABORT SAVE", "FORCE ABORT", "NOSAVE SAVE FORCE",
             "SAVE NOSAVE NOW", "ABORT", "ABORT ABORT", "abort")

    def test_words_that_do_not_fit_are_refused_as_in_redis(self):
        replies = []
        for kind in (Served, Redis):
            wire = self.start(kind).wire()
            replies.append([(words, wire.ask("SHUTDOWN", *words.split())) for words in self.WORDS])
            replies[-1] += [wire.ask("MULTI"), wire.ask("SHUTDOWN", "NOSAVE"), wire.ask("EXEC"),
                            wire.ask("EVAL", "return redis.call('SHUTDOWN', 'NOSAVE')", "0"), wire.ask("PING")]
        self.assertEqual(replies[0], replies[1])

    def test_each_good_word_stops_the_server_as_in_redis(self):
        for words in ("", "NOW", "FORCE", "NOW FORCE", "nosave now force", "SAVE NOW", "SAVE SAVE FORCE", "NOW NOW"):
            results = []
            for kind in (Served, Redis):
                server = self.start(kind)
                wire, other = server.wire(), server.wire()
                wire.ask("SET", "k", "v")
                wire.send("SHUTDOWN", *words.split())
                results.append([connection.socket.recv(100) for connection in (wire, other)])
                results[-1] += [server.process.wait(20), os.listdir(self.data)]
                if os.path.exists(self.file()):
                    os.remove(self.file())
            self.assertEqual(results[0], results[1], words)


class Reloading(PersistenceTest):
    COMMANDS = (
        "DEBUG RELOAD NOSAVE", "DEBUG RELOAD FOO", "DEBUG RELOAD NOSAVE FOO", "SET a 1", "SELECT 1",
        "SET b 1 PX 100000", "SELECT 0", "DEBUG RELOAD", "GET a", "DEBUG RELOAD nosave noflush merge",
        "SET a 2", "SET c 3", "DEBUG RELOAD NOSAVE NOFLUSH MERGE", "GET a", "GET c", "SET a 9",
        "DEBUG RELOAD NOSAVE", "GET a", "GET c", "DEBUG RELOAD MERGE", "DEBUG RELOAD NOFLUSH MERGE",
        "WATCH a", "DEBUG RELOAD", "MULTI", "PING", "EXEC", "MULTI", "SET a 5", "DEBUG RELOAD",
        "GET a", "EXEC", "DEBUG DIGEST", "FLUSHALL", "DEBUG RELOAD NOSAVE NOFLUSH", "GET a",
        "CONFIG SET dbfilename none.rdb", "DEBUG RELOAD NOSAVE NOFLUSH", "DBSIZE",
        "DEBUG RELOAD NOSAVE", "DBSIZE")

    def test_replies_are_those_of_redis(self):
        config = os.path.join(self.data, "redis.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write("enable-debug-command yes\nenable-protected-configs yes\n")
        redis = ("--enable-debug-command", "yes", "--enable-protected-configs", "yes")
        replies = []
        for kind, options in ((Served, ("--config", config)), (Redis, redis)):
            server = self.start(kind, *options)
            wire = server.wire()
            replies.append([(command, wire.ask(*command.split())) for command in self.COMMANDS])
            server.stop()
            os.remove(self.file())
        self.assertEqual(replies[0], replies[1])

    def test_a_key_that_exists_is_named(self):
        server = self.start(Served, "--enable-debug-command", "yes")
        self.assertEqual(server.cli("SET", "k", "1"), "OK\n")
        self.assertIn('the key "k" exists in database 0', server.cli("DEBUG", "RELOAD", "NOFLUSH"))
        self.assertEqual(server.cli("GET", "k"), "1\n")

    def test_without_a_folder_nothing_is_saved(self):
        for kind in (Served, Redis):
            server = self.start(kind, "--enable-debug-command", "yes")
            shutil.rmtree(self.data)
            self.assertEqual(server.wire().ask("DEBUG", "RELOAD"), ("-", "ERR"))
            server.stop()
            os.mkdir(self.data)


class Moving(PersistenceTest):
    def test_the_folder_moves_if_that_is_allowed(self):
        other = tempfile.mkdtemp(prefix="redouble-data-")
        self.addCleanup(shutil.rmtree, other, ignore_errors=True)
        config = os.path.join(self.data, "redis.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write("enable-protected-configs yes\n")
        replies = []
        for kind, option in ((Served, ("--config", config)), (Redis, ("--enable-protected-configs", "yes"))):
            server = self.start(kind, *option)
            wire = server.wire()
            # All parameters are set, or none, the folder included.
            replies.append([wire.ask("CONFIG", "SET", "dir", other, "hz", "x"),
                            wire.ask("CONFIG", "SET", "dir", other, "bind", "203.0.113.1", "port", "1"),
                            wire.ask("CONFIG", "GET", "dir"),
                            wire.ask("CONFIG", "SET", "dir", "/nowhere", "repl-timeout", "33"),
                            wire.ask("CONFIG", "GET", "repl-timeout"),
                            wire.ask("CONFIG", "SET", "dir", "/nowhere"),
                            wire.ask("CONFIG", "SET", "dir", other, "dbfilename", "other.rdb"),
                            wire.ask("CONFIG", "GET", "dir"), wire.ask("SAVE"),
                            wire.ask("CONFIG", "SET", "dbfilename", "a/b")])
            server.stop()
            self.assertTrue(os.path.exists(os.path.join(other, "other.rdb")))
            os.remove(os.path.join(other, "other.rdb"))
        self.assertEqual(replies[0], replies[1])

    def test_the_listeners_move(self):
        with reserve_port() as first, reserve_port() as second:
            ports = [keeper.getsockname()[1] for keeper in (first, second)]
            server = self.start(Served, "--port", str(ports[0]))
            held = socket.create_connection(("127.0.0.1", ports[0]))
            self.assertEqual(server.cli("CONFIG", "SET", "port", str(ports[1])), "OK\n")
            socket.create_connection(("127.0.0.1", ports[1])).close()
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", ports[0]))
            held.sendall(b"PING\r\n")
            self.assertEqual(held.recv(100), b"+PONG\r\n", "connections stay")
            held.close()
            self.assertEqual(server.cli("CONFIG", "SET", "bind", "127.0.0.2"), "OK\n")
            socket.create_connection(("127.0.0.2", ports[1])).close()
            self.assertIn("Failed to bind to specified addresses.",
                          server.cli("CONFIG", "SET", "bind", "203.0.113.1"))
            socket.create_connection(("127.0.0.2", ports[1])).close()
            self.assertEqual(server.cli("CONFIG", "GET", "bind"), "bind\n127.0.0.2\n")

    def test_without_an_address_nobody_can_connect_by_tcp(self):
        replies = []
        for kind in (Served, Redis):
            with reserve_port() as keeper:
                port = keeper.getsockname()[1]
                server = self.start(kind, "--port", str(port), "--bind", "127.0.0.1")
                said = []
                for value in ("", "  ", "127.0.0.1 127.0.0.2"):
                    said.append(server.cli("CONFIG", "SET", "bind", value))
                    said.append(server.cli("CONFIG", "GET", "bind"))
                    try:
                        socket.create_connection(("127.0.0.1", port)).close()
                        said.append("connects")
                    except ConnectionRefusedError:
                        said.append("refused")
                replies.append(said)
                server.stop()
        self.assertEqual(replies[0], replies[1])
        self.assertEqual(replies[0][2::3], ["refused", "refused", "connects"])


if __name__ == "__main__":
    unittest.main()
