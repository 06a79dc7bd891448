"""Goal: invalid bytes get Redis's errors, and do not affect other clients."""

import contextlib
import os
import random
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from served import PROGRAM, Redis, Served


class Hostile(unittest.TestCase):
    def setUp(self):
        self.served = Served("--enable-debug-command", "yes")
        self.addCleanup(self.served.stop)

    def test_protocol_errors_are_those_of_redis(self):
        cases = {
            b"*x\r\n": b"-ERR Protocol error: invalid multibulk length\r\n",
            b"*2147483648\r\n": b"-ERR Protocol error: invalid multibulk length\r\n",
            b"*1\r\n$-5\r\n": b"-ERR Protocol error: invalid bulk length\r\n",
            b"*1\r\n$536870913\r\n": b"-ERR Protocol error: invalid bulk length\r\n",
            b"*1\r\nPING\r\n": b"-ERR Protocol error: expected '$', got 'P'\r\n",
            b"*" + b"1" * 200_000: b"-ERR Protocol error: too big mbulk count string\r\n",
            b"*1\r\n$" + b"1" * 200_000: b"-ERR Protocol error: too big bulk count string\r\n",
            b"a" * 200_000: b"-ERR Protocol error: too big inline request\r\n",
            b'SET k "v\r\n': b"-ERR Protocol error: unbalanced quotes in request\r\n",
        }
        for sent, answer in cases.items():
            self.assertEqual(self.served.ask(sent), answer, sent[:20])

    def test_others_keep_their_data(self):
        good = self.served.open()
        self.assertEqual(self.served.ask(b"SET k v\r\n", good), b"+OK\r\n")
        chance = random.Random(7)
        for _ in range(200):
            bad = self.served.open()
            size = chance.randrange(1, 300)
            bad.sendall(bytes(chance.choice(b"*$1234567890\r\n\0\"'abc") for _ in range(size)))
            bad.close()
        self.assertEqual(self.served.ask(b"GET k\r\nDBSIZE\r\n", good), b"$1\r\nv\r\n:1\r\n")

    def test_a_truncated_command_is_never_run(self):
        bad = self.served.open()
        bad.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nvalu")
        bad.close()
        self.assertEqual(self.served.ask(b"EXISTS k\r\n"), b":0\r\n")

    def test_a_client_that_does_not_read_is_cut_off(self):
        self.served.ask(b'CONFIG SET client-output-buffer-limit "normal 1mb 0 0"\r\n')
        greedy = self.served.open()
        self.served.ask(b"SET big " + b"x" * 60_000 + b"\r\n")
        greedy.settimeout(20)
        with self.assertRaises((BrokenPipeError, ConnectionResetError)):
            for _ in range(100_000):
                greedy.sendall(b"GET big\r\n" * 10)
        self.assertEqual(self.served.ask(b"PING\r\n"), b"+PONG\r\n")

    def test_client_list_tells_the_output_that_waits(self):
        self.served.ask(b"SETRANGE big 19999999 x\r\n")
        lazy = self.served.open()
        lazy.sendall(b"CLIENT SETNAME lazy\r\nGET big\r\n")

        def figures():
            line = next(line for line in self.served.ask(b"CLIENT LIST\r\n").decode().split("\n")
                        if "name=lazy" in line)
            fields = dict(field.split("=", 1) for field in line.split())
            return [int(fields[name]) for name in ("obl", "oll", "omem", "tot-mem")]

        self.assertEqual(lazy.recv(5), b"+OK\r\n")
        while figures()[0] == 0:
            pass
        obl, oll, omem, total = figures()
        self.assertEqual((obl, oll), (16_384, -(-omem // 16_384)))
        self.assertGreater(omem, 15_000_000)
        self.assertGreater(total, omem)
        left = len(b"$20000000\r\n") + 20_000_002
        while left > 0:
            left -= len(lazy.recv(1 << 20))
        self.assertEqual(figures()[:3], [0, 0, 0])

    def test_a_client_that_never_ends_its_command_is_cut_off(self):
        self.served.ask(b"CONFIG SET client-query-buffer-limit 1mb\r\n")
        before = self.resident_bytes()
        for sent in (b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\n", b"BLPOP q 0\r\n"):
            bad = self.served.open()
            bad.sendall(sent)
            with self.assertRaises((BrokenPipeError, ConnectionResetError)):
                for _ in range(1_000):
                    bad.sendall(b"PING " + b"x" * 60_000 + b"\r\n")
            bad.close()
        self.assertEqual(self.served.ask(b"EXISTS k\r\n"), b":0\r\n")
        # Both limits, and the memory of one read buffer and its copy.
        self.assertLess(self.resident_bytes() - before, 8 << 20)

    def test_a_subscriber_that_does_not_read_is_cut_off_within_a_script(self):
        lazy = self.served.open()
        lazy.sendall(b"SUBSCRIBE c\r\n")
        lazy.recv(100)
        before = self.resident_bytes()
        script = (b"local s = string.rep('x', 1048576) "
                  b"for i = 1, 300 do redis.call('publish', 'c', s) end return 1")
        self.assertEqual(self.served.ask(b'EVAL "%s" 0\r\n' % script), b":1\r\n")
        # The limit of 32 MB, what the allocator keeps of it, and the script's own strings.
        self.assertLess(self.peak_bytes() - before, 120 << 20)
        self.assertEqual(self.served.ask(b"PUBLISH c x\r\n"), b":0\r\n")

    def test_a_monitor_that_does_not_read_is_cut_off_within_a_script(self):
        self.served.ask(b'CONFIG SET client-output-buffer-limit "normal 32mb 0 0"\r\n')
        lazy = self.served.open()
        lazy.sendall(b"MONITOR\r\n")
        lazy.recv(100)
        before = self.resident_bytes()
        script = (b"local s = string.rep('x', 1048576) "
                  b"for i = 1, 300 do redis.call('echo', s) end return 1")
        self.assertEqual(self.served.ask(b'EVAL "%s" 0\r\n' % script), b":1\r\n")
        self.assertLess(self.peak_bytes() - before, 120 << 20)
        self.assertNotIn(b"cmd=monitor", self.served.ask(b"CLIENT LIST\r\n"))

    def test_a_listener_to_keys_that_does_not_read_is_cut_off_within_a_script(self):
        self.served.ask(b"CONFIG SET notify-keyspace-events KA\r\n")
        lazy = self.served.open()
        lazy.sendall(b"PSUBSCRIBE *\r\n")
        lazy.recv(100)
        before = self.resident_bytes()
        script = (b"local s = string.rep('x', 1048576) "
                  b"for i = 1, 300 do redis.call('set', s, i) end return 1")
        self.assertEqual(self.served.ask(b'EVAL "%s" 0\r\n' % script), b":1\r\n")
        self.assertLess(self.peak_bytes() - before, 120 << 20)
        self.assertEqual(self.served.ask(b"PUBSUB NUMPAT\r\n"), b":0\r\n")

    def test_absurd_sizes_get_an_error(self):
        self.served.ask(b"SADD s a\r\nHSET h f v\r\nZADD z 1 m\r\n")
        refusal = b"-ERR the reply would have more than 16777216 elements\r\n"
        for command in (b"SRANDMEMBER s", b"HRANDFIELD h", b"ZRANDMEMBER z"):
            sent = command + b" -9223372036854775807\r\n"
            self.assertEqual(self.served.ask(sent), refusal, sent)
        self.assertIn(b"-ERR", self.served.ask(b"DEBUG POPULATE 99999999999999\r\n"))
        self.assertEqual(self.served.ask(b"PING\r\n"), b"+PONG\r\n")

    def test_a_failed_allocation_ends_the_command_only(self):
        self.served.ask(b"CONFIG SET proto-max-bulk-len 9000000000000000000\r\nSET k v\r\n")
        refusal = b"-ERR not enough memory for the command\r\n"
        for command in (b"SETRANGE k 8000000000000000000 x\r\n", b"SETRANGE none 8000000000000000000 x\r\n",
                        b"SETBIT none 8000000000000000000 1\r\n",
                        b"EVAL \"return redis.pcall('SETRANGE', 'k', '8000000000000000000', 'x')\" 0\r\n"):
            self.assertEqual(self.served.ask(command), refusal, command)
        self.assertEqual(self.served.ask(b"GET k\r\nEXISTS none\r\n"), b"$1\r\nv\r\n:0\r\n")

    def test_a_script_that_only_calls_commands_becomes_busy(self):
        self.served.ask(b"CONFIG SET busy-reply-threshold 300\r\n")
        endless = self.served.open()
        endless.sendall(b"EVAL \"while true do redis.call('ping') end\" 0\r\n")
        other = self.served.wire()
        self.addCleanup(other.close)
        self.assertEqual(other.ask("PING"),
                         ("-", "BUSY Redis is busy running a script. You can only call SCRIPT KILL "
                               "or SHUTDOWN NOSAVE."))
        self.assertEqual(other.ask("SCRIPT", "KILL"), ("+", "OK"))
        endless.close()
        self.assertEqual(self.served.ask(b"PING\r\n"), b"+PONG\r\n")

    def test_a_script_of_slow_functions_becomes_busy(self):
        self.served.ask(b"CONFIG SET busy-reply-threshold 300\r\n")
        text, table = "local s = string.rep('x', 1000000) ", "local t = {} for i = 1, 100000 do t[i] = {} end "
        for start, call in ((text, "loadstring(s)"), (text, "redis.sha1hex(s)"), (text, "string.find(s, 'y+')"),
                            (text, "cmsgpack.pack({s, s})"), (table, "table.insert(t, 1, 1) table.remove(t, 1)"),
                            (table, "table.maxn(t)"), (table, "collectgarbage()"), (table, "cjson.encode(t)")):
            endless, other = self.served.wire(), self.served.wire()
            endless.send("EVAL", f"{start} while true do {call} end", "0")
            while (reply := other.ask("SCRIPT", "KILL"))[1].startswith("NOTBUSY"):
                pass
            self.assertEqual(reply, ("+", "OK"), call)
            self.assertIn("Script killed by user", endless.read()[1], call)
            endless.close()
            other.close()

    def test_sim_needs_permission(self):
        manual = Served("--clock", "manual")
        self.addCleanup(manual.stop)
        manual.ask(b"SET secret x\r\nACL SETUSER mallory on >p -@all resetkeys\r\n"
                   b"ACL SETUSER tester on >p +@sim ~*\r\n")
        for user, answer in (("mallory", "-"), ("tester", "$")):
            wire = manual.wire()
            self.addCleanup(wire.close)
            self.assertEqual(wire.ask("AUTH", user, "p"), ("+", "OK"))
            kind, text = wire.ask("SIM", "DUMP")
            self.assertEqual((kind, "secret" in text), (answer, user == "tester"))
            self.assertEqual(wire.ask("GET", "secret")[0], "-")

    def peak_bytes(self):
        with open(f"/proc/{self.served.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

    def resident_bytes(self):
        with open(f"/proc/{self.served.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def test_words_larger_than_a_read_arrive_whole(self):
        good = self.served.open()
        value = bytes(range(256)) * 20_000
        sent = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n" % (len(value), value)
        for begin in range(0, len(sent), 70_001):
            good.sendall(sent[begin:begin + 70_001])
        self.assertEqual(self.served.ask(b"GET k\r\n", good),
                         b"+OK\r\n$%d\r\n%s\r\n" % (len(value), value))

    def test_pushes_that_nobody_reads_end_the_subscriber_alone(self):
        self.served.ask(b'CONFIG SET client-output-buffer-limit "pubsub 1mb 0 0"\r\n')
        lazy, keen = self.served.open(), self.served.open()
        for subscriber in (lazy, keen):
            subscriber.sendall(b"SUBSCRIBE c\r\n")
            self.assertIn(b"subscribe", subscriber.recv(100))
        message = b"PUBLISH c " + b"x" * 60_000 + b"\r\n"
        heard = 0
        publisher = self.served.open()
        while self.served.ask(b"PUBSUB NUMSUB c\r\n") == b"*2\r\n$1\r\nc\r\n:2\r\n":
            self.served.ask(message, publisher)
            while heard < 60_000:
                heard += len(keen.recv(1 << 16))
            heard -= 60_000
        publisher.sendall(b"PUBLISH c last\r\n")
        self.assertEqual(publisher.recv(100), b":1\r\n")

    def test_commands_that_arrive_interleaved_are_answered_to_whom_sent_them(self):
        connections = [self.served.open() for _ in range(50)]
        sent = [b"*2\r\n$4\r\nECHO\r\n$2\r\n%02d\r\n" % i for i in range(50)]
        for position in range(max(map(len, sent))):
            for connection, data in zip(connections, sent):
                connection.sendall(data[position:position + 1])
        for i, connection in enumerate(connections):
            self.assertEqual(connection.recv(100), b"$2\r\n%02d\r\n" % i)

    def test_there_is_a_limit_of_clients(self):
        first = self.served.open()
        self.served.ask(b"CONFIG SET maxclients 2\r\n", first)
        second = self.served.open()
        self.assertEqual(self.served.ask(b"PING\r\n", second), b"+PONG\r\n")
        third = self.served.open()
        self.assertEqual(third.recv(100), b"-ERR max number of clients reached\r\n")
        self.assertEqual(third.recv(100), b"")


class ManyClients(unittest.TestCase):
    def test_ten_thousand_idle_ones_and_a_thousand_busy_ones_are_held(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < 12_000:
            self.skipTest(f"the limit of open files is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        served = Served()
        self.addCleanup(served.stop)
        served.ask(b"CONFIG SET maxclients 11500\r\n")
        opened = contextlib.ExitStack()
        self.addCleanup(opened.close)
        idle = [opened.enter_context(served.open()) for _ in range(10_000)]
        busy = [opened.enter_context(served.open()) for _ in range(1_000)]
        for _ in range(10):
            for connection in busy:
                connection.sendall(b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n" * 10)
            for connection in busy:
                got = b""
                while got.count(b"\r\n") < 10:
                    got += connection.recv(4096)
        self.assertEqual(served.ask(b"GET n\r\n"), b"$6\r\n100000\r\n")
        for connection in idle[::1000]:
            self.assertEqual(served.ask(b"PING\r\n", connection), b"+PONG\r\n")
        pages = int(open(f"/proc/{served.process.pid}/statm").read().split()[1])
        self.assertLess(pages * os.sysconf("SC_PAGESIZE") / 11_000, 16_384)


class FewDescriptors(unittest.TestCase):
    def setUp(self):
        self.servers = [Served(), Redis()]
        for server in self.servers:
            self.addCleanup(server.stop)

    def limit(self, descriptors):
        for server in self.servers:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (descriptors, descriptors))

    def test_maxclients_above_the_limit_is_refused_as_in_redis(self):
        self.limit(200)
        for words in ("CONFIG SET maxclients 100", "CONFIG SET maxclients 20000",
                      "CONFIG GET maxclients", "CONFIG SET maxclients 168"):
            ours, theirs = (server.cli(*words.split()) for server in self.servers)
            self.assertEqual(ours, theirs, words)

    def test_a_server_with_very_few_descriptors_serves_a_client(self):
        with tempfile.TemporaryDirectory(prefix="redouble-serve-") as folder:
            path = os.path.join(folder, "s")
            process = subprocess.Popen(
                ["sh", "-c", 'ulimit -n 20; exec "$0" serve --port none --unixsocket "$1"', PROGRAM,
                 path], stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.wait, 20)
            self.addCleanup(process.terminate)
            self.addCleanup(process.stdout.close)
            process.stdout.readline()
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                client.connect(path)
                client.sendall(b"CONFIG GET maxclients\r\n")
                self.assertEqual(client.recv(100), b"*2\r\n$10\r\nmaxclients\r\n$1\r\n1\r\n")

    def test_connections_above_the_limit_are_closed_at_once(self):
        served = self.servers[0]
        self.limit(64)
        with contextlib.ExitStack() as stack:
            kept, refused = [], 0
            for _ in range(100):
                connection = stack.enter_context(contextlib.closing(served.open()))
                try:
                    connection.sendall(b"PING\r\n")
                    got = connection.recv(100)
                except (BrokenPipeError, ConnectionResetError):
                    got = b""
                if got:
                    kept.append(connection)
                else:
                    refused += 1
            self.assertGreater(len(kept), 30)
            self.assertGreater(refused, 30)
            kept[0].close()
            self.assertEqual(served.ask(b"PING\r\n", kept[1]), b"+PONG\r\n")
            self.assertEqual(served.ask(b"PING\r\n"), b"+PONG\r\n")


class Stopping(unittest.TestCase):
    def test_a_busy_script_does_not_keep_it_from_stopping(self):
        served = Served()
        self.addCleanup(served.stop)
        served.cli("CONFIG", "SET", "busy-reply-threshold", "10")
        connection = served.open()
        self.addCleanup(connection.close)
        connection.sendall(b"EVAL 'while true do end' 0\r\n")
        while "BUSY" not in served.cli("GET", "k"):
            pass
        self.assertEqual(served.stop(signal.SIGTERM), 0)

    def test_a_hangup_of_the_terminal_and_an_alarm_are_ignored(self):
        for kind in (Served, Redis):
            server = kind()
            self.addCleanup(server.stop)
            for number in (signal.SIGHUP, signal.SIGALRM):
                server.process.send_signal(number)
                self.assertEqual(server.cli("PING"), "PONG\n", number)

    def test_a_signal_under_load_answers_or_closes_everything(self):
        served = Served()
        self.addCleanup(served.stop)
        ends = []

        def load():
            connection = served.open()
            try:
                while connection.sendall(b"PING\r\n" * 100) is None:
                    got = connection.recv(1 << 16)
                    if not got:
                        break
                    if got.strip(b"+PONG\r\n"):
                        ends.append(got)
            except (BrokenPipeError, ConnectionResetError):
                pass
            connection.close()
            ends.append("closed")

        threads = [threading.Thread(target=load) for _ in range(20)]
        for thread in threads:
            thread.start()
        served.ask(b"PING\r\n")
        self.assertEqual(served.stop(signal.SIGTERM), 0)
        for thread in threads:
            thread.join(20)
        self.assertEqual(ends, ["closed"] * 20)


if __name__ == "__main__":
    unittest.main()
