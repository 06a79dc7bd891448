"""Goal: `redouble serve` works with common Redis clients."""

import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import redis as redis_py

from served import Redis, Served


class ServedTest(unittest.TestCase):
    options = ("--clock", "manual", "--start", "2026-05-09T14:03:02Z", "--seed", "7")

    def setUp(self):
        self.served = Served(*self.options)
        self.addCleanup(self.served.stop)

    def connect(self, **options):
        client = redis_py.Redis(unix_socket_path=self.served.path, decode_responses=True, **options)
        self.addCleanup(client.close)
        return client


class PythonRedis(ServedTest):
    def test_says_where_it_listens(self):
        self.assertEqual(self.served.line,
                         f"redouble serve: accepts connections on unix:{self.served.path}\n")

    def test_a_lock_is_free_again_when_its_time_is_over(self):
        redis = self.connect()
        redis.execute_command("SIM", "SNAPSHOT", "fresh")
        first = redis.lock("job", timeout=30)
        second = redis.lock("job", timeout=30, blocking=False)
        self.assertTrue(first.acquire())
        self.assertFalse(second.acquire())
        redis.execute_command("SIM", "CLOCK", "ADVANCE", "30001ms")
        self.assertTrue(second.acquire())
        redis.execute_command("SIM", "RESTORE", "fresh")
        self.assertEqual(redis.dbsize(), 0)

    def test_a_lock_is_extended_and_released_by_its_owner_alone(self):
        redis = self.connect()
        lock = redis.lock("job", timeout=30)
        lock.acquire()
        lock.extend(10)
        self.assertEqual(redis.pttl("job"), 40_000)
        stranger = redis.lock("job")
        stranger.local.token = b"another"
        with self.assertRaises(redis_py.exceptions.LockError):
            stranger.release()
        lock.release()
        self.assertFalse(redis.exists("job"))

    def test_pipelines_and_transactions(self):
        redis = self.connect()
        with redis.pipeline() as pipe:
            pipe.watch("n")
            value = int(pipe.get("n") or 0)
            pipe.multi()
            pipe.set("n", value + 1)
            pipe.get("n")
            self.assertEqual(pipe.execute(), [True, "1"])
        with redis.pipeline() as pipe:
            pipe.watch("n")
            redis.set("n", 9)
            pipe.multi()
            pipe.incr("n")
            with self.assertRaises(redis_py.WatchError):
                pipe.execute()
        with redis.pipeline(transaction=False) as pipe:
            for _ in range(1000):
                pipe.incr("m")
            self.assertEqual(pipe.execute()[-1], 1000)

    def test_hashes_sets_and_sorted_sets(self):
        redis = self.connect()
        redis.hset("h", mapping={"a": "1", "b": "2"})
        self.assertEqual(redis.hgetall("h"), {"a": "1", "b": "2"})
        redis.sadd("s", "x", "y")
        self.assertEqual(redis.smembers("s"), {"x", "y"})
        redis.zadd("z", {"one": 1, "two": 2.5})
        self.assertEqual(redis.zrange("z", 0, -1, withscores=True), [("one", 1.0), ("two", 2.5)])
        self.assertEqual(sorted(redis.scan_iter("*")), ["h", "s", "z"])

    def test_strings_numbers_and_expiry(self):
        redis = self.connect()
        self.assertTrue(redis.set("k", "v", ex=10, nx=True))
        self.assertIsNone(redis.set("k", "w", nx=True))
        self.assertEqual(redis.set("k", "w", xx=True, keepttl=True, get=True), "v")
        self.assertEqual((redis.ttl("k"), redis.pttl("k")), (10, 10_000))
        self.assertEqual(redis.getex("k", persist=True), "w")
        self.assertEqual(redis.ttl("k"), -1)
        self.assertTrue(redis.mset({"a": "1", "b": "2"}))
        self.assertEqual(redis.mget("a", "none", "b"), ["1", None, "2"])
        self.assertEqual((redis.incr("a"), redis.incrby("a", 5), redis.decr("a")), (2, 7, 6))
        self.assertEqual(redis.incrbyfloat("f", 0.1), 0.1)
        self.assertTrue(redis.expire("a", 5))
        self.assertTrue(redis.expireat("b", 1_778_335_390))
        self.assertEqual((redis.ttl("a"), redis.ttl("b"), redis.ttl("none")), (5, 8, -2))
        redis.execute_command("SIM", "CLOCK", "ADVANCE", "9s")
        self.assertEqual(redis.exists("a", "b", "k"), 1)
        self.assertEqual((redis.getdel("k"), redis.type("k"), redis.unlink("f")), ("w", "none", 1))

    def test_hash_and_set_commands(self):
        redis = self.connect()
        self.assertEqual(redis.hset("h", mapping={"n": 1, "f": "x"}), 2)
        self.assertEqual((redis.hincrby("h", "n", 4), redis.hincrbyfloat("h", "n", 0.5)), (5, 5.5))
        self.assertEqual(redis.hmget("h", "f", "none"), ["x", None])
        self.assertEqual((redis.hexists("h", "f"), redis.hlen("h"), redis.hdel("h", "f")), (True, 2, 1))
        self.assertTrue(redis.hsetnx("h", "g", "1"))
        self.assertEqual(dict(redis.hscan_iter("h")), {"n": "5.5", "g": "1"})
        self.assertEqual((redis.sadd("s", 1, 2, 3), redis.scard("s"), redis.srem("s", 3)), (3, 3, 1))
        self.assertTrue(redis.sismember("s", 1))
        self.assertEqual(redis.smismember("s", [1, 3]), [True, False])
        redis.sadd("t", 2, 9)
        self.assertEqual((redis.sinter("s", "t"), redis.sunion("s", "t"), redis.sdiff("s", "t")),
                         ({"2"}, {"1", "2", "9"}, {"1"}))
        self.assertEqual(sorted(redis.sscan_iter("s")), ["1", "2"])

    def test_list_and_sorted_set_commands(self):
        redis = self.connect()
        self.assertEqual((redis.rpush("l", "a", "b", "c"), redis.lpush("l", "z"), redis.llen("l")), (3, 4, 4))
        self.assertEqual((redis.lpop("l"), redis.rpop("l"), redis.lindex("l", 0)), ("z", "c", "a"))
        self.assertEqual(redis.lmove("l", "m", "LEFT", "RIGHT"), "a")
        self.assertEqual(redis.blpop(["none", "m"], timeout=1), ("m", "a"))
        self.assertTrue(redis.ltrim("l", 0, 0))
        self.assertEqual((redis.lrange("l", 0, -1), redis.lrem("l", 0, "b")), (["b"], 1))
        self.assertEqual(redis.zadd("z", {"a": 1, "b": 2, "c": 3}), 3)
        self.assertEqual(redis.zadd("z", {"a": 5}, gt=True, ch=True), 1)
        self.assertEqual(redis.zrangebyscore("z", 2, "(5", withscores=True), [("b", 2.0), ("c", 3.0)])
        self.assertEqual(redis.zrevrange("z", 0, 0), ["a"])
        self.assertEqual((redis.zscore("z", "b"), redis.zrank("z", "b"), redis.zcard("z")), (2.0, 0, 3))
        self.assertEqual((redis.zincrby("z", 1.5, "b"), redis.zcount("z", 3, 4)), (3.5, 2))
        self.assertEqual((redis.zpopmin("z"), redis.zremrangebyscore("z", 0, 4)), ([("c", 3.0)], 1))

    def test_a_stream_is_read_by_those_who_wait(self):
        redis, reader = self.connect(), self.connect()
        found = []
        thread = threading.Thread(target=lambda: found.extend(reader.xread({"st": "$"}, block=0)))
        thread.start()
        while redis.info("clients")["blocked_clients"] == 0:
            pass
        number = redis.xadd("st", {"f": "v"}, maxlen=10, approximate=False)
        thread.join(20)
        self.assertEqual(found, [["st", [(number, {"f": "v"})]]])
        self.assertEqual((redis.xlen("st"), redis.xrange("st")), (1, [(number, {"f": "v"})]))
        self.assertEqual((redis.xtrim("st", maxlen=0), redis.xdel("st", number)), (1, 0))

    def test_functions(self):
        redis = self.connect()
        redis.function_load("#!lua name=l\nredis.register_function('twice', "
                            "function(keys, args) return args[1] * 2 end)")
        self.assertEqual(redis.fcall("twice", 0, 21), 42)

    def test_keyspace_events(self):
        redis = self.connect()
        redis.config_set("notify-keyspace-events", "Ex")
        listener = self.connect().pubsub(ignore_subscribe_messages=True)
        listener.subscribe("__keyevent@0__:expired")
        self.assertIsNone(listener.get_message(timeout=5))
        redis.set("k", "v", px=10)
        redis.execute_command("SIM", "CLOCK", "NEXT")
        self.assertEqual(listener.get_message(timeout=5)["data"], "k")
        listener.close()

    def test_streams_and_groups(self):
        redis = self.connect()
        redis.xgroup_create("st", "g", mkstream=True)
        first = redis.xadd("st", {"f": "v"})
        self.assertEqual(first, "1778335382000-0")
        self.assertEqual(redis.xreadgroup("g", "c", {"st": ">"}), [["st", [(first, {"f": "v"})]]])
        self.assertEqual(redis.xpending("st", "g")["pending"], 1)
        redis.execute_command("SIM", "CLOCK", "ADVANCE", "60s")
        claimed = redis.xautoclaim("st", "g", "other", min_idle_time=60_000)
        self.assertEqual(claimed[1], [(first, {"f": "v"})])
        self.assertEqual(redis.xack("st", "g", first), 1)
        self.assertEqual(redis.xinfo_stream("st")["length"], 1)

    def test_scripts(self):
        redis = self.connect()
        add = redis.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
        self.assertEqual(add(keys=["n"], args=[5]), 5)
        self.assertEqual(add(keys=["n"], args=[5]), 10)
        with self.assertRaises(redis_py.exceptions.NoScriptError):
            redis.evalsha("0" * 40, 0)

    def test_messages(self):
        redis = self.connect()
        listener = self.connect().pubsub()
        listener.subscribe("c")
        listener.psubscribe("p*")
        kinds = [listener.get_message(timeout=5)["type"] for _ in range(2)]
        self.assertEqual(kinds, ["subscribe", "psubscribe"])
        self.assertEqual(redis.publish("c", "hi"), 1)
        self.assertEqual(redis.publish("pq", "ho"), 1)
        self.assertEqual(listener.get_message(timeout=5)["data"], "hi")
        self.assertEqual(listener.get_message(timeout=5)["channel"], "pq")
        listener.close()

    def test_a_blocked_call_ends_when_the_clock_reaches_its_time(self):
        connection = self.served.open()
        connection.sendall(b"BLPOP q 5\r\n")
        redis = self.connect()
        while redis.info("clients")["blocked_clients"] == 0:
            pass
        self.assertEqual(redis.execute_command("SIM", "CLOCK", "NEXT"), 1_778_335_387_001)
        self.assertEqual(connection.recv(100), b"*-1\r\n")
        connection.close()

    def test_faults(self):
        redis = self.connect()
        redis.execute_command("SIM", "FAULT", "ERROR", "SET", "OOM command not allowed")
        with self.assertRaises(redis_py.exceptions.ResponseError):
            redis.set("k", "v")
        self.assertTrue(redis.set("k", "1"))
        redis.execute_command("SIM", "FAULT", "LOSE", "INCR")
        connection = self.served.open()
        connection.sendall(b"INCR k\r\n")
        self.assertEqual(connection.recv(100), b"")
        connection.close()
        self.assertEqual(redis.get("k"), "2")

    def test_a_fault_of_a_queued_command_aborts_the_transaction(self):
        self.connect().execute_command("SIM", "FAULT", "ERROR", "SET", "OOM no memory")
        self.assertEqual(self.served.ask(b"MULTI\r\nGET k\r\nSET k v\r\nEXEC\r\nEXISTS k\r\n"),
                         b"+OK\r\n+QUEUED\r\n-OOM no memory\r\n"
                         b"-EXECABORT Transaction discarded because of previous errors.\r\n:0\r\n")

    def test_a_lost_reply_is_not_a_command_that_was_not_run(self):
        redis = self.connect(retry_on_error=[], retry_on_timeout=False)
        redis.execute_command("SIM", "FAULT", "drop_reply", "RPUSH")
        with self.assertRaises(redis_py.exceptions.ConnectionError):
            redis.rpush("jobs", "one")
        self.assertEqual(redis.lrange("jobs", 0, -1), ["one"])

    def test_introspection(self):
        redis = self.connect(client_name="me")
        redis.set("k", "v")
        redis.get("k")
        redis.get("none")
        info = redis.info("everything")
        self.assertEqual(info["redis_version"], "7.0.15")
        self.assertEqual(info["db0"]["keys"], 1)
        self.assertEqual((info["keyspace_hits"], info["keyspace_misses"]), (1, 1))
        self.assertEqual(info["cmdstat_get"]["calls"], 2)
        self.assertEqual(info["process_id"], self.served.process.pid)
        self.assertGreater(info["used_memory_rss"], 1 << 20)
        clients = redis.client_list()
        self.assertEqual([client["name"] for client in clients], ["me"])
        self.assertEqual(clients[0]["addr"], self.served.path + ":0")
        self.assertEqual(clients[0]["cmd"], "client|list")
        redis.config_set("slowlog-log-slower-than", 0)
        redis.get("k")
        self.assertEqual(redis.slowlog_get(1)[0]["command"], b"GET k")

    def test_a_client_is_killed_by_its_id(self):
        redis = self.connect()
        victim = self.served.open()
        victim.sendall(b"CLIENT ID\r\n")
        number = victim.recv(100).decode()[1:].strip()
        self.assertEqual(redis.client_kill_filter(_id=number), 1)
        self.assertEqual(victim.recv(100), b"")
        victim.close()


class RedisCli(ServedTest):
    def test_commands_and_scans(self):
        self.assertEqual(self.served.cli("SET", "k", "v"), "OK\n")
        self.served.cli("RPUSH", "l", "a", "b")
        self.assertEqual(sorted(self.served.cli("--scan").split()), ["k", "l"])
        self.assertIn('Biggest   list found \'"l"\' has 2 items', self.served.cli("--bigkeys"))
        self.assertIn('Biggest', self.served.cli("--memkeys"))
        self.assertIn("redis_version:7.0.15", self.served.cli("INFO", "server"))

    def test_resp3(self):
        self.served.cli("HSET", "h", "f", "v")
        self.assertIn("f", self.served.cli("-3", "HGETALL", "h"))

    def test_pipe(self):
        data = b"".join(b"*3\r\n$3\r\nSET\r\n$4\r\n%04d\r\n$1\r\nv\r\n" % i for i in range(5000))
        self.assertIn("errors: 0, replies: 5000", self.served.cli("--pipe", data=data))
        self.assertEqual(self.served.cli("DBSIZE"), "5000\n")

    def test_monitor_and_subscribe(self):
        for words, cause, expected in (
                (["MONITOR"], ["GET", "k"], '"GET" "k"'),
                (["SUBSCRIBE", "c"], ["PUBLISH", "c", "hi"], "hi")):
            with subprocess.Popen(["redis-cli", "-s", self.served.path, *words],
                                  stdout=subprocess.PIPE, text=True) as watching:
                watching.stdout.readline()
                seen = ""
                while expected not in seen:
                    self.served.cli(*cause)
                    seen += watching.stdout.readline()
                watching.kill()

    def test_latency(self):
        with subprocess.Popen(["redis-cli", "-s", self.served.path, "--latency", "-i", "1", "--raw"],
                              stdout=subprocess.PIPE, text=True) as measuring:
            self.assertEqual(len(measuring.communicate(timeout=20)[0].split()), 4)

    def test_shutdown(self):
        self.served.cli("SHUTDOWN", "NOSAVE")
        self.assertEqual(self.served.process.wait(20), 0)


class RedisBenchmark(ServedTest):
    def test_all_of_its_tests_run(self):
        output = self.served.run("redis-benchmark", "-s", self.served.path, "-n", "2000", "-P", "16", "-q")
        self.assertIn(b"MSET (10 keys)", output)
        self.assertNotIn(b"rror", output)


class Persistence(unittest.TestCase):
    """The calls that save keys, with each client, as with redis-server."""

    def setUp(self):
        self.data = tempfile.mkdtemp(prefix="redouble-data-")
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def start(self, kind):
        self.server = server = kind("--dir", self.data, "--enable-debug-command", "local")
        self.addCleanup(server.stop)
        client = redis_py.Redis(unix_socket_path=server.path, decode_responses=True)
        self.addCleanup(client.close)
        return server, client

    def clear(self):
        for name in os.listdir(self.data):
            path = os.path.join(self.data, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def for_each_server(self, run):
        """Runs with our server and with redis-server, and compares what it returns."""
        results = []
        for kind in (Served, Redis):
            results.append(run(kind))
            self.server.stop()  # It may be about to save.
            self.clear()
        self.assertEqual(results[0], results[1])

    @staticmethod
    def outcome_of(call, **options):
        """What a call returns, or the class and the text of the error that it raises."""
        try:
            return call(**options)
        except redis_py.exceptions.RedisError as error:
            return type(error).__name__, str(error)

    def wait_until_idle(self, client):
        """Waits for the end of saves and rewrites. The status of the last ones."""
        busy = ("rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled")
        for _ in range(400):
            info = client.info("persistence")
            if not any(info[name] for name in busy):
                return info["rdb_last_bgsave_status"], info["aof_last_bgrewrite_status"]
            time.sleep(0.05)
        self.fail("the save has not ended")

    def test_redis_py_saves_in_both_ways(self):
        def run(kind):
            _, client = self.start(kind)
            began = client.lastsave()
            client.set("k", "v")
            said = [client.save(), sorted(os.listdir(self.data)), client.lastsave() >= began]
            written = os.path.getmtime(os.path.join(self.data, "dump.rdb"))
            # A second may have begun after the file was written.
            said.append(abs(client.lastsave().timestamp() - written) < 20)
            client.incr("n")
            said += [client.info("persistence")["rdb_changes_since_last_save"], client.bgsave()]
            said += [self.wait_until_idle(client), client.info("persistence")["rdb_changes_since_last_save"]]
            said += [client.bgsave(schedule=False), self.wait_until_idle(client)]
            with client.pipeline() as pipe:
                pipe.incr("n").bgsave()
                said.append(pipe.execute())
            self.wait_until_idle(client)
            return [str(part) for part in said]

        self.for_each_server(run)

    def test_redis_py_rewrites_the_log(self):
        def run(kind):
            server, client = self.start(kind)
            said = [client.bgrewriteaof(), self.wait_until_idle(client)]
            said.append(client.config_set("appendonly", "yes"))
            said.append(self.wait_until_idle(client))
            client.set("k", "v")
            said += [client.bgrewriteaof(), self.wait_until_idle(client)]
            said.append(client.info("persistence")["aof_rewrites"])
            said.append(self.outcome_of(client.shutdown, nosave=True))
            return [*said, server.process.wait(20), sorted(os.listdir(self.data))]

        self.for_each_server(run)

    def test_redis_py_reloads(self):
        def run(kind):
            _, client = self.start(kind)
            client.set("k", "v")
            client.xadd("s", {"f": "v"}, id="1-1")
            before = client.execute_command("DEBUG", "DIGEST")
            said = [client.execute_command("DEBUG", "RELOAD"), client.execute_command("DEBUG", "DIGEST") == before]
            said.append(self.outcome_of(lambda: client.execute_command("DEBUG", "RELOAD", "NOFLUSH", "x")))
            client.config_set("appendonly", "yes")
            said += [self.wait_until_idle(client), client.execute_command("DEBUG", "LOADAOF")]
            return [*said, client.get("k"), client.dbsize()]

        self.for_each_server(run)

    SHUTDOWNS = ({}, {"save": True}, {"nosave": True}, {"save": True, "now": True}, {"nosave": True, "force": True},
                 {"now": True, "force": True})

    def test_redis_py_stops_the_server(self):
        def run(kind):
            said = []
            for options in self.SHUTDOWNS:
                server, client = self.start(kind)
                client.set("k", "v")
                said += [options, self.outcome_of(client.shutdown, abort=True), self.outcome_of(client.shutdown, **options),
                         server.process.wait(20), sorted(os.listdir(self.data))]
                self.clear()
            return said

        self.for_each_server(run)

    def test_redis_py_is_told_that_the_server_goes_on(self):
        def run(kind):
            server, client = self.start(kind)
            # A file cannot take the place of a folder with something in it.
            os.makedirs(os.path.join(self.data, "dump.rdb", "inside"))
            client.set("k", "v")
            said = [self.outcome_of(client.save), self.outcome_of(client.shutdown, save=True), client.ping()]
            said += [client.bgsave(), self.wait_until_idle(client)]
            said += [self.outcome_of(client.shutdown, save=True, force=True), server.process.wait(20)]
            return said

        self.for_each_server(run)

    def test_redis_cli_saves_and_stops(self):
        def run(kind):
            server, client = self.start(kind)
            server.cli("SET", "k", "v")
            said = [server.cli("SAVE"), server.cli("LASTSAVE").strip().isdigit(), server.cli("BGSAVE")]
            said += [self.wait_until_idle(client), server.cli("BGREWRITEAOF"), self.wait_until_idle(client)]
            said += [server.cli("DEBUG", "RELOAD"), server.cli("SHUTDOWN", "ABORT"), server.cli("SHUTDOWN", "SAVE")]
            return [*said, server.process.wait(20), sorted(os.listdir(self.data))]

        self.for_each_server(run)


class SystemClock(ServedTest):
    options = ()

    def test_keys_expire_and_calls_time_out_as_time_goes_on(self):
        redis = self.connect()
        redis.set("k", "v", px=50)
        self.assertIsNone(redis.blpop("none", timeout=0.1))
        self.assertEqual(redis.dbsize(), 0)
        with self.assertRaisesRegex(redis_py.exceptions.ResponseError, "redouble serve --clock"):
            redis.execute_command("SIM", "CLOCK", "GET")


class Password(ServedTest):
    options = ("--requirepass", "secret", "--maxmemory", "3mb")

    def test_is_asked_for(self):
        with self.assertRaises(redis_py.exceptions.AuthenticationError):
            self.connect().get("k")
        self.assertEqual(self.connect(password="secret").config_get("maxmemory"),
                         {"maxmemory": "3145728"})


if __name__ == "__main__":
    unittest.main()
