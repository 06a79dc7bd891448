"""Goal: docs/howto/follow_a_live_server.md shows what happens, whatever kind of server is live."""

import re
import shlex
import subprocess
import time
import unittest

import redis as redis_py

from replicated import KINDS, ReplicatedTestCase

PAGE = open("docs/howto/follow_a_live_server.md", encoding="utf-8").read()


# [readme: an order is kept]
def keep(order, master, replica_count=1):
    """Returns whether the order survives the loss of the master."""
    master.set(order, "paid")
    return master.wait(replica_count, 200) >= replica_count
# [end]


class Commands(ReplicatedTestCase):
    """Runs all commands of the page in order."""

    # The servers of the page: the name of the live one, and two of ours.
    LIVE = "redis.example.com 6379"
    START = re.compile(r"^    \$ redouble serve (--port (\d+) .*)$", re.M)
    EXAMPLE = re.compile(r"^    \$ (redis-cli .*)\n((?:^    (?!\$).*\n)*)", re.M)
    # These may be asked again until the servers know of each other's changes.
    REPEATED = re.compile(r" (GET|EXISTS|INFO|WAIT|FAILOVER) ")

    def start_all(self, kind):
        """The live server and those that the page starts. Their ports by those of the page."""
        live = self.start(kind)
        live.cli("SET", "price", "10")
        ports = {"6379": live.port}
        for options, port in self.START.findall(PAGE):
            words = shlex.split(options.replace(self.LIVE, f"127.0.0.1 {live.port}"))[2:]
            words = [ports.get(word, word) for word in words]
            ports[port] = self.start("redouble", *words).port
        return ports

    def output(self, command, ports):
        command = command.replace("-h redis.example.com", "-p 6379").replace("redis.example.com", "127.0.0.1")
        command = re.sub(r"\b(6379|700\d)\b", lambda port: ports[port[1]], command)
        if "|" not in command:  # The format of redis-cli in a terminal.
            command = command.replace("redis-cli", "redis-cli --no-raw", 1)
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=True)
        text = done.stdout.replace("\r", "")
        for written, port in ports.items():
            text = text.replace(port, written)
        return text.strip("\n")

    def test_answer_as_written(self):
        examples = self.EXAMPLE.findall(PAGE)
        self.assertGreater(len(examples), 20)
        for kind in KINDS:
            ports = self.start_all(kind)
            for command, expected in examples:
                expected = "\n".join(line.removeprefix("    ") for line in expected.splitlines())
                with self.subTest(live=kind, command=command):
                    got = self.output(command, ports)
                    for _ in range(400 if self.REPEATED.search(command) else 0):
                        if got == expected:
                            break
                        time.sleep(0.05)
                        got = self.output(command, ports)
                    self.assertEqual(got, expected)


class Program(ReplicatedTestCase):
    def connect(self, server):
        client = redis_py.Redis(port=int(server.port), decode_responses=True)
        self.addCleanup(client.close)
        return client

    def setUp(self):
        master = self.start("redouble")
        self.master = self.connect(master)
        self.replica = self.connect(self.start_replica("redouble", master))

    # [readme: a lost order]
    def test_an_order_that_may_be_lost_is_not_reported_as_kept(self):
        self.assertTrue(keep("order:7", self.master))
        self.replica.replicaof("127.0.0.1", 1)  # The link is cut.
        self.assertFalse(keep("order:8", self.master))
        self.replica.replicaof("NO", "ONE")  # It takes over.
        self.assertEqual(self.replica.keys("order:*"), ["order:7"])
    # [end]


if __name__ == "__main__":
    unittest.main()
