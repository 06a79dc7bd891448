"""Debugging sessions of scripts (SCRIPT DEBUG), beside redis-server.

Both get the same commands, and every reply is compared. Redis ends its process when `eval` raises an
error that is no string, so no session here does that.
"""

import os
import pty
import re
import select
import signal
import subprocess
import unittest

from served import ConfiguredTestCase
from wire import encoded

CALLS = """local a = {1, 'two', {three = 3}}
local pushed = redis.call('RPUSH', KEYS[1], 'x', ARGV[1])
local wrong = redis.pcall('GET', KEYS[1])
local unknown = redis.pcall('NOSUCH', 'a', 'b')
local denied = redis.pcall('SUBSCRIBE', 'c')
local arity = redis.pcall('SELECT')
local invalid = redis.pcall({})
local nothing = redis.pcall()
local made = redis.error_reply('My text')
local long = redis.call('RPUSH', 'long', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
redis.debug(a, pushed, nil, 1.5)
redis.log(redis.LOG_WARNING)
return {pushed, a[2], redis.call('LRANGE', KEYS[1], 0, -1)}
"""

NESTED = """local function inner(n)
  local square = n * n
  redis.breakpoint()
  return square
end

local function outer(list)
  local sum = 0
  for i, n in ipairs(list) do
    sum = sum + inner(n)
  end
  return sum
end
local total = outer({1, 2, 3})
return total
"""

RESP3 = """redis.setresp(3)
redis.call('HSET', 'h', 'f', 'v')
redis.call('SADD', 's', 'm')
redis.call('ZADD', 'z', 1.5, 'm')
local h = redis.call('HGETALL', 'h')
local s = redis.call('SMEMBERS', 's')
local d = redis.call('ZSCORE', 'z', 'm')
local n = redis.call('GET', 'none')
local p = redis.call('PING')
return h
"""

LONG = "local text = string.rep('x', 1000)\nlocal n = redis.call('ECHO', text)\nreturn #n"
COROUTINE = """local f = loadstring('local inside = 1\\nreturn inside')
f()
local co = coroutine.wrap(function(a)
  local b = coroutine.yield(a + 1)
  return b
end)
local x = co(1)
local y = co(x)
return {x, y}
"""

STEPS = [["step"]] * 20
# A name, a script, its keys, its arguments and the commands.
SESSIONS = [
    ("steps", CALLS, ["list"], ["y"], STEPS),
    ("short forms", CALLS, ["list"], ["y"], [["s"], ["n"], ["next"], ["S"], ["p"], ["c"]]),
    ("continues", CALLS, ["list"], ["y"], [["continue"]]),
    ("lists", NESTED, [], [], [["l"], ["list", "7"], ["l", "7", "1"], ["l", "0", "2"], ["l", "99"],
                               ["l", "x", "y"], ["l", "-3"], ["w"], ["whole"], ["b", "4"], ["w"], ["c"],
                               ["l"], ["a"]]),
    ("breakpoints", NESTED, [], [], [["b"], ["b", "4", "10"], ["b"], ["b", "4"], ["b", "99"], ["b", "-10"],
                                     ["b", "-10"], ["b", "x"], ["b", "1x", "0"], ["b"], ["b", "10"], ["c"],
                                     ["t"], ["c"], ["t"], ["b", "0"], ["s"], ["c"], ["c"], ["c"]]),
    ("many breakpoints", "local a = 1\n" * 70, [], [], [["b", *range(1, 68)], ["b"], ["b", "-1", "70"],
                                                        ["c"], ["b", "0"], ["c"]]),
    ("prints", NESTED, [], [], [["p"], ["c"], ["p"], ["p", "square"], ["p", "sum"], ["p", "list"],
                                ["p", "none"], ["p", "KEYS"], ["p", "ARGV"], ["p", "redis"], ["p", "a", "b"],
                                ["t"], ["s"], ["trace"], ["s"], ["s"], ["p"], ["c"], ["c"], ["c"]]),
    ("evaluates", CALLS, ["list"], ["y"], [["e", "1 + 2"], ["eval", "KEYS[1]", "..", "'z'"], ["e", "x = 1"],
                                           ["e", "local a = 1"], ["e", "'"], ["e", "a"], ["e"],
                                           ["e", "error('text')"], ["e", "{1, {2, {3}}, k = 'v'}"],
                                           ["e", "nil"], ["e", "true"], ["e", "1e100"], ["e", "'\\0\\n\"'"],
                                           ["e", "redis.call('SET', 'k', 'v')"], ["e", "redis.breakpoint()"],
                                           ["s"], ["e", "redis.debug('shown')"], ["c"]]),
    ("calls", CALLS, ["list"], ["y"], [["r", "SET", "k", "v"], ["redis", "GET", "k"], ["r", "GET", "none"],
                                       ["r", "NOSUCH"], ["r", "GET"], ["r", "EVAL", "return 1", "0"],
                                       ["r", "RPUSH", "k", "x"], ["r", "COMMAND", "COUNT", "x"],
                                       ["r", "RPUSH", "l", *range(12)], ["r", "LRANGE", "l", "0", "-1"],
                                       ["r", "CONFIG", "GET", "maxmemory"], ["r"], ["c"]]),
    ("refused by rules", "return 1", [], [], [["r", "CONFIG", "SET", "maxmemory", "1"],
                                              ["r", "SET", "k", "v"], ["r", "GET", "k"],
                                              ["r", "CONFIG", "SET", "maxmemory", "0"], ["c"]]),
    ("resp3", RESP3, [], [], STEPS),
    ("lengths", LONG, [], [], [["s"], ["p"], ["p", "text"], ["m"], ["m", "100"], ["p"], ["s"], ["maxlen", "10"],
                               ["p"], ["m", "0"], ["p"], ["m", "-5"], ["p"], ["m", "x"], ["m", "1", "2"], ["c"]]),
    ("help", "return 1", [], [], [["h"], ["HELP"], ["help", "x"], ["c", "x"]]),
    ("unknown", "return 1", [], [], [["x"], ["restart"], ["quit"], ["PING"], [b"w\0x"], [b"\0w"], ["c"]]),
    ("aborts", "redis.call('SET', 'k', 'v')\nreturn 1", [], [], [["s"], ["abort"]]),
    ("aborts in pcall", "local ok, err = pcall(function()\n  return 1\nend)\nreturn {tostring(ok), err}", [], [],
     [["s"], ["a"], ["s"], ["p"], ["c"]]),
    ("coroutines", COROUTINE, [], [], [["s"]] * 12 + [["p"], ["t"], ["c"]]),
    ("fails", "local a = 1\nerror('text')", [], [], [["s"], ["s"]]),
    ("fails in a call", "local a = 1\nredis.call('NOSUCH')", [], [], [["s"], ["s"]]),
    ("does not compile", "return (", [], [], []),
    ("declares flags", "#!lua flags=no-writes\nlocal a = redis.pcall('SET', 'k', 'v')\nreturn a", [], [],
     [["w"], ["s"], ["s"]]),
    ("empty", "", [], [], [["l"], ["p"], ["c"]]),
    ("empty lines", "\n\nlocal a = 1\r\n\nreturn a\n\n\n", [], [], [["w"], ["s"], ["p"], ["c"]]),
    ("debugs without steps", "redis.debug()\nredis.debug('a\\nb', {})\nreturn redis.breakpoint()", [], [],
     [["c"], ["c"]]),
    ("null", "local n = cjson.null\nreturn 1", [], [], [["s"], ["p"], ["e", "cjson.null"], ["c"]]),
    ("nests", "local t = {}\nt[1] = t\nlocal u = {{{{{{{{{{{{1}}}}}}}}}}}}\nreturn 1", [], [],
     [["s"], ["s"], ["s"], ["p"], ["m", "0"], ["p"], ["c"]]),
    ("no client number", "return 1", [], [], [b"*0\r\n"]),
    ("no request", "return 1", [], [], [b"PING\r\n"]),
    ("an empty word", "return 1", [], [], [b"*1\r\n$0\r\n\r\n"]),
    ("a long word", "return 1", [], [], [b"*1\r\n$1025\r\n"]),
    ("a wrong type", "return 1", [], [], [b"*1\r\n:1\r\n"]),
    ("no line end", "return 1", [], [], [b"*1\r\n$1\r\nabc"]),
    ("noise before", "return 1", [], [], [b"noise*1\r\n$1\r\nw\r\n", ["c"]]),
    ("several at once", "return 1", [], [], [encoded(["w"]) + encoded(["a"]), ["c"]]),
]


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "0x", text)


class Session:
    """A debugging session on a connection of its own. `log` has what the server said."""

    def __init__(self, server, mode, script, keys=(), arguments=(), command="EVAL"):
        self.wire = server.wire()
        self.log = []
        self.ended = False
        if mode:
            self.log.append(self.wire.ask("SCRIPT", "DEBUG", mode))
        self.wire.send(command, script, len(keys), *keys, *arguments)
        self.read()

    def read(self):
        """One array, and after the last one the script's reply and the end of the connection."""
        value = self.wire.read()
        self.log.append(without_addresses(repr(value)))
        if ("+", "<endsession>") in value[1]:
            self.ended = True
            self.log.append(self.wire.read())
            self.log.append(self.wire.file.read())

    def ask(self, command):
        if isinstance(command, bytes):
            self.wire.socket.sendall(command)
        else:
            self.wire.send(*command)
        self.read()

    def run(self, commands):
        for command in commands:
            if self.ended:
                break
            self.ask(command)
        self.wire.close()
        return self.log


class ScriptDebugTest(ConfiguredTestCase):
    def start(self, kind, *options):
        return super().start(kind, "--save", "", "--dir", self.folder, *options)

    def wire(self, server):
        wire = server.wire()
        self.addCleanup(wire.close)
        return wire

    def session(self, server, *arguments):
        session = Session(server, *arguments)
        self.addCleanup(session.wire.close)
        return session


class Sessions(ScriptDebugTest):
    def compare(self, mode):
        servers = {kind: self.start(kind) for kind in ("redouble", "redis")}
        for name, script, keys, arguments, commands in SESSIONS:
            logs = []
            for server in servers.values():
                wire = server.wire()
                wire.ask("FLUSHALL")
                wire.close()
                logs.append(Session(server, mode, script, keys, arguments).run(commands))
            with self.subTest(session=name, mode=mode):
                self.assertEqual(*logs)
                self.assertGreater(len(logs[0]), 1)

    def test_that_hold_the_server(self):
        self.compare("sync")

    def test_apart(self):
        self.compare("yes")


class Writes(ScriptDebugTest):
    SCRIPT = "redis.call('SET', 'k', 'v')\nreturn redis.call('GET', 'k')"

    def test_stay_in_a_session_that_holds_the_server(self):
        def run(kind):
            server = self.start(kind)
            log = self.session(server, "SYNC", self.SCRIPT).run([["s"], ["c"]])
            return log, self.wire(server).ask("GET", "k")

        self.assertEqual(self.both(run)[1], ("$", "v"))

    def test_are_lost_with_a_session_apart(self):
        def run(kind):
            server = self.start(kind)
            other = self.wire(server)
            session = self.session(server, "YES", self.SCRIPT)
            session.ask(["s"])
            during = other.ask("GET", "k"), other.ask("SET", "k", "other")
            session.ask(["r", "GET", "k"])
            return during, session.run([["c"]]), other.ask("GET", "k")

        replies = self.both(run)
        self.assertEqual(replies[0], (("$-1", None), ("+", "OK")))
        self.assertEqual(replies[1][-2], ("$", "v"))
        self.assertEqual(replies[2], ("$", "other"))

    def test_of_a_session_apart_reach_nobody(self):
        def run(kind):
            server = self.start(kind, "--appendonly", "yes", "--enable-debug-command", "yes")
            monitor, subscriber, other = (self.wire(server) for _ in range(3))
            subscriber.ask("SUBSCRIBE", "c")
            monitor.ask("MONITOR")
            log = self.session(
                server, "YES", "redis.call('PUBLISH', 'c', 'from the script')\n" + self.SCRIPT).run([["c"]])
            other.ask("PUBLISH", "c", "from outside")
            message = subscriber.read()
            lines = []
            while "outside" not in "".join(lines):
                lines.append(re.sub(r"^\S+ \[\d+ \S+ ?", "", monitor.read()[1]))
            return log, message, lines, other.ask("DEBUG", "LOADAOF"), other.ask("GET", "k")

        replies = self.both(run)
        self.assertEqual(replies[1][1][2], ("$", "from outside"))
        self.assertEqual(replies[3:], (("+", "OK"), ("$-1", None)))

    def test_of_others_wait_for_a_session_that_holds_the_server(self):
        def run(kind):
            server = self.start(kind)
            other = self.wire(server)
            session = self.session(server, "SYNC", "return 1")
            other.send("SET", "x", "1")
            session.ask(["r", "GET", "x"])
            log = session.run([["c"]])
            return log, other.read(), other.ask("GET", "x")

        self.assertEqual(self.both(run)[2], ("$", "1"))


class Leaving(ScriptDebugTest):
    SCRIPT = "local a = 1\nredis.breakpoint()\nredis.call('SET', 'k', 'v')\nreturn 1"

    def test_a_script_runs_to_its_end(self):
        def run(kind):
            server = self.start(kind)
            session = self.session(server, "SYNC", self.SCRIPT)
            session.ask(["b", "3"])
            session.wire.close()
            return self.wire(server).ask("GET", "k")

        self.assertEqual(self.both(run), ("$", "v"))

    def test_an_endless_script_ends(self):
        def run(kind):
            server = self.start(kind)
            self.wire(server).ask("CONFIG", "SET", "busy-reply-threshold", "1")
            session = self.session(server, "SYNC", "local a = 1\nwhile true do end")
            session.wire.send("c")
            session.wire.close()
            return self.wire(server).ask("PING")

        self.assertEqual(self.both(run), ("+", "PONG"))

    def test_an_endless_script_is_stopped(self):
        def run(kind):
            server = self.start(kind)
            self.wire(server).ask("CONFIG", "SET", "busy-reply-threshold", "1")
            session = self.session(server, "YES", "local a = 1\nwhile true do end")
            return session.run([["c"], ["p"], ["a"]])

        self.assertIn("timeout reached", self.both(run)[2])

    def test_the_server_ends_sessions_apart(self):
        for stop in ("SHUTDOWN", signal.SIGTERM):
            def run(kind, stop=stop):
                server = self.start(kind)
                session = self.session(server, "YES", "return 1")
                if stop == "SHUTDOWN":
                    self.wire(server).send("SHUTDOWN", "NOSAVE")
                else:
                    server.process.send_signal(stop)
                code = server.process.wait(20)
                try:
                    return code, session.wire.file.read()
                except ConnectionResetError:
                    return code, b""

            with self.subTest(stop=stop):
                self.assertEqual(self.both(run), (0, b""))

    def test_a_signal_ends_a_session_that_holds_the_server(self):
        # Redis misses a signal that comes before it waits for the client.
        server = self.start("redouble")
        session = self.session(server, "SYNC", "local a = 1\nreturn a")
        server.process.send_signal(signal.SIGTERM)
        session.read()
        self.assertEqual(session.log[-2], (":", 1))
        self.assertEqual(server.process.wait(20), 0)

    def test_a_session_apart_outlives_the_server(self):
        def run(kind):
            server = self.start(kind)
            session = self.session(server, "YES", self.SCRIPT)
            server.process.kill()
            server.process.wait(20)
            return session.run([["c"], ["p"], ["c"]])

        self.assertIn("redis.breakpoint() called", self.both(run)[2])


class Refusals(ScriptDebugTest):
    def test_modes(self):
        def run(kind):
            wire = self.wire(self.start(kind))
            replies = [wire.ask("SCRIPT", "DEBUG", mode) for mode in ("no", "maybe", "YES", "Sync", "NO")]
            replies += [wire.ask("SCRIPT", "DEBUG"), wire.ask("SCRIPT", "DEBUG", "YES", "NO")]
            replies += [wire.ask("EVAL", "return redis.breakpoint()", "0"),
                        wire.ask("EVAL", "return redis.debug(1)", "0"),
                        wire.ask("EVAL", "return redis.call('SCRIPT', 'DEBUG', 'YES')", "0")]
            return replies

        self.both(run)

    def test_what_is_not_debugged(self):
        def run(kind):
            wire = self.wire(self.start(kind))
            sha = wire.ask("SCRIPT", "LOAD", "return 1")[1]
            library = "#!lua name=l\nredis.register_function('f', function() return 1 end)"
            replies = [wire.ask("FUNCTION", "LOAD", library), wire.ask("SCRIPT", "DEBUG", "SYNC")]
            replies += [wire.ask(name, sha, "0") for name in ("EVALSHA", "EVALSHA_RO")]
            replies += [wire.ask("EVALSHA", "e0e1", "0"), wire.ask("FCALL", "f", "0"), wire.ask("EVAL", "return 1")]
            return replies

        self.both(run)

    def test_pipelines_and_transactions(self):
        def run(kind):
            wire = self.wire(self.start(kind))
            wire.socket.sendall(encoded(["PING"]) + encoded(["SCRIPT", "DEBUG", "YES"]) + encoded(["PING"]))
            replies = [wire.read() for _ in range(3)]
            for words in (["MULTI"], ["SCRIPT", "DEBUG", "SYNC"], ["EVAL", "return 1", "0"], ["EXEC"]):
                replies.append(wire.ask(*words))
            return replies

        self.assertIn("outside a pipeline", self.both(run)[1][1])

    def test_what_arrived_with_the_script_is_dropped(self):
        def run(kind):
            server = self.start(kind)
            wire = self.wire(server)
            wire.ask("SCRIPT", "DEBUG", "SYNC")
            wire.socket.sendall(encoded(["PING"]) + encoded(["EVAL", "return 1", "0"]) + encoded(["SET", "k", "v"]))
            stop = wire.read()
            wire.send("c")
            return stop, wire.read(), wire.read(), wire.read(), wire.file.read(), self.wire(server).ask("GET", "k")

        self.assertEqual(self.both(run)[-1], ("$-1", None))

    def test_yes_after_sync_holds_the_server(self):
        def run(kind):
            server = self.start(kind)
            wire = self.wire(server)
            replies = wire.ask("SCRIPT", "DEBUG", "SYNC"), wire.ask("SCRIPT", "DEBUG", "YES")
            wire.close()
            return replies

        self.both(run)

    def test_wrong_arguments(self):
        for mode in ("YES", "SYNC"):
            def run(kind, mode=mode):
                wire = self.wire(self.start(kind))
                wire.ask("SCRIPT", "DEBUG", mode)
                wire.send("EVAL", "return 1", "x")
                return wire.read(), wire.read(), wire.file.read()

            with self.subTest(mode=mode):
                self.both(run)

    def test_read_only_scripts(self):
        def run(kind):
            server = self.start(kind)
            return self.session(server, "YES", "return redis.pcall('SET', 'k', 'v')", (), (), "EVAL_RO").run(
                [["s"]])

        self.both(run)


class Client(ScriptDebugTest):
    """redis-cli --ldb on a terminal."""

    PROMPT = "lua debugger> "
    # The client then asks for the commands on the closed connection, which may end it.
    END = "(Lua debugging session ended"

    def run_client(self, server, *options, lines):
        path = os.path.join(self.folder, "script.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(NESTED)
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "HOME": self.folder}
        process = subprocess.Popen(["redis-cli", "-s", server.path, *options, "--eval", path, "key", ",", "word"],
                                   stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        transcript = ""
        try:
            for line in lines:
                transcript += self.until(ours, self.PROMPT)
                os.write(ours, line.encode() + b"\n")
            transcript += self.until(ours, self.END)
            return transcript[:transcript.index(self.END)].replace(server.path, "SOCKET")
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def until(self, terminal, text):
        got = ""
        while text not in got:
            self.assertTrue(select.select([terminal], [], [], 20)[0], got)
            got += os.read(terminal, 4096).decode()
        return got

    def test_sessions(self):
        lines = ["list", "break 4", "continue", "print", "trace", "eval KEYS[1] .. ARGV[1]", "redis set k v",
                 "restart", "next", "help", "break 0", "maxlen 0", "abort"]
        for options in (["--ldb"], ["--ldb-sync-mode"]):
            def run(kind, options=options):
                return self.run_client(self.start(kind), *options, lines=lines)

            with self.subTest(options=options):
                transcript = self.both(run)
                self.assertIn("redis.breakpoint() called", transcript)
                self.assertIn("script aborted for user request", transcript)


if __name__ == "__main__":
    unittest.main()
