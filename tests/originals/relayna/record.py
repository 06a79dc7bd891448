"""Records random sequences of operations of Relayna's SDK and Studio as goldens. ../README.md says how to run it."""

import argparse
import asyncio
import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from xml.etree import ElementTree

REVISION = "a8e84574e9d34fbdb63e9653c6fba3037a4c862a"
CHECKOUT = "REDOUBLE_RELAYNA"
START = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "a": b"\a", "b": b"\b", '"': b'"', "\\": b"\\"}


class Server:
    """A redis-server on a Unix socket in a new folder."""

    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._folder.name, "redis.sock")
        self._process = subprocess.Popen([program, "--port", "0", "--unixsocket", self.path, "--save", ""],
                                         stdout=subprocess.DEVNULL, cwd=self._folder.name)
        while not os.path.exists(self.path):
            if self._process.poll() is not None:
                raise RuntimeError("redis-server ended")
            time.sleep(0.01)

    def close(self):
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()


def words_of(line):
    """The words of a line of MONITOR: +1.0 [0 unix:/x] "SET" "k" "v\\x00"."""
    words = []
    at = line.index("]") + 2
    while at < len(line):
        word = b""
        at += 1
        while line[at] != '"':
            if line[at] != "\\":
                word += line[at].encode()
                at += 1
            elif line[at + 1] == "x":
                word += bytes([int(line[at + 2:at + 4], 16)])
                at += 4
            else:
                word += ESCAPES[line[at + 1]]
                at += 2
        words.append(word.decode())
        at += 2
    return words


class Monitor:
    """The commands that the server executes."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._file = self._socket.makefile("rb")
        self._socket.sendall(b"MONITOR\r\n")
        self._file.readline()

    def until(self, marker):
        """The commands before ECHO marker, without those of subscriptions, which have connections of their own."""
        import original
        commands = []
        while True:
            words = words_of(self._file.readline().decode().rstrip("\r\n"))
            if words == ["ECHO", marker]:
                return commands
            if words[0] not in ("SUBSCRIBE", "UNSUBSCRIBE") and words != ["PING", original.IDLE_PING]:
                commands.append(words)

    def close(self):
        self._file.close()
        self._socket.close()


def seconds_named(ops):
    """The TTLs that commands set."""
    words = [command for op in ops for command in op["commands"]]
    texts = [c[2] for c in words if c[0] == "EXPIRE"] + [c[c.index("EX") + 1] for c in words if "EX" in c]
    return sorted({int(text) for text in texts})


async def keyspace_of(redis, named):
    """All keys with type, value and TTL. The time that the recording took is no part of a TTL: it is one of `named`."""
    keyspace = {}
    for key in sorted(await redis.keys()):
        left = await redis.ttl(key)
        kind = (await redis.type(key)).decode()
        if kind == "string":
            value = (await redis.get(key)).decode()
        elif kind == "list":
            value = [item.decode() for item in await redis.lrange(key, 0, -1)]
        elif kind == "set":
            value = sorted(item.decode() for item in await redis.smembers(key))
        else:
            value = {k.decode(): v.decode() for k, v in sorted((await redis.hgetall(key)).items())}
        keyspace[key.decode()] = {"type": kind, "value": value,
                                  "ttl": next((ttl for ttl in named if ttl >= left), left) if left > 0 else left}
    return keyspace


# The results of these operations are not the original's, which returns nothing.
WITHOUT_RESULT = ("health.refresh_all_services", "ingest.sync_registered_services")


# This project reads all values of a list in one round trip, and the original reads until it fails. A failure that has
# only read is therefore not recorded.
READS_ALL = ("dlq.summarize_queues", "registry.list_services", "ingest.sync_registered_services",
             "health.refresh_all_services", "search.initialize", "studio.list_services")
READS = ("GET", "LRANGE", "SMEMBERS")


class Recorder:
    """Records sequences, each on an empty server."""

    def __init__(self, modules, server):
        import redis.asyncio
        self._modules = modules
        self._path = server.path
        self._client = redis.asyncio.Redis

    async def record(self, sequence, name):
        """Performs the steps of a sequence and returns its golden."""
        import original
        redis = self._client(unix_socket_path=self._path)
        await redis.flushall()
        await redis.script_flush()
        listener = redis.pubsub()
        await listener.psubscribe("*")
        await listener.get_message(timeout=5)
        monitor = Monitor(self._path)
        performer = original.Original(self._modules, redis, sequence.config)
        ops = []
        for step in sequence.steps():
            op = {"op": step.operation, "args": step.args, "now": step.now.isoformat()}
            if step.operation.startswith("raw."):
                await redis.execute_command(*step.command)
            else:
                try:
                    result = await performer.perform(step.operation, step.args, step.now)
                    if step.operation not in WITHOUT_RESULT:
                        op["result"] = result
                    sequence.note(step, result)
                except Exception as error:
                    op["error"] = {"type": type(error).__name__, "message": str(error)}
            await redis.echo(f"end {len(ops)}")
            op["commands"] = monitor.until(f"end {len(ops)}")
            if "error" in op and step.operation in READS_ALL and all(c[0] in READS for c in op["commands"]):
                continue
            sequence.keys = [key.decode() for key in sorted(await redis.keys())]
            await redis.echo("next")
            monitor.until("next")
            ops.append(op)
        published = []
        await redis.publish("end", "")
        while (message := await listener.get_message(timeout=5)) is None or message["channel"] != b"end":
            if message is not None:
                published.append({"channel": message["channel"].decode(), "message": message["data"].decode()})
        golden = {"name": name, "source": SOURCE, "notes": sequence.notes, "config": sequence.config, "ops": ops,
                  "keyspace": await keyspace_of(redis, seconds_named(ops)), "published": published}
        monitor.close()
        await listener.close()
        await redis.close()
        await redis.connection_pool.disconnect()
        return golden


SOURCE = f"sarattha/relayna at {REVISION}, run by tests/originals/relayna/record.py on redis-server 7.0.15"


def written(golden):
    """The text of a golden: a line for each operation, key and message."""
    def line(value):
        return json.dumps(value, ensure_ascii=False)

    parts = [f' "{name}": {line(golden[name])}' for name in ("name", "source", "notes", "config")]
    parts.append(' "ops": [\n  ' + ",\n  ".join(line(op) for op in golden["ops"]) + "\n ]")
    keys = ",\n  ".join(f"{line(key)}: {line(entry)}" for key, entry in golden["keyspace"].items())
    parts.append(' "keyspace": {' + (f"\n  {keys}\n " if keys else "") + "}")
    messages = ",\n  ".join(line(message) for message in golden["published"])
    parts.append(' "published": [' + (f"\n  {messages}\n " if messages else "") + "]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


async def record_all(options, checkout):
    """Writes the golden of each kind and seed."""
    import original
    import sequences
    modules = original.Modules(checkout)
    server = Server(options.redis)
    try:
        recorder = Recorder(modules, server)
        for kind in options.kinds or sequences.KINDS:
            first, _, last = options.seeds.partition("-")
            for seed in range(int(first), int(last or first) + 1):
                name = f"{kind}_{seed}"
                golden = await recorder.record(sequences.Sequence(kind, seed, START, modules), name)
                (options.folder / f"{name}.json").write_text(written(golden))
    finally:
        server.close()


def report_skip(reason):
    """Prints the reason, and counts this run as skipped where it is a test of Bazel."""
    print(f"nothing is recorded: {reason}")
    if report := os.environ.get("XML_OUTPUT_FILE"):
        suites = ElementTree.Element("testsuites")
        case = ElementTree.SubElement(ElementTree.SubElement(suites, "testsuite"), "testcase", name="record")
        ElementTree.SubElement(case, "skipped", message=reason)
        ElementTree.ElementTree(suites).write(report)


def missing_packages():
    """The names of the packages that this interpreter does not have."""
    missing = [name for name in ("pydantic", "redis") if importlib.util.find_spec(name) is None]
    # Only the first major version without this module is too old.
    if "pydantic" not in missing and importlib.util.find_spec("pydantic.functional_validators") is None:
        missing.insert(0, "pydantic")
    return ["pydantic 2" if name == "pydantic" else name for name in missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="by default a temporary one")
    parser.add_argument("--replay", help="the golden runner, which then replays the recordings")
    parser.add_argument("--seeds", default="1", help="the first seed, or FIRST-LAST")
    parser.add_argument("--kinds", nargs="*")
    parser.add_argument("--redis", default="/usr/bin/redis-server")
    options = parser.parse_args()
    checkout = os.environ.get(CHECKOUT)
    if not checkout:
        report_skip(f"{CHECKOUT} does not name a checkout of Relayna at {REVISION}")
        return
    if missing := missing_packages():
        sys.exit(f"{sys.executable} has no {' and no '.join(missing)}; REDOUBLE_PYTHON names another Python for the test")
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or pathlib.Path(temporary)
        asyncio.run(record_all(options, checkout))
        if options.replay:
            run = subprocess.run([os.path.abspath(options.replay), "--system", "relayna", options.folder], check=False)
            sys.exit(run.returncode)


if __name__ == "__main__":
    main()
