"""Goal: SLOWLOG, INFO and LATENCY report blocked calls as redis-server does.

Redis counts a call when it blocks. It counts the failure, logs the call and records its latency when
the call gets its reply.
"""

import re
import time
import unittest

from served import Redis, Served


# A name, the commands before the blocked call, the call, and the commands that end the wait. ID is
# the id of the blocked client.
CASES = [
    ("served", [], "BLPOP l 0", ["RPUSH l a"]),
    ("served after a transaction", [], "BLMPOP 0 1 l LEFT", ["MULTI", "RPUSH l a b", "SET k v", "EXEC"]),
    ("timed out", [], "BLPOP l 0.05", []),
    ("unblocked", [], "BLPOP l 0", ["CLIENT UNBLOCK ID"]),
    ("unblocked with an error", [], "BLPOP l 0", ["CLIENT UNBLOCK ID ERROR"]),
    ("failed", ["SET d x"], "BLMOVE l d LEFT LEFT 0", ["RPUSH l a"]),
    ("stream removed", ["XGROUP CREATE s g $ MKSTREAM"],
     "XREADGROUP GROUP g c BLOCK 0 STREAMS s >", ["DEL s"]),
    ("group destroyed", ["XGROUP CREATE s g $ MKSTREAM"],
     "XREADGROUP GROUP g c BLOCK 0 STREAMS s >", ["XGROUP DESTROY s g"]),
    ("stream read", ["XADD s 1-1 a b"], "XREAD BLOCK 0 STREAMS s $", ["XADD s 2-1 a b"]),
    ("sorted set", [], "BZMPOP 0 1 z MIN", ["ZADD z 1 a"]),
    ("replicas awaited", [], "WAIT 1 50", []),
    ("replicas no longer awaited", [], "WAIT 1 0", ["CLIENT UNBLOCK ID ERROR"]),
]


class BlockedCalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = Served()
        cls.addClassCleanup(cls.served.stop)
        cls.redis = Redis()
        cls.addClassCleanup(cls.redis.stop)

    def test_are_counted_and_logged_as_in_redis(self):
        for name, before, call, after in CASES:
            with self.subTest(name):
                ours, theirs = (self.observe(server, before, call, after)
                                for server in (self.served, self.redis))
                self.assertEqual(ours, theirs)

    def observe(self, server, before, call, after):
        """What the server reports while the call is blocked, and after its reply."""
        client, blocked = server.wire(), server.wire()
        for wire in (client, blocked):
            self.addCleanup(wire.close)
        client.ask("FLUSHALL")
        for command in before:
            client.ask(*command.split())
        client.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
        client.ask("CONFIG", "RESETSTAT")
        number = str(blocked.plain("CLIENT", "ID"))
        client.ask("SLOWLOG", "RESET")
        name = call.split()[0].lower()
        blocked.send(*call.split())
        deadline = time.monotonic() + 20
        while f"cmdstat_{name}:calls=1" not in client.plain("INFO", "commandstats"):
            self.assertLess(time.monotonic(), deadline)
        seen = [self.report(client, name, number)]
        for command in after:
            client.ask(*(number if word == "ID" else word for word in command.split()))
        seen.append(blocked.read())
        seen.append(self.report(client, name, number))
        return seen

    @staticmethod
    def report(client, name, number):
        """The slow log's commands besides INFO, which is repeated while the call has not arrived; the
        counters."""
        slow = [entry[3] for entry in client.plain("SLOWLOG", "GET", "-1")]
        counters = re.search(rf"cmdstat_{name}:(.*)\r\n", client.plain("INFO", "commandstats"))[1]
        histogram = client.plain("LATENCY", "HISTOGRAM", name)
        words = [["ID" if word == number else word for word in entry] for entry in slow
                 if entry[:1] != ["INFO"]]
        return (words, re.sub(r"usec[a-z_]*=[^,]*,", "", counters),
                client.plain("INFO", "errorstats"), histogram[1][:2] if histogram else [])


if __name__ == "__main__":
    unittest.main()
