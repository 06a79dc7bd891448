"""Files of keys and logs in the program: `convert`, `inspect` and `serve --load`, beside redis-server's own tools."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from replicated import ReplicatedTestCase
from served import PROGRAM, Redis, Served

FUNCTIONS = "#!lua name=%s\nredis.register_function('%s', function() return 1 end)"
LOG = "appendonlydir"


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


class Terminal:
    """A terminal for a program's error stream; what the program writes there is `text` after close()."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        self.parts = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while True:
            try:
                part = os.read(self.master, 1 << 16)
            except OSError:  # The last writer has closed it.
                return
            self.parts.append(part)

    def close(self):
        os.close(self.slave)
        self.reader.join(20)
        os.close(self.master)
        self.text = b"".join(self.parts).decode()


class DataFilesTest(ReplicatedTestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="redouble-files-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.data, *names)

    def folder(self, name):
        os.makedirs(self.path(name), exist_ok=True)
        return self.path(name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def fill(self, server, seed=1):
        """Every type with several encodings, groups with pending entries, deadlines, databases and functions."""
        self.load(server, seed, count=300).close()
        wire = server.wire()
        for number in range(600):
            wire.ask("HSET", "large:hash", f"f{number}", "x" * (number % 70))
            wire.ask("SADD", "large:set", f"m{number}")
            wire.ask("SADD", "large:ints", number * 7)
            wire.ask("ZADD", "large:zset", number / 3, f"m{number}")
            wire.ask("RPUSH", "large:list", "e" * (number % 90))
            wire.ask("XADD", "stream", f"{number + 1}-1", "f", number)
        for words in (("SET", b"bytes\x00\xff", bytes(range(256))), ("SET", "long", "ab" * 100_000),
                      ("SET", "int", "-42"), ("SET", "session:1", "v", "PXAT", "33000000000123"),
                      ("HSET", "cart:1", "book", "1"), ("PEXPIREAT", "cart:1", "33000000000456"),
                      ("SADD", "ints", "1", "2", "-3"), ("ZADD", "zset", "inf", "a", "-inf", "b", "0.1", "c"),
                      ("PFADD", "hll", *range(50)), ("SETBIT", "bits", "1000", "1"),
                      ("GEOADD", "geo", "13.36", "38.11", "Palermo"), ("XDEL", "stream", "5-1", "600-1"),
                      ("XGROUP", "CREATE", "stream", "g", "10-1"), ("XGROUP", "CREATECONSUMER", "stream", "g", "idle"),
                      ("XREADGROUP", "GROUP", "g", "ann", "COUNT", "7", "STREAMS", "stream", ">"),
                      ("XCLAIM", "stream", "g", "bob", "0", "11-1", "RETRYCOUNT", "5"),
                      ("XACK", "stream", "g", "12-1"), ("XGROUP", "CREATE", "empty", "g", "$", "MKSTREAM"),
                      ("FUNCTION", "LOAD", FUNCTIONS % ("one", "f")), ("FUNCTION", "LOAD", FUNCTIONS % ("two", "g")),
                      ("SELECT", "9"), ("SET", "other", "1", "PXAT", "33000000000789")):
            self.assertNotEqual(wire.ask(*words)[0], "-", words)
        wire.close()

    def content(self, server):
        """All that a file keeps of a server."""
        wire = server.wire()
        self.addCleanup(wire.close)
        kept = [("digest", wire.plain("DEBUG", "DIGEST")), sorted(map(str, wire.plain("FUNCTION", "LIST", "WITHCODE")))]
        for db in range(16):
            wire.ask("SELECT", db)
            for key in sorted(wire.plain("KEYS", "*")):
                words = key.encode("utf-8", "surrogateescape")
                kept.append((db, key, wire.plain("PEXPIRETIME", words)))
                if wire.plain("TYPE", words) == "stream":
                    kept.append(self.stream(wire, words))
        return kept

    @staticmethod
    def stream(wire, key):
        """A stream without what depends on the moment or on its nodes."""
        fields = wire.plain("XINFO", "STREAM", key)
        stream = [pair for pair in zip(fields[::2], fields[1::2])
                  if not pair[0].startswith("radix-tree") and not pair[0].endswith("-entry")]
        for group in wire.plain("XINFO", "GROUPS", key):
            name = group[1]
            consumers = [consumer[:4] for consumer in wire.plain("XINFO", "CONSUMERS", key, name)]
            # Without the time since the delivery.
            pending = [(entry[0], entry[1], entry[3]) for entry in wire.plain("XPENDING", key, name, "-", "+", "1000")]
            stream.append((group, consumers, pending))
        return stream

    def written_by_redis(self, *options):
        """Fills a redis-server that keeps its keys in the folder `from`. Returns its content."""
        server = self.start("redis", "--dir", self.folder("from"), *options)
        self.fill(server)
        content = self.content(server)
        self.assertEqual(server.cli("SAVE"), "OK\n")
        server.stop()
        return content

    def convert(self, source, target):
        done = run("convert", source, target, cwd=self.data)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def check(self, tool, *names):
        done = subprocess.run([tool, self.path(*names)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_loads(self, folder, content, *options):
        """Both servers have the content after a start in the folder."""
        for kind in ("redis", "redouble"):
            with self.subTest(folder=folder, kind=kind):
                shutil.copytree(self.path(folder), self.path("copy"))
                server = self.start(kind, "--dir", self.path("copy"), *options)
                self.assertEqual(self.content(server), content)
                server.stop()
                shutil.rmtree(self.path("copy"))


class Convert(DataFilesTest):
    def test_its_files_of_keys_are_those_of_redis(self):
        content = self.written_by_redis()
        self.folder("keys")
        self.convert("from/dump.rdb", "keys/dump.rdb")
        self.check("redis-check-rdb", "keys", "dump.rdb")
        self.assert_loads("keys", content)

    def test_its_logs_are_those_of_redis(self):
        content = self.written_by_redis()
        self.folder("log")
        self.convert("from/dump.rdb", f"log/{LOG}/")
        self.check("redis-check-aof", "log", LOG, "appendonly.aof.manifest")
        self.assert_loads("log", content, "--appendonly", "yes")

    def test_its_commands_are_a_log_of_redis_6(self):
        content = self.written_by_redis()
        self.folder("commands")
        self.convert("from/dump.rdb", "commands/appendonly.aof")
        self.check("redis-check-aof", "commands", "appendonly.aof")
        self.assert_loads("commands", content, "--appendonly", "yes")

    def test_keys_as_text_become_the_same_keys(self):
        content = self.written_by_redis()
        for name in ("keys.json", "keys.scenario.json"):
            self.folder("text")
            self.convert("from/dump.rdb", name)
            self.convert(name, "text/dump.rdb")
            self.check("redis-check-rdb", "text", "dump.rdb")
            self.assert_loads("text", content)

    def test_a_log_of_redis_becomes_a_file_of_keys(self):
        for preamble in ("yes", "no"):
            content = self.written_by_redis("--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
            os.remove(self.path("from", "dump.rdb"))
            self.folder("keys")
            self.convert(f"from/{LOG}", "keys/dump.rdb")
            self.check("redis-check-rdb", "keys", "dump.rdb")
            self.assert_loads("keys", content)
            shutil.rmtree(self.path("from"))

    def test_a_damaged_file_leaves_the_old_result(self):
        self.written_by_redis()
        self.folder("keys")
        self.convert("from/dump.rdb", "keys/dump.rdb")
        with open(self.path("keys/dump.rdb"), "rb") as file:
            whole = file.read()
        os.truncate(self.path("from/dump.rdb"), os.path.getsize(self.path("from/dump.rdb")) // 2)
        done = run("convert", "from/dump.rdb", "keys/dump.rdb", cwd=self.data)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aredouble convert: \S*from/dump\.rdb: .*\d+")
        with open(self.path("keys/dump.rdb"), "rb") as file:
            self.assertEqual(file.read(), whole)
        self.assertEqual(os.listdir(self.path("keys")), ["dump.rdb"])


class Inspect(DataFilesTest):
    @staticmethod
    def bytes_of(text):
        """The key that is written as in scenarios (sim/json/bytes.h)."""
        if not text.startswith("bytes:"):
            return text.encode()
        escaped = text.removeprefix("bytes:").encode()
        return re.sub(rb"\\x([0-9a-f]{2})", lambda digits: bytes([int(digits[1], 16)]), escaped)

    def test_its_json_says_what_redis_says(self):
        self.written_by_redis()
        done = run("inspect", "from/dump.rdb", "--format", "json", "--limit", "1000", cwd=self.data)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        wire, ours = (self.start(kind, "--dir", self.path("from")).wire() for kind in ("redis", "redouble"))
        self.addCleanup(wire.close)
        self.addCleanup(ours.close)
        sizes = [key["bytes"] for key in found["largest_keys"]]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(found["bytes"], sum(sizes))
        self.assertEqual(found["keys"], len(sizes))
        self.assertEqual(found["without_ttl"], sum(key["ttl_ms"] is None for key in found["largest_keys"]))
        written_ms = os.stat(self.path("from/dump.rdb")).st_mtime_ns // 1_000_000
        seen = {}
        for key in found["largest_keys"]:
            name = self.bytes_of(key["key"])
            wire.ask("SELECT", key["db"])
            self.assertEqual(wire.plain("TYPE", name), key["type"], key)
            self.assertEqual(wire.plain("OBJECT", "ENCODING", name), key["encoding"], key)
            deadline = wire.plain("PEXPIRETIME", name)
            if key["ttl_ms"] is None:
                self.assertEqual(deadline, -1, key)
            else:
                self.assertEqual(deadline, written_ms + key["ttl_ms"], key)
            ours.ask("SELECT", key["db"])
            self.assertEqual(ours.plain("MEMORY", "USAGE", name), key["bytes"], key)
            seen[key["db"]] = seen.get(key["db"], 0) + 1
        for db in range(16):
            wire.ask("SELECT", db)
            self.assertEqual(wire.plain("DBSIZE"), seen.get(db, 0))
        families = {family["pattern"]: family for family in found["families"]}
        self.assertEqual(families["session:*"]["keys"], 1)
        self.assertEqual(families["large:hash"]["elements"], 600)
        self.assertEqual(families["cart:*"]["without_ttl"], 0)
        self.assertEqual(sum(family["keys"] for family in found["families"]), found["keys"])
        self.assertEqual(sum(family["bytes"] for family in found["families"]), found["bytes"])

    def test_the_largest_keys_are_listed_up_to_a_limit(self):
        self.written_by_redis()
        done = run("inspect", "from/dump.rdb", "--format", "json", "--limit", "1", cwd=self.data)
        self.assertEqual([key["key"] for key in json.loads(done.stdout)["largest_keys"]], ["long"])


class Bar(DataFilesTest):
    KEYS = 20_000
    WHOLE = f"\rdump.rdb [####################] 100 %  {KEYS:,} keys\r"

    def setUp(self):
        super().setUp()
        server = Redis("--dir", self.data, "--enable-debug-command", "local", "--rdbcompression", "no")
        self.addCleanup(server.stop)
        # Ten megabytes: the bar moves about every two.
        server.cli("DEBUG", "POPULATE", str(self.KEYS), "key", "500")
        server.cli("SAVE")
        server.stop()

    def on_terminal(self, *arguments, use=None):
        """What the program writes to its error stream, which is a terminal."""
        terminal = Terminal()
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.data, stdout=subprocess.PIPE, stderr=terminal.slave,
                              text=True) as process:
            if use is not None:
                use(process)
            process.communicate(timeout=60)
        terminal.close()
        self.assertEqual(process.returncode, 0, terminal.text)
        return terminal.text

    def serve(self, process):
        """Waits for a server that has loaded the keys, and stops it."""
        self.assertIn("accepts connections", process.stdout.readline())
        size = subprocess.run(["redis-cli", "-s", self.path("s"), "DBSIZE"], capture_output=True, text=True, check=True)
        self.assertEqual(size.stdout, f"{self.KEYS}\n")
        process.send_signal(signal.SIGTERM)

    def commands(self):
        return ((("convert", "dump.rdb", "again.rdb"), None), (("inspect", "dump.rdb"), None),
                (("serve", "--port", "none", "--unixsocket", "s", "--load", "dump.rdb"), self.serve))

    def test_it_moves_on_a_terminal(self):
        for command, use in self.commands():
            with self.subTest(command[0]):
                text = self.on_terminal(*command, use=use)
                self.assertIn(self.WHOLE, text)
                parts = [int(part) for part in re.findall(r"\rdump\.rdb \[#* *\] +(\d+) %", text)]
                self.assertEqual(parts, sorted(parts))
                self.assertGreater(len(set(parts)), 3)
                # The line is cleared at the end.
                self.assertRegex(text, r"\r +\r\Z")

    def test_it_is_not_shown_elsewhere(self):
        for command, use in self.commands():
            with self.subTest(command[0]):
                with subprocess.Popen([PROGRAM, *command], cwd=self.data, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) as process:
                    if use is not None:
                        use(process)
                    self.assertEqual(process.communicate(timeout=60)[1], "")
                self.assertEqual(process.returncode, 0)


class ServeLoad(DataFilesTest):
    RULES = {"system": "shop", "families": [{"id": "shop.user", "pattern": "user:{user}", "type": "string"},
                                            {"id": "shop.cart", "pattern": "cart:{user}", "type": "hash"}]}
    RATE = "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403"

    def serve(self, *options):
        server = Served("--enable-debug-command", "local", *options)
        self.addCleanup(server.stop)
        return server

    def keys(self, *options):
        server = self.serve(*options)
        keys = sorted(server.cli("KEYS", "*").split())
        server.stop()
        return keys

    def written_log(self, *options):
        """A log with a base file and increments, and the server's content."""
        server = self.start("redis", "--dir", self.data, "--appendonly", "yes", *options)
        self.fill(server)
        server.cli("BGREWRITEAOF")
        self.wait_for(lambda: self.field(server, "aof_rewrites") == "1"
                      and self.field(server, "aof_rewrite_in_progress") == "0")
        self.load(server, 2, count=100).close()
        content = self.content(server)
        server.stop()
        return content

    def log_files(self):
        files = {}
        for name in sorted(os.listdir(self.path(LOG))):
            with open(self.path(LOG, name), "rb") as file:
                files[name] = file.read()
        return files

    def test_the_families_that_are_named_are_served(self):
        server = Redis("--dir", self.data)
        self.addCleanup(server.stop)
        for words in (("MSET", "user:ann", "1", "user:bob", "2", "other", "3", self.RATE, "4"),
                      ("HSET", "cart:ann", "book", "1"), ("SAVE",)):
            server.cli(*words)
        server.stop()
        rules = self.write("shop.json", json.dumps(self.RULES))
        load = ("--load", self.path("dump.rdb"))
        self.assertEqual(self.keys(*load, "--family", "gateway"), [self.RATE])
        self.assertEqual(self.keys(*load, "--family", "gateway.request_rate", "--pattern", "o*"), ["other", self.RATE])
        self.assertEqual(self.keys(*load, "--rules", rules, "--family", "shop.cart"), ["cart:ann"])
        self.assertEqual(self.keys(*load, "--rules", rules, "--family", "shop"), ["cart:ann", "user:ann", "user:bob"])
        for options, reason in ((("--family", "shop.cart"), "--family shop.cart: no such family or system"),
                                (("--family", "gateway", "--rules", "none.json"), "none.json")):
            done = run("serve", "--port", "0", *load, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"redouble serve: {reason}", done.stderr)

    def test_the_families_of_a_scenario_are_served(self):
        scenario = self.write("x.json", json.dumps({
            "name": "n", "description": "d", "system": "redis", "start": "2026-05-09T14:03:02Z",
            "steps": [{"kind": "command", "command": ["MSET", self.RATE, "1", "other", "2"]}]}))
        load = ("--clock", "manual", "--load", scenario)
        self.assertEqual(self.keys(*load), ["other", self.RATE])
        self.assertEqual(self.keys(*load, "--family", "gateway"), [self.RATE])
        self.assertEqual(self.keys(*load, "--pattern", "o*"), ["other"])

    def test_a_selection_without_a_file_is_refused(self):
        for options in (("--family", "gateway"), ("--pattern", "a*")):
            done = run("serve", "--port", "0", *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, "redouble serve: --pattern and --family need --load\n")

    def test_a_log_of_redis_is_served(self):
        for preamble in ("yes", "no"):
            with self.subTest(preamble=preamble):
                content = self.written_log("--aof-use-rdb-preamble", preamble)
                before = self.log_files()
                for name in (LOG, f"{LOG}/appendonly.aof.manifest"):
                    server = self.serve("--load", self.path(name))
                    self.assertEqual(self.content(server), content)
                    # What is written now is not in the log.
                    server.cli("SET", "new", "1")
                    server.stop()
                    self.assertEqual(self.log_files(), before)
                self.assertEqual(self.keys("--load", self.path(LOG), "--pattern", "ca*:1"), ["cart:1"])
                shutil.rmtree(self.path(LOG))

    def test_a_log_that_is_cut_is_refused(self):
        self.written_log()
        name = max(name for name in os.listdir(self.path(LOG)) if ".incr." in name)
        os.truncate(self.path(LOG, name), os.path.getsize(self.path(LOG, name)) - 3)
        before = self.log_files()
        done = run("serve", "--port", "0", "--load", self.path(LOG))
        self.assertEqual(done.returncode, 1)
        self.assertIn(name, done.stderr)
        self.assertEqual(self.log_files(), before)

    def test_the_times_of_a_log_are_shifted_as_those_of_a_file_of_keys(self):
        server = Redis("--dir", self.data, "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
        self.addCleanup(server.stop)
        written_s = 1_700_000_000
        wire = server.wire()
        for words in (("SET", "k", "v", "PXAT", "33000000000000"), ("XADD", "s", "1-1", "f", "v"),
                      ("XGROUP", "CREATE", "s", "g", "0"),
                      ("XCLAIM", "s", "g", "ann", "0", "1-1", "TIME", (written_s - 30) * 1000,
                       "RETRYCOUNT", "1", "FORCE")):
            wire.ask(*words)
        wire.close()
        server.stop()
        for name in os.listdir(self.path(LOG)):
            os.utime(self.path(LOG, name), (written_s, written_s))
        left_ms = 33_000_000_000_000 - written_s * 1000
        load = ("--load", self.path(LOG))
        for options in (("--clock", "manual"), ("--clock", "manual", "--start", "2026-05-09T14:03:02Z")):
            wire = self.serve(*load, *options).wire()
            self.assertEqual(wire.plain("PTTL", "k"), left_ms)
            self.assertEqual(wire.plain("XPENDING", "s", "g", "-", "+", "10"), [["1-1", "ann", 30_000, 1]])
            wire.close()
        for options in ((), ("--load-times", "keep")):
            self.assertEqual(self.serve(*load, *options).cli("PEXPIRETIME", "k"), "33000000000000\n")
        wire = self.serve(*load, "--load-times", "shift").wire()
        self.assertLessEqual(wire.plain("PTTL", "k"), left_ms)
        self.assertGreater(wire.plain("PTTL", "k"), left_ms - 60_000)
        wire.close()


if __name__ == "__main__":
    unittest.main()
