"""Goal: every option of `redouble serve` does what its help says."""

import glob
import json
import os
import signal
import socket
import subprocess
import unittest

import redis as redis_py

from served import PROGRAM, Redis, Served, reserve_port
from wire import Wire

START = "2026-05-09T14:03:02Z"
START_MS = 1_778_335_382_000


def outer_address():
    """A non-loopback address of this machine; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # Sends nothing: it only chooses a route.
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


class OptionsTest(unittest.TestCase):
    def serve(self, *options):
        served = Served(*options)
        self.addCleanup(served.stop)
        return served

    def reserve(self, address="127.0.0.1"):
        keeper = reserve_port(address)
        self.addCleanup(keeper.close)
        return keeper.getsockname()[1]

    def connect(self, port, address="127.0.0.1"):
        connection = socket.create_connection((address, port), timeout=20)
        wire = Wire(connection)
        self.addCleanup(wire.close)
        return wire

    def wire(self, served, protocol=2):
        wire = served.wire(protocol)
        self.addCleanup(wire.close)
        return wire


class Tcp(OptionsTest):
    def test_listens_on_the_loopback_and_on_the_unix_socket(self):
        port = self.reserve()
        served = self.serve("--port", str(port))
        self.assertEqual(served.line, "redouble serve: accepts connections on "
                         f"127.0.0.1:{port} and unix:{served.path}\n")
        wire = self.connect(port)
        self.assertEqual(wire.ask("SET", "k", "v"), ("+", "OK"))
        self.assertEqual(self.wire(served).plain("GET", "k"), "v")
        host, client_port = wire.socket.getsockname()
        me = wire.plain("CLIENT", "INFO")
        self.assertIn(f" addr={host}:{client_port} laddr=127.0.0.1:{port} ", me)
        self.assertIn(f"tcp_port:{port}\r\n", wire.plain("INFO", "server"))
        self.assertEqual(wire.plain("CONFIG", "GET", "port"), ["port", str(port)])

    def test_a_port_that_is_taken_is_said_to_be(self):
        port = self.reserve()
        served = self.serve("--port", str(port))
        second = subprocess.run([PROGRAM, "serve", "--port", str(port)], capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertEqual(second.stderr, f"redouble serve: cannot listen on 127.0.0.1:{port}: "
                         "Address already in use\n")
        self.assertEqual(self.wire(served).plain("PING"), "PONG")

    def test_ipv6(self):
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as keeper:
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                keeper.bind(("::1", 0))
            except OSError:
                self.skipTest("this machine has no IPv6")
            port = keeper.getsockname()[1]
            served = self.serve("--port", str(port), "--bind", "::1")
            self.assertIn(f"[::1]:{port}", served.line)
            wire = self.connect(port, "::1")
            self.assertIn(f" laddr=[::1]:{port} ", wire.plain("CLIENT", "INFO"))

    def test_a_connection_is_kept_alive_and_does_not_delay(self):
        port = self.reserve()
        served = self.serve("--port", str(port))
        self.connect(port).ask("PING")
        listing = subprocess.run(["ss", "-tno", "state", "established", f"( sport = :{port} )"],
                                 capture_output=True, text=True, check=False).stdout
        if not listing:
            self.skipTest("no ss on this machine")
        self.assertIn("timer:(keepalive", listing)
        self.assertEqual(served.process.poll(), None)

    def test_redis_py_and_redis_cli_come_by_tcp(self):
        port = self.reserve()
        served = self.serve("--port", str(port))
        client = redis_py.Redis(port=port)
        self.addCleanup(client.close)
        self.assertTrue(client.set("k", "v"))
        self.assertEqual(served.run("redis-cli", "-p", str(port), "GET", "k"), b"v\n")


class ProtectedMode(OptionsTest):
    """Both servers bind to all addresses and are accessed by a non-loopback one."""

    def setUp(self):
        self.address = outer_address()
        if self.address is None:
            self.skipTest("this machine has no address but the loopback's")

    def refusal(self, port):
        wire = self.connect(port, self.address)
        text = b""
        while part := wire.socket.recv(1 << 16):
            text += part
        return text

    def test_a_stranger_is_refused_in_the_words_of_redis(self):
        port, other = self.reserve("0.0.0.0"), self.reserve("0.0.0.0")
        served = self.serve("--port", str(port), "--bind", "0.0.0.0")
        redis = Redis("--port", str(other), "--bind", "0.0.0.0")
        self.addCleanup(redis.stop)
        self.assertTrue(self.refusal(port).startswith(b"-DENIED Redis is running in protected"))
        self.assertEqual(self.refusal(port), self.refusal(other))
        self.assertEqual(self.connect(port).plain("PING"), "PONG")
        self.wire(served).ask("CONFIG", "SET", "protected-mode", "no")
        self.assertEqual(self.connect(port, self.address).plain("PING"), "PONG")

    def test_local_is_for_clients_of_this_machine(self):
        port, other = self.reserve("0.0.0.0"), self.reserve("0.0.0.0")
        options = ("--bind", "0.0.0.0", "--enable-debug-command", "local")
        served = self.serve("--port", str(port), *options)
        redis = Redis("--port", str(other), *options)
        self.addCleanup(redis.stop)
        replies = []
        for server, number in ((served, port), (redis, other)):
            self.wire(server).ask("CONFIG", "SET", "protected-mode", "no")
            replies.append([wire.ask("DEBUG", "SLEEP", "0")
                            for wire in (self.wire(server), self.connect(number),
                                         self.connect(number, self.address))])
        self.assertEqual(replies[0], replies[1])
        self.assertEqual([reply[0] for reply in replies[0]], ["+", "+", "-"])

    def test_a_password_lets_strangers_in(self):
        port = self.reserve("0.0.0.0")
        self.serve("--port", str(port), "--bind", "0.0.0.0", "--requirepass", "secret")
        wire = self.connect(port, self.address)
        self.assertEqual(wire.ask("PING"), ("-", "NOAUTH Authentication required."))
        self.assertEqual(wire.ask("AUTH", "secret"), ("+", "OK"))
        self.assertEqual(wire.ask("PING"), ("+", "PONG"))


class Engine(OptionsTest):
    def test_start_and_seed_decide_time_and_chance(self):
        answers = []
        for seed in ("7", "7", "8"):
            served = self.serve("--clock", "manual", "--start", START, "--seed", seed)
            wire = self.wire(served)
            self.assertEqual(wire.plain("TIME"), [str(START_MS // 1000), "0"])
            wire.ask("SADD", "s", *range(1000))
            answers.append(wire.plain("SRANDMEMBER", "s", "20"))
        self.assertEqual(answers[0], answers[1])
        self.assertNotEqual(answers[0], answers[2])

    def test_a_start_may_be_given_in_milliseconds(self):
        served = self.serve("--clock", "manual", "--start", str(START_MS))
        self.assertEqual(self.wire(served).plain("SIM", "CLOCK", "GET"), START_MS)

    def test_maxmemory_bounds_what_keys_take(self):
        served = self.serve("--maxmemory", "2mb")
        wire = self.wire(served)
        answer = ("+", "OK")
        written = 0
        while answer == ("+", "OK"):
            written += 1
            answer = wire.ask("SET", f"key:{written}", "x" * 1000)
        self.assertEqual(answer, (
            "-", "OOM command not allowed when used memory > 'maxmemory'."))
        self.assertGreater(written, 100)
        self.assertLess(written, 2000)
        wire.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        for number in range(3000):
            self.assertEqual(wire.ask("SET", f"more:{number}", "x" * 1000), ("+", "OK"))
        self.assertGreater(int(wire.plain("INFO", "stats").split("evicted_keys:")[1].split()[0]), 1000)

    def test_cluster_slots_refuse_keys_of_several(self):
        wire = self.wire(self.serve("--cluster-slots"))
        self.assertEqual(wire.ask("MSET", "{a}1", "x", "{a}2", "y"), ("+", "OK"))
        self.assertEqual(wire.ask("MGET", "a", "b"), (
            "-", "CROSSSLOT Keys in request don't hash to the same slot"))
        self.assertEqual(wire.ask("SELECT", "1"), (
            "-", "ERR SELECT is not allowed in cluster mode"))
        self.assertIn("redis_mode:cluster", wire.plain("INFO", "server"))

    def test_a_scenario_is_loaded_before_anybody_is_served(self):
        path = sorted(glob.glob("scenarios/gateway/*.json"))[0]
        with open(path, encoding="utf-8") as file:
            scenario = json.load(file)
        wire = self.wire(self.serve("--clock", "manual", "--load", path))
        self.assertGreaterEqual(wire.plain("SIM", "CLOCK", "GET"), 0)
        keys = json.loads(wire.plain("SIM", "DUMP"))
        self.assertEqual(len(keys), wire.plain("DBSIZE"))
        self.assertIn("steps", scenario)

    def test_a_dump_is_loaded_before_anybody_is_served(self):
        path = os.path.join(os.environ["TEST_TMPDIR"], "dump.rdb")
        with open(path, "wb") as file:
            file.write(b"REDIS0007\xfa\x05ctime\x0a1700000000\xfe\x00"
                       b"\xfc" + (1700000000000 + 90000).to_bytes(8, "little") + b"\x00\x01k\x01v"
                       b"\x07\x03doc\x00\x00\xff" + bytes(8))
        wire = self.wire(self.serve("--clock", "manual", "--load", path))
        self.assertEqual(wire.plain("GET", "k"), "v")
        self.assertEqual(wire.plain("PTTL", "k"), 90000)
        self.assertEqual(wire.plain("DBSIZE"), 1)
        wire = self.wire(self.serve("--load", path))
        self.assertEqual(wire.plain("DBSIZE"), 0, "in real time its deadline has passed")
        wire = self.wire(self.serve("--load", path, "--load-times", "shift"))
        self.assertTrue(80000 < wire.plain("PTTL", "k") <= 90000)
        wire = self.wire(self.serve("--load", path, "--load-times", "keep", "--clock", "manual", "--start",
                                    "1700000060000"))
        self.assertEqual(wire.plain("PTTL", "k"), 30000)
        wire = self.wire(self.serve("--clock", "manual", "--load", path, "--pattern", "other*"))
        self.assertEqual(wire.plain("DBSIZE"), 0)

    def test_the_unix_socket_goes_with_the_server(self):
        served = self.serve()
        self.assertTrue(os.path.exists(served.path))
        served.process.send_signal(signal.SIGINT)
        self.assertEqual(served.process.wait(20), 0)
        self.assertFalse(os.path.exists(served.path))


class Protected(OptionsTest):
    COMMANDS = ("DEBUG SLEEP 0", "DEBUG", "DEBUG NOSUCH", "MODULE LOAD /none", "MODULE UNLOAD none",
                "MODULE LOADEX /none ARGS 1", "MODULE LIST", "CONFIG GET enable-debug-command",
                "CONFIG GET enable-module-command", "CONFIG GET enable-protected-configs",
                "CONFIG SET enable-debug-command yes", "CONFIG SET enable-module-command x",
                "CONFIG SET enable-protected-configs yes", "CONFIG SET dbfilename other.rdb",
                "MULTI", "DEBUG SLEEP 0", "EXEC", "ACL SETUSER ann on nopass +@all -debug",
                "AUTH ann x", "DEBUG SLEEP 0")

    def test_replies_are_those_of_redis(self):
        for value in (None, "no", "yes", "local"):
            lines = [] if value is None else [
                f"enable-{name} {value}"
                for name in ("debug-command", "module-command", "protected-configs")]
            path = os.path.join(os.environ["TEST_TMPDIR"], f"protected-{value}.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            redis = Redis(*(word for line in lines for word in ("--" + line).split()))
            self.addCleanup(redis.stop)
            ours, theirs = (self.wire(server)
                            for server in (self.serve("--config", path), redis))
            for command in self.COMMANDS:
                words = command.split()
                self.assertEqual(ours.ask(*words), theirs.ask(*words), (value, command))

    def test_the_option_wins_over_the_file(self):
        path = os.path.join(os.environ["TEST_TMPDIR"], "no-debug.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("enable-debug-command no\n")
        wire = self.wire(self.serve("--config", path, "--enable-debug-command", "yes"))
        self.assertEqual(wire.ask("DEBUG", "SLEEP", "0"), ("+", "OK"))
        failed = subprocess.run([PROGRAM, "serve", "--enable-debug-command", "maybe"], text=True,
                                capture_output=True, timeout=60, check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertEqual(failed.stderr, "redouble serve: --enable-debug-command maybe: argument(s) "
                         "must be one of the following: no, yes, local\n")


class Configuration(OptionsTest):
    def test_idle_clients_are_hung_up_on_but_for_those_who_wait(self):
        served = self.serve("--clock", "manual")
        master, idle = self.wire(served), self.wire(served)
        listener, blocked = self.wire(served), self.wire(served)
        idle.ask("PING")
        listener.ask("SUBSCRIBE", "c")
        blocked.send("BLPOP", "q", "0")
        while "blocked_clients:1" not in master.plain("INFO", "clients"):
            pass
        self.assertEqual(master.ask("CONFIG", "SET", "timeout", "60"), ("+", "OK"))
        master.ask("SIM", "CLOCK", "ADVANCE", "59s")
        master.ask("SIM", "CLOCK", "ADVANCE", "2s")
        self.assertEqual(idle.socket.recv(10), b"")
        fresh = self.wire(served)
        fresh.ask("RPUSH", "q", "x")
        self.assertEqual(blocked.read(), ("*", [("$", "q"), ("$", "x")]))
        fresh.ask("PUBLISH", "c", "still here")
        self.assertEqual(listener.read()[1][2], ("$", "still here"))

    def test_a_user_of_acl_does_what_it_may(self):
        served = self.serve()
        admin = redis_py.Redis(unix_socket_path=served.path, decode_responses=True)
        self.addCleanup(admin.close)
        admin.acl_setuser("ann", enabled=True, passwords=["+pass"], keys=["ann:*"],
                          commands=["+get", "+set", "+acl|whoami"], reset=True)
        self.assertIn("ann", admin.acl_users())
        self.assertEqual(admin.acl_getuser("ann")["keys"], ["~ann:*"])
        ann = redis_py.Redis(unix_socket_path=served.path, username="ann", password="pass",
                             decode_responses=True)
        self.addCleanup(ann.close)
        self.assertEqual(ann.acl_whoami(), "ann")
        self.assertTrue(ann.set("ann:k", "v"))
        with self.assertRaises(redis_py.exceptions.NoPermissionError):
            ann.get("other")
        with self.assertRaises(redis_py.exceptions.NoPermissionError):
            ann.delete("ann:k")
        reasons = {(entry["reason"], entry["object"]) for entry in admin.acl_log()}
        self.assertEqual(reasons, {("key", "other"), ("command", "del")})
        self.assertEqual(admin.execute_command("ACL", "DRYRUN", "ann", "GET", "ann:k"), "OK")
        self.assertEqual(admin.acl_deluser("ann"), 1)
        with self.assertRaises(redis_py.exceptions.RedisError):
            ann.get("ann:k")


if __name__ == "__main__":
    unittest.main()
