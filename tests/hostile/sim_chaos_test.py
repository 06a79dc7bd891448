"""Goal: SIM commands, mixed with everything else, neither end nor confuse the server.

A round has five clients that send random commands in pipelines: data commands, transactions, scripts, blocking
calls, pauses, and SIM commands that move the clock, inject faults, save and restore. Afterwards

* the server runs and answers;
* each client has got one reply for each command, in their order;
* SIM RESTORE brings back the state of SIM SNAPSHOT: SIM HASH and every SIM DUMP are the same.
"""

import io
import json
import random
import time

import campaign
from random_commands import RandomCommands
from served import Served
from wire import Wire, encoded

# A server that does not answer for so long hangs; a busy machine is much faster.
HANGS_SECONDS = 180
CLIENTS = 5
STEPS = 150
DATABASES = 16
# These end the server or the connection, write files, or have replies of their own.
NOT_SENT = {"shutdown", "debug", "monitor", "sync", "psync", "replconf", "replicaof", "slaveof", "failover", "quit",
            "reset", "auth", "hello", "acl", "config", "client", "save", "bgsave", "bgrewriteaof", "module", "migrate",
            "cluster", "subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe", "wait",
            "script", "function", "multi", "exec", "discard", "echo"}
BLOCKING = [("BLPOP", "a", "b", "0"), ("BRPOP", "a", "1"), ("BLMOVE", "a", "b", "LEFT", "RIGHT", "0.5"),
            ("BZPOPMIN", "z", "0"), ("XREAD", "BLOCK", "0", "STREAMS", "st", "$"), ("WAIT", "1", "50"),
            ("BLMPOP", "2", "2", "a", "b", "LEFT"), ("XREADGROUP", "GROUP", "g", "c", "BLOCK", "7", "STREAMS", "st", ">")]
FEEDING = [("RPUSH", "a", "1", "2"), ("RPUSH", "b", "x"), ("ZADD", "z", "1", "m"), ("XADD", "st", "*", "f", "v"),
           ("XGROUP", "CREATE", "st", "g", "$", "MKSTREAM"), ("SET", "k", "v", "PX", "40"), ("PEXPIRE", "a", "30"),
           ("SWAPDB", "0", "1"), ("SELECT", "1"), ("SELECT", "0"), ("FLUSHALL",), ("FLUSHDB", "ASYNC"), ("DEL", "a", "b", "z"),
           ("SET", "big", "x" * 5000), ("INCR", "n"), ("SPOP", "s"), ("SADD", "s", "1", "2", "3"), ("RANDOMKEY",)]
TRANSACTIONS = [("MULTI",), ("EXEC",), ("DISCARD",), ("WATCH", "a", "k"), ("UNWATCH",)]
SCRIPTS = [("EVAL", "return redis.call('TIME')", "0"), ("EVAL", "redis.call('RPUSH', 'a', 1) return redis.pcall('GET', 'a')", "0"),
           ("EVAL", "for i = 1, 300 do redis.call('SET', 'e' .. i, i, 'PX', i) end return 1", "0"),
           ("EVAL", "while true do end", "0"), ("EVAL", "while true do redis.call('GET', 'n') end", "0"),
           ("SCRIPT", "KILL"), ("FUNCTION", "KILL"), ("SCRIPT", "FLUSH"), ("FUNCTION", "FLUSH"), ("FCALL", "f", "0"),
           ("FUNCTION", "LOAD", "REPLACE", "#!lua name=l\nredis.register_function('f', function() return redis.call('DBSIZE') end)")]
# A pause of all commands would hold the test itself too.
CONTROL = [("CLIENT", "PAUSE", "20", "WRITE"), ("CLIENT", "PAUSE", "50", "WRITE"), ("CLIENT", "UNPAUSE"), ("CLIENT", "LIST"),
           ("CLIENT", "TRACKING", "ON"), ("CLIENT", "TRACKING", "ON", "BCAST"), ("CLIENT", "TRACKING", "OFF"),
           ("CLIENT", "NO-EVICT", "ON"), ("CONFIG", "SET", "maxmemory", "1mb"), ("CONFIG", "SET", "maxmemory", "0"),
           ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"), ("CONFIG", "SET", "maxmemory-policy", "noeviction"),
           ("CONFIG", "SET", "notify-keyspace-events", "KEA"), ("CONFIG", "RESETSTAT"), ("INFO",), ("MEMORY", "STATS"),
           ("CONFIG", "SET", "client-output-buffer-limit", "normal 32mb 0 0"), ("SLOWLOG", "GET"), ("LATENCY", "RESET")]
DURATIONS = ["0", "1", "10", "60", "1000", "5s", "72h", "100000", "-1", "x", "", "9223372036854775807"]
# Not those that lose requests or replies, because the replies are counted.
FAULTS = ["error_reply", "ERROR", "nosuch"]
# What ends faults, pauses and busy scripts.
RELEASING = [("SIM", "FAULT", "CLEAR"), ("SIM", "CLOCK", "ADVANCE", "1000"), ("SCRIPT", "KILL"), ("FUNCTION", "KILL")]
FAULTY = ["GET", "RPUSH", "BLPOP", "EXEC", "MULTI", "EVAL", "*", "INCR", "nosuch", "SIM"]


class Received(io.BytesIO):
    """Bytes that may end within a reply."""

    def read(self, size=-1):
        data = super().read(size)
        if len(data) < size:
            raise EOFError
        return data

    def readline(self, size=-1):
        line = super().readline(size)
        if not line.endswith(b"\n"):
            raise EOFError
        return line


class Client(Wire):
    """A connection and what it waits for: for each command None, or the text that ECHO must return."""

    def __init__(self, server):
        super().__init__(server.open())
        self.socket.settimeout(HANGS_SECONDS)
        self.received = b""
        self.expected = []
        self.count = 0
        self.send_all([("HELLO", "3")])

    def marker(self):
        self.count += 1
        return f"<marker {id(self)} {self.count}>"

    def send_all(self, commands):
        """Sends commands, and an ECHO that shows whether the replies are in step."""
        marker = self.marker()
        self.expected += [None] * len(commands) + [marker]
        self.socket.sendall(b"".join(encoded(words) for words in [*commands, ("ECHO", marker)]))

    def take_all(self):
        """Checks the values that have arrived."""
        self.socket.settimeout(0)
        try:
            while True:
                part = self.socket.recv(1 << 20)
                if not part:
                    raise ConnectionError("closed by the server")
                self.received += part
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(HANGS_SECONDS)
        self.file = Received(self.received)
        at = 0
        try:
            while True:
                value = self.read()
                at = self.file.tell()
                self.check(*value)
        except EOFError:
            self.received = self.received[at:]

    def check(self, kind, content):
        """A value must be a push, or what is expected."""
        if kind == ">":
            return
        if not self.expected:
            raise campaign.Finding(f"a reply without a command: {kind}{content}")
        marker = self.expected.pop(0)
        is_marker = isinstance(content, str) and content.startswith("<marker")
        # In a transaction ECHO is queued, and a busy server or a fault refuses it.
        refused = kind == "-" or content == "QUEUED"
        if (is_marker or marker is not None and not refused) and content != marker:
            raise campaign.Finding(f"replies are out of step: {kind}{content} instead of {marker}")


class Round:
    def __init__(self, server, commands, rng):
        self.server = server
        self.commands = commands
        self.rng = rng
        self.admin = server.wire()
        self.admin.socket.settimeout(HANGS_SECONDS)
        self.clients = [Client(server) for _ in range(CLIENTS)]
        self.sent = []
        # Whether a fault or CLIENT KILL may have closed a connection.
        self.may_close = False

    def play(self):
        try:
            for _ in range(STEPS):
                self.step()
            self.finish()
            self.round_trip()
        except ConnectionError as error:
            raise self.finding(f"the server has closed a connection: {error}") from error
        except TimeoutError as error:
            raise self.finding("the server does not answer") from error
        except campaign.Finding as finding:
            raise self.finding(str(finding)) from finding
        finally:
            for wire in [self.admin, *self.clients]:
                wire.close()

    def finding(self, text):
        lines = [" ".join(repr(word) if " " in word or not word else word for word in words) for words in self.sent]
        return campaign.Finding("\n".join([text, "the last commands, with the number of the client:", *lines[-60:]]))

    def step(self):
        rng = self.rng
        at = rng.randrange(CLIENTS)
        burst = [self.command() for _ in range(rng.choice((1, 1, 1, 2, 5)))]
        self.sent += [(str(at), *words) for words in burst]
        if any(words[:2] == ("CLIENT", "KILL") or words[:2] == ("SIM", "FAULT") for words in burst):
            self.may_close = True
        try:
            self.clients[at].send_all(burst)
            self.sync()
            for at, client in enumerate(self.clients):
                client.take_all()
        except ConnectionError:
            self.reopen(at)

    def reopen(self, at):
        if not self.may_close or self.server.process.poll() is not None:
            raise campaign.Finding("the server has closed a connection")
        self.clients[at].close()
        self.clients[at] = Client(self.server)

    def sync(self):
        """Returns when the server has seen what was sent before; SIM is not paused."""
        if self.rng.random() < 0.2:
            self.admin.ask("SIM", "CLOCK", "GET")

    def command(self):
        rng = self.rng
        draw = rng.random()
        for limit, pool in ((0.15, BLOCKING), (0.35, FEEDING), (0.45, TRANSACTIONS), (0.52, SCRIPTS), (0.6, CONTROL)):
            if draw < limit:
                return rng.choice(pool)
        if draw < 0.62:
            return ("CLIENT", rng.choice(["UNBLOCK", "KILL"]), *rng.choice([("ID", "1"), ("3",), ("TYPE", "pubsub")]))
        if draw < 0.85:
            return tuple(self.sim())
        while True:
            name = self.commands.pick(rng)
            if name.split("|")[0] not in NOT_SENT:
                words = self.commands.make(rng, name)
                return tuple(words)

    def sim(self):
        rng = self.rng
        name = rng.choice(["a", "b", "c"])
        return rng.choice([
            ["SIM", "CLOCK", "GET"], ["SIM", "CLOCK", "NEXT"], ["SIM", "CLOCK", "NEXT"],
            ["SIM", "CLOCK", "ADVANCE", rng.choice(DURATIONS)], ["SIM", "CLOCK", "ADVANCE", str(rng.randrange(200))],
            ["SIM", "CLOCK", "SET", rng.choice([*DURATIONS, "2030-01-01T00:00:00Z", "2023-11-15T00:00:00Z"])],
            ["SIM", "SEED", rng.choice(["1", "2", "-5", "x"])], ["SIM", "HASH"], ["SIM", "SNAPSHOT", name],
            ["SIM", "RESTORE", name], ["SIM", "DUMP", *rng.choice([[], ["0"], ["1"], ["99"], ["x"], ["-1"]])],
            ["SIM", "FAULT", rng.choice(FAULTS), rng.choice(FAULTY), *rng.choice([[], ["ERR x"], ["ERR x", "COUNT", "2"],
                                                                                ["COUNT", "1"], ["COUNT", "-1"]])],
            ["SIM", "FAULT", "LIST"], ["SIM", "FAULT", "CLEAR"], ["SIM", "HELP"], ["SIM"], ["SIM", "NOSUCH"]])

    def finish(self):
        """Ends what blocks, and reads every reply that is due."""
        for words in (*RELEASING, ["CONFIG", "SET", "maxmemory", "0"]):
            self.admin.ask(*words)
        for at, client in enumerate(self.clients):
            try:
                self.drain(client)
            except ConnectionError:
                self.reopen(at)
        # What was blocked last may have paused all clients, and nothing moves the clock any more.
        self.admin.ask("CLIENT", "UNPAUSE")

    def drain(self, client):
        deadline = time.monotonic() + HANGS_SECONDS
        while True:
            client.take_all()
            if not client.expected:
                return
            if time.monotonic() > deadline:
                raise campaign.Finding(f"{len(client.expected)} replies are missing")
            for words in RELEASING:
                self.admin.ask(*words)
            kind, text = self.admin.ask("CLIENT", "LIST")
            # A busy server refuses.
            for line in text.splitlines() if kind != "-" else ():
                fields = dict(field.split("=", 1) for field in line.split())
                if "b" in fields["flags"]:
                    self.admin.ask("CLIENT", "UNBLOCK", fields["id"])

    def round_trip(self):
        """Nothing is blocked any more, so nobody changes what is restored."""
        admin = self.admin
        for index in range(DATABASES):
            text = admin.plain("SIM", "DUMP", str(index))
            json.loads(text)
        admin.ask("SIM", "SNAPSHOT", "end")
        before = self.state()
        for words in (["FLUSHALL"], ["SET", "other", "x"], ["SIM", "CLOCK", "ADVANCE", "1000"], ["SIM", "SEED", "9"]):
            admin.ask(*words)
        admin.ask("SIM", "RESTORE", "end")
        after = self.state()
        if before != after:
            raise campaign.Finding(f"not restored:\n{str(before)[:1000]}\n{str(after)[:1000]}")

    def state(self):
        return [self.admin.plain("SIM", "HASH"), *[self.admin.plain("SIM", "DUMP", str(i)) for i in range(DATABASES)]]


def play(seed):
    server = Served("--clock", "manual", "--start", "1700000000000", "--seed", str(seed))
    try:
        wire = server.wire(3)
        # With a manual clock scripts are measured by what they do: an endless one takes this long.
        wire.ask("CONFIG", "SET", "busy-reply-threshold", "20")
        commands = RandomCommands(wire)
        wire.close()
        Round(server, commands, random.Random(seed)).play()
        if server.stop() != 0:
            raise campaign.Finding("the server does not end well")
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.stop()


if __name__ == "__main__":
    campaign.run(play, rounds=20)
