"""The goal: bytes that no client should send get Redis's errors, and harm nobody else."""

import os
import random
import resource
import signal
import threading
import unittest

from served import Served


class Hostile(unittest.TestCase):
    def setUp(self):
        self.served = Served()
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
        idle = [served.open() for _ in range(10_000)]
        busy = [served.open() for _ in range(1_000)]
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
        for connection in idle + busy:
            connection.close()


class Stopping(unittest.TestCase):
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
