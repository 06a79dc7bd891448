"""INFO's lazyfreed_objects beside redis-server: what Redis frees in the background."""

import re
import unittest

from served import Redis, Served

HASH = "EVAL \"for i = 1, ARGV[1] do redis.call('HSET', 'h', i, i) end\" 0 {}"
SET = "EVAL \"for i = 1, ARGV[1] do redis.call('SADD', 's', 'm' .. i) end\" 0 {}"
ZSET = "EVAL \"for i = 1, ARGV[1] do redis.call('ZADD', 'z', i, i) end\" 0 {}"
LIST = "EVAL \"for i = 1, ARGV[1] do redis.call('RPUSH', 'l', i) end\" 0 {}"
STREAM = "EVAL \"for i = 1, ARGV[1] do redis.call('XADD', 'x', i .. '-1', 'f', 'v') end\" 0 {}"
KEYS = "EVAL \"for i = 1, ARGV[1] do redis.call('SET', 'k' .. i, i) end\" 0 {}"
SCRIPTS = [f"SCRIPT LOAD \"return {i}\"" for i in range(66)]

# Smaller nodes, so that few elements have many.
SETTINGS = ["CONFIG SET list-max-listpack-size 1", "CONFIG SET stream-node-max-entries 1",
            "CONFIG SET hash-max-listpack-entries 4", "CONFIG SET zset-max-listpack-entries 4",
            "CONFIG SET set-max-intset-entries 4"]

# The commands of each step, after which both servers have freed as much.
STEPS = [
    [HASH.format(64), "UNLINK h", HASH.format(65), "UNLINK h missing", HASH.format(65), "DEL h"],
    [SET.format(64), "UNLINK s", SET.format(65), ZSET.format(65), "UNLINK s z"],
    [LIST.format(64), "UNLINK l", LIST.format(65), "UNLINK l"],
    [STREAM.format(10), "UNLINK x", STREAM.format(70), "UNLINK x", STREAM.format(300), "UNLINK x"],
    [STREAM.format(20), *(f"XGROUP CREATE x g{i} 0" for i in range(9)),
     "XREADGROUP GROUP g0 c STREAMS x >", "UNLINK x"],
    [STREAM.format(20), *(f"XGROUP CREATE x g{i} 0" for i in range(9)),
     "XREADGROUP GROUP g1 c STREAMS x >", "UNLINK x"],
    ["SET t " + "x" * 10000, "UNLINK t"],
    [KEYS.format(10), "FLUSHDB ASYNC", KEYS.format(10), "FLUSHALL SYNC"],
    [KEYS.format(10), "SELECT 1", KEYS.format(5), "FLUSHALL ASYNC", "SELECT 0"],
    ["CONFIG SET lazyfree-lazy-user-flush yes", KEYS.format(7), "FLUSHDB", KEYS.format(3), "FLUSHALL SYNC"],
    ["SCRIPT FLUSH SYNC", *SCRIPTS[:64], "SCRIPT FLUSH"],
    [*SCRIPTS, "SCRIPT FLUSH", *SCRIPTS, "SCRIPT FLUSH SYNC"],
    ["CONFIG SET lazyfree-lazy-user-flush no", *SCRIPTS, "SCRIPT FLUSH", *SCRIPTS, "SCRIPT FLUSH ASYNC"],
    ["FUNCTION LOAD \"#!lua name=lib\\nfor i = 1, 65 do redis.register_function('f' .. i, "
     "function() end) end\"", "FUNCTION FLUSH ASYNC"],
    ["CONFIG RESETSTAT"],
]


class LazyFree(unittest.TestCase):
    def freed(self, server):
        while True:
            memory = server.cli("INFO", "memory")
            pending, freed = (int(re.search(f"{name}:(\\d+)", memory).group(1))
                              for name in ("lazyfree_pending_objects", "lazyfreed_objects"))
            if pending == 0:
                return freed

    def counts(self, kind):
        server = kind()
        self.addCleanup(server.stop)
        counts = []
        for step in [SETTINGS, *STEPS]:
            replies = server.cli(data="\n".join(step).encode())
            self.assertNotIn("ERR", replies)
            counts.append(self.freed(server))
        return counts

    def test_the_counter_is_that_of_redis(self):
        ours, theirs = self.counts(Served), self.counts(Redis)
        self.assertEqual(ours, theirs)
        self.assertEqual(ours[-1], 0)
        self.assertGreater(ours[-2], 200)


if __name__ == "__main__":
    unittest.main()
