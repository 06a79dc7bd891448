"""The memory that files of keys cost beside the keys: saves, rewrites of the log, and full synchronizations."""

import re
import shutil
import tempfile
import unittest

from replicated import ReplicatedTestCase

KEYS = 60000
VALUE_BYTES = 500
FILE_MB = KEYS * VALUE_BYTES // (1 << 20)
# What a step may add to the peak of the resident memory, while the file has FILE_MB.
MOST_MB = 10


def memory_mb(server, name):
    with open("/proc/%d/status" % server.process.pid, encoding="ascii") as status:
        return int(re.search(name + r":\s+(\d+)", status.read()).group(1)) / 1024


class Step:
    """How far the peak rises above the resident memory of before."""

    def __init__(self, server):
        self.server = server
        with open("/proc/%d/clear_refs" % server.process.pid, "w", encoding="ascii") as peak:
            peak.write("5")
        self.before = memory_mb(server, "VmRSS")

    def rise_mb(self):
        return memory_mb(self.server, "VmHWM") - self.before


class DataMemoryTest(ReplicatedTestCase):
    def start_filled(self, *options):
        folder = tempfile.mkdtemp(prefix="redouble-data-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        server = self.start("redouble", "--dir", folder, *options)
        # Values that LZF does not compress.
        script = ("for i = 1, tonumber(ARGV[1]) do local t = {} for j = 1, 13 do t[j] = redis.sha1hex(i .. ':' .. j) end "
                  "redis.call('SET', 'key:' .. i, string.sub(table.concat(t), 1, tonumber(ARGV[2]))) end")
        server.cli("EVAL", script, "0", str(KEYS), str(VALUE_BYTES))
        self.assertEqual(server.cli("DBSIZE"), "%d\n" % KEYS)
        return server

    def test_a_save_in_the_background(self):
        server = self.start_filled()
        step = Step(server)
        server.cli("BGSAVE")
        self.wait_for(lambda: self.field(server, "rdb_bgsave_in_progress") == "0")
        self.assertEqual(self.field(server, "rdb_last_bgsave_status"), "ok")
        self.assertLess(step.rise_mb(), MOST_MB)

    def test_a_rewrite_of_the_log(self):
        server = self.start_filled("--appendonly", "yes")
        step = Step(server)
        server.cli("BGREWRITEAOF")
        self.wait_for(lambda: self.field(server, "aof_rewrite_in_progress") == "0")
        self.assertEqual(self.field(server, "aof_last_bgrewrite_status"), "ok")
        self.assertLess(step.rise_mb(), MOST_MB)

    def test_a_full_synchronization(self):
        master = self.start_filled()
        on_master = Step(master)
        replica = self.start("redouble")
        on_replica = Step(replica)
        replica.cli("REPLICAOF", "127.0.0.1", master.port)
        self.wait_for_link(replica)
        self.assertEqual(replica.cli("DEBUG", "DIGEST"), master.cli("DEBUG", "DIGEST"))
        self.assertLess(on_master.rise_mb(), MOST_MB)
        # The replica has the keys now, and nothing else.
        self.assertLess(on_replica.rise_mb(), memory_mb(replica, "VmRSS") - on_replica.before + MOST_MB)
        self.assertGreater(FILE_MB, 2 * MOST_MB)


if __name__ == "__main__":
    unittest.main()
