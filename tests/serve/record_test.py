"""Goal: `redouble record` turns the clients of a live Redis into a scenario that replays the same.

A redis-server is recorded by MONITOR while redis-py uses it. The scenario is replayed on the
engine, and the keys that it leaves are those of the server.
"""

import json
import os
import signal
import subprocess
import unittest

import redis as redis_py

from served import PROGRAM, Redis, Served

UUID = "0b8f5c3e-9a1d-4c0a-8a5e-1f2e3d4c5b6a"


class RecordTest(unittest.TestCase):
    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.stop)
        self.file = os.path.join(self.redis.folder, "case.json")

    def connect(self, **options):
        client = redis_py.Redis(unix_socket_path=self.redis.path, decode_responses=True, **options)
        self.addCleanup(client.close)
        return client

    def record(self, *options, uri=None):
        """A running recording; MONITOR has been answered."""
        uri = uri or f"unix://{self.redis.path}"
        recording = subprocess.Popen([PROGRAM, "record", uri, "--out", self.file, *options],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(recording.stdout.close)
        self.addCleanup(recording.stderr.close)
        self.addCleanup(recording.kill)
        self.assertIn("recording", recording.stdout.readline())
        return recording

    def record_source(self, source):
        """A recording that ends by itself."""
        return subprocess.run([PROGRAM, "record", source, "--out", self.file], capture_output=True, text=True,
                              timeout=60, check=False)

    def end(self, recording):
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(20), 0, recording.stderr.read())
        return recording.stdout.read()

    def replay(self):
        done = subprocess.run([PROGRAM, "replay", self.file], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_replay_leaves_the_keys_of_the_recorded_server(self):
        redis = self.connect()
        recording = self.record("--name", "a shop", "--keep-ids")
        redis.set("text", "v\x00\xff", ex=1000)
        redis.hset("cart:1", mapping={"apple": 2, "pear": 1})
        redis.zadd("scores", {"ann": 1.5, "bob": 2})
        redis.xadd("events", {"kind": "paid"})
        redis.xgroup_create("events", "workers", "0")
        redis.xreadgroup("workers", "w1", {"events": ">"})
        with redis.pipeline(transaction=True) as pipeline:
            pipeline.incr("orders")
            pipeline.rpush("queue", "a", "b")
            pipeline.execute()
        redis.eval("return redis.call('incrby', KEYS[1], ARGV[1])", 1, "orders", 5)
        self.connect(db=3).set("other", "db")
        redis.lpop("queue")
        output = self.end(recording)
        self.assertIn(f"commands in {self.file}", output)
        self.replay()
        served = Served("--clock", "manual", "--load", self.file)
        self.addCleanup(served.stop)
        ours, theirs = served.wire(), self.redis.wire()
        for wire in (ours, theirs):
            self.addCleanup(wire.close)
        keys = sorted(theirs.plain("KEYS", "*"))
        self.assertEqual(keys, ["cart:1", "events", "orders", "queue", "scores", "text"])
        self.assertEqual(sorted(ours.plain("KEYS", "*")), keys)
        for command in (["GET", "text"], ["HGETALL", "cart:1"], ["GET", "orders"],
                        ["ZRANGE", "scores", "0", "-1", "WITHSCORES"], ["LRANGE", "queue", "0", "-1"]):
            self.assertEqual(ours.ask(*command), theirs.ask(*command), command)
        # Redis takes these times just after MONITOR's: they may lie in the next millisecond.
        (our_id, our_fields), = ours.plain("XRANGE", "events", "-", "+")
        (their_id, their_fields), = theirs.plain("XRANGE", "events", "-", "+")
        self.assertEqual(our_fields, their_fields)
        self.assertAlmostEqual(int(our_id.split("-")[0]), int(their_id.split("-")[0]), delta=50)
        self.assertAlmostEqual(ours.plain("PEXPIRETIME", "text"),
                               theirs.plain("PEXPIRETIME", "text"), delta=50)
        ours.ask("SELECT", "3")
        self.assertEqual(ours.plain("GET", "other"), "db")

    def test_secrets_and_generated_ids_do_not_get_into_the_file(self):
        redis = self.connect()
        recording = self.record()
        redis.set(f"session:{UUID}", UUID)
        redis.get(f"session:{UUID}")
        redis.execute_command("ACL", "SETUSER", "ann", "on", ">hunter2", "~*", "+@all")
        redis.execute_command("CONFIG", "SET", "requirepass", "hunter2")
        self.connect(username="ann", password="hunter2").set("k", "v")
        self.end(recording)
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("hunter2", text)
        self.assertNotIn(UUID, text)
        self.assertIn("session:id-1", text)
        commands = [step["command"] for step in json.loads(text)["steps"] if "command" in step]
        self.assertEqual(commands[0], ["SET", "session:id-1", "id-1"])
        self.assertEqual(commands[-1], ["SET", "k", "v"])
        self.replay()

    def test_a_password_lets_it_in_and_its_lack_is_said(self):
        self.connect().execute_command("CONFIG", "SET", "requirepass", "se cret")
        uri = f"unix://{self.redis.path}"
        refused = subprocess.run([PROGRAM, "record", uri, "--out", self.file], capture_output=True,
                                 text=True, timeout=60, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("NOAUTH", refused.stderr)
        recording = self.record("--count", "1", uri=f"unix://:se%20cret@{self.redis.path}")
        self.connect(password="se cret").set("k", "v")
        self.assertEqual(recording.wait(20), 0)
        self.replay()

    def test_it_ends_with_its_time_with_the_server_and_with_nothing_recorded(self):
        recording = self.record("--for", "300ms")
        self.assertEqual(recording.wait(20), 2)
        self.assertIn("no commands were recorded", recording.stderr.read())
        recording = self.record()
        self.connect().set("k", "v")
        self.redis.process.kill()
        self.assertEqual(recording.wait(20), 0)
        self.replay()
        gone = self.record_source(f"unix://{self.redis.path}")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("cannot connect to", gone.stderr)

    def test_a_file_of_redis_cli_is_a_recording_too(self):
        lines = os.path.join(self.redis.folder, "monitor.txt")
        with open(lines, "w", encoding="utf-8") as file:
            file.write('OK\n1778335382.000000 [0 127.0.0.1:5] "SET" "k" "v" "PX" "100"\n'
                       '1778335382.101000 [0 127.0.0.1:5] "GET" "k"\n')
        done = self.record_source(lines)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.file, encoding="utf-8") as file:
            steps = json.load(file)["steps"]
        self.assertEqual(steps[1], {"kind": "advance", "by": "101ms"})
        self.assertEqual(steps[2]["expect"], None)
        self.replay()
        with open(lines, "a", encoding="utf-8") as file:
            file.write("nonsense\n")
        done = self.record_source(lines)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no line of MONITOR: nonsense", done.stderr)

    def test_a_trace_of_a_program_is_a_recording_too(self):
        trace = os.path.join(self.redis.folder, "trace.jsonl")
        with open(trace, "w", encoding="utf-8") as file:
            file.write('{"index":0,"us":1778335382000000,"client":"shop","command":["SET","k","v","PX","100"],'
                       '"reply":{"status":"OK"}}\n'
                       '{"index":1,"us":1778335382050000,"client":"shop","command":["INCR","n"],'
                       '"reply":{"failure":"outcome unknown"}}\n'
                       '{"index":2,"us":1778335382101000,"client":"shop","transaction":[["GET","k"]],"reply":[null]}\n')
        done = self.record_source(trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 requests got no reply: left out", done.stdout)
        with open(self.file, encoding="utf-8") as file:
            steps = json.load(file)["steps"]
        self.assertEqual([step.get("command", step.get("by")) for step in steps],
                         [["SET", "k", "v", "PX", "100"], "101ms", ["MULTI"], ["GET", "k"], ["EXEC"]])
        self.assertEqual(steps[-1]["expect"], [None])
        self.replay()
        with open(trace, "a", encoding="utf-8") as file:
            file.write('{"index":3,"us":1778335382101000,"fault":"restart"}\n')
        done = self.record_source(trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the trace has a fault", done.stderr)


if __name__ == "__main__":
    unittest.main()
