"""Runs the gateway's own store on a redis-server: beside goldens, or to record random sequences as goldens.

../README.md says how to run it.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "relayna"))

CHECKOUT = "REDOUBLE_GATEWAY"
RYU = "/usr/share/cargo/registry/ryu-1.0.2/src/lib.rs"
KEYS = ["018f8d31-86a7-7c48-8f36-4d1fa4d99101", "018f8d31-86a7-7c48-8f36-4d1fa4d99102"]
STARTS = ["2026-05-09T14:03:02", "2026-05-09T23:59:58", "2026-05-31T23:59:59", "2028-02-28T23:59:00"]
REQUESTS = ["req-1", "req-1", "req-1", "req-2", "a:b", "x|y", " ", "é"]
AMOUNTS = ["0.25", "1.0", "0.1", "0.2", "0.3", "1e-07", "1e-17", "4e-18", "123456.789", "1e+16", "1e+21", "0.0", "-0.0",
           "-1.0", "0.1234567890123456", "9007199254740993.0", "nan", "inf", "5e-324"]
LIMITS = [None, 2, 1, 0, -1, 3, 60]
BUDGETS = [None, 1.0, 0.5, 0.0, 0.3, 10.0, -1.0]
KINDS = {"sequence": "a random sequence of operations", "overlapping": "a random sequence of operations that overlap"}
# What another client may write.
COUNTERS = ["abc", "", "0.5", "1e3", " 1", "5.", "0x1p3", "-2"]
RESERVATIONS = ["0.5", "0.5|a", "0.5|k1|k2|k3", "|k1|k2", "nan|k1|k2", "-1|k1|k2", "1e3|k1|k2", "+5.|k1|k2", "-0|k1|k2",
                "x|k1|k2", "||", "0.5||", " 0.5|k1|k2", "0x1|k1|k2", "1_0|k1|k2", "inf", "", "1e400|k1|k2"]


def compile_original(checkout, folder):
    """The program, from the sources of the checkout and the stand-ins of this folder."""
    crates = pathlib.Path(checkout).resolve() / "crates"
    core = folder / "core.rs"
    core.write_text("".join(f'#[path = "{crates}/gateway-core/src/{name}.rs"]\npub mod {name};\npub use {name}::*;\n'
                            for name in ("budgets", "rate_limits"))
                    + "pub enum GatewayError { ControlStateUnavailable }\n"
                      "pub type GatewayResult<T> = Result<T, GatewayError>;\n")
    units = [("ryu", RYU, "lib", "2015"), ("async_trait", HERE / "async_trait.rs", "proc-macro", "2021"),
             ("uuid", HERE / "uuid.rs", "lib", "2021"), ("chrono", HERE / "chrono.rs", "lib", "2021"),
             ("redis", HERE / "redis.rs", "lib", "2021"), ("gateway_core", core, "lib", "2021"),
             ("gateway_store", crates / "gateway-store/src/redis.rs", "lib", "2021"),
             ("gateway", HERE / "main.rs", "bin", "2021")]
    built = []
    for name, source, kind, edition in units:
        # Optimised, as a release: otherwise Rust's max(-0.0, 0.0), which may be either, is -0.0.
        words = ["rustc", "-O", "--edition", edition, "--crate-type", kind, "--crate-name", name, "--cap-lints", "allow",
                 "--cfg", "maybe_uninit", "-L", folder, "--out-dir", folder, source]
        for other, extension in built:
            words += ["--extern", f"{other}={folder}/lib{other}.{extension}"]
        subprocess.run(words, check=True)
        built.append((name, "so" if kind == "proc-macro" else "rlib"))
    return folder / "gateway"


# The arguments of each operation after the key, in the order in which the program reads them.
ARGUMENTS = {"check_request_rate_limit": ["limit"], "check_budget": ["daily_budget_usd", "monthly_budget_usd"],
             "add_budget_spend": ["estimated_cost_usd"], "reserve_budget": ["request_id", "estimated_cost_usd"],
             "reconcile_budget_reservation": ["request_id", "actual_cost_usd"],
             "release_budget_reservation": ["request_id"]}


class Program:
    """The program, performing one operation at a time; with `steps` each request waits for a call of step()."""

    def __init__(self, path, server, steps=False):
        self._process = subprocess.Popen([path, server.path] + ["steps"] * steps, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        # What the last operation returned, once it has ended.
        self.result = None

    def close(self):
        self._process.stdin.close()
        self._process.wait()

    def begin(self, operation, args):
        """Starts an operation. Returns its commands with their replies up to the next request that waits, or its end."""
        seconds = int(datetime.fromisoformat(args["now"].replace("Z", "+00:00")).timestamp())
        words = [operation, str(seconds), args["key_id"]] + [str(args[name]) for name in ARGUMENTS[operation]]
        return self._send("\t".join(words))

    def step(self):
        """Lets the request that waits be sent. Returns the same as begin()."""
        return self._send("")

    def finish(self):
        """Lets all requests be sent. Returns their commands, and the result."""
        commands = []
        while self.result is None:
            commands += self.step()
        return commands, self.result

    def _send(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        self.result = None
        commands = []
        while "cmd" in (line := json.loads(self._process.stdout.readline())):
            commands.append(line)
        self.result = line.get("result")
        return commands


class Original:
    """The original, on one server, and other clients."""

    def __init__(self, path, server):
        import redis
        self.client = redis.Redis(unix_socket_path=server.path)
        self._program = Program(path, server)
        self._overlapping = [Program(path, server, steps=True) for _ in range(2)]

    def close(self):
        for program in [self._program, *self._overlapping]:
            program.close()

    def perform(self, operation, args):
        """Returns the commands with their replies, and the result."""
        commands = self._program.begin(operation, args)
        return commands, self._program.result

    def overlap(self, calls):
        """Starts two operations and sends the first request of each. Returns their commands, and the two programs."""
        commands = []
        for program, (operation, args) in zip(self._overlapping, calls):
            program.begin(operation, args)
        for program in self._overlapping:
            commands += program.step()
        return commands, self._overlapping

    def send(self, words):
        """Sends a command of another client; returns it with its reply."""
        import redis
        connection = self.client.connection_pool.get_connection(words[0])
        connection.send_command(*words)
        try:
            reply = connection.read_response()
        except redis.exceptions.ResponseError as error:
            reply = {"error": str(error)}
        self.client.connection_pool.release(connection)
        return {"cmd": words, "reply": reply.decode() if isinstance(reply, bytes) else reply}

    def keyspace(self):
        keyspace = {}
        for key in sorted(self.client.keys()):
            kind = self.client.type(key).decode()
            value = (self.client.get(key).decode() if kind == "string"
                     else [item.decode() for item in self.client.lrange(key, 0, -1)])
            keyspace[key.decode()] = {"type": kind, "value": value, "ttl": self.client.ttl(key)}
        return keyspace


def check(original, path):
    """What differs from a golden, or None; a file that is no sequence of operations gives a reason to skip it."""
    golden = json.loads(path.read_text())
    if not golden.get("ops"):
        return "skipped: no operations"
    original.client.flushall()
    started = []
    for index, op in enumerate(golden["ops"]):
        if op["op"] == "raw":
            if "note" in op:
                following = [one for one in golden["ops"][index + 1:] if one["op"] != "raw"]
                commands, programs = original.overlap([(one["op"], one["args"]) for one in following[:2]])
                if commands != op["commands"]:
                    return f"operation {index}: recorded {op['commands']}, now {commands}"
                started = list(programs)
                continue
            for command in op["commands"]:
                original.send(command["cmd"])
            continue
        commands, result = started.pop(0).finish() if started else original.perform(op["op"], op["args"])
        if (commands, result) != (op["commands"], op["result"]):
            return f"operation {index}: recorded {op['commands']} {op['result']}, now {commands} {result}"
    keyspace = original.keyspace()
    for key in sorted({*keyspace, *golden["keyspace"]}):
        was, now = golden["keyspace"].get(key), keyspace.get(key)
        if None in (was, now) or was["value"] != now["value"] or abs(was["ttl"] - now["ttl"]) > 1:
            return f"{key}: recorded {was}, now {now}"
    return None


class Sequence:
    """Random operations of some API keys, around the ends of minutes, days and months."""

    def __init__(self, name):
        self._rng = random.Random(f"gateway {name}")
        self._now = datetime.fromisoformat(self._rng.choice(STARTS)).replace(tzinfo=timezone.utc)

    def step(self, keys):
        """An operation and its arguments; a command for the operation "raw"."""
        rng = self._rng
        self._now += timedelta(seconds=rng.choice([0, 0, 1, 1, 29, 61, 3600]))
        if keys and rng.random() < 0.15:
            return "raw", self.disturbance(keys)
        operation = rng.choice(["check_request_rate_limit", "check_budget", "add_budget_spend", "reserve_budget",
                                "reserve_budget", "reconcile_budget_reservation", "reconcile_budget_reservation",
                                "release_budget_reservation"])
        return operation, self._arguments(operation)

    def overlap(self, keys):
        """Two operations that begin with a GET, mostly of one reservation that is there; None in most steps."""
        rng = self._rng
        if rng.random() < 0.6:
            return None
        operations = rng.choices(["reconcile_budget_reservation", "release_budget_reservation", "check_budget"],
                                 [4, 3, 1], k=2)
        calls = [(operation, self._arguments(operation)) for operation in operations]
        reserved = [key.split(":", 3)[2:] for key in keys if key.startswith("budget:reservation:")]
        chosen = rng.choice(reserved) if reserved and rng.random() < 0.8 else None
        for _, args in calls:
            args.update({name: limit or 0.5 for name, limit in args.items() if name.endswith("_budget_usd")})
            if chosen:
                args["key_id"] = chosen[0]
            if chosen and "request_id" in args:
                args["request_id"] = chosen[1]
        return calls

    def coin(self):
        """True in half of the cases."""
        return self._rng.random() < 0.5

    def disturbance(self, keys):
        """A command of another client."""
        rng = self._rng
        key = rng.choice(keys)
        texts = RESERVATIONS if key.startswith("budget:reservation:") else COUNTERS
        return rng.choice([["DEL", key], ["DEL", key], ["EXPIRE", key, "100"], ["SET", key, rng.choice(texts)],
                           ["SET", key, rng.choice(texts)], ["LPUSH", key, "x"]])

    def _arguments(self, operation):
        rng = self._rng
        values = {"limit": rng.choice(LIMITS), "daily_budget_usd": rng.choice(BUDGETS),
                  "monthly_budget_usd": rng.choice(BUDGETS), "request_id": rng.choice(REQUESTS),
                  "estimated_cost_usd": rng.choice(AMOUNTS), "actual_cost_usd": rng.choice(AMOUNTS)}
        return {"key_id": rng.choice(KEYS), **{name: values[name] for name in ARGUMENTS[operation]},
                "now": self._now.strftime("%Y-%m-%dT%H:%M:%SZ")}


def record_overlap(original, sequence):
    """The steps of two operations that overlap; none in most cases."""
    calls = sequence.overlap([key.decode() for key in sorted(original.client.keys())])
    if calls is None:
        return []
    commands, programs = original.overlap(calls)
    steps = [{"op": "raw", "note": "both clients read", "commands": commands}]
    keys = [key.decode() for key in sorted(original.client.keys())]
    for (operation, args), program in zip(calls, programs):
        if keys and sequence.coin():
            steps.append({"op": "raw", "commands": [original.send(sequence.disturbance(keys))]})
        commands, result = program.finish()
        steps.append({"op": operation, "args": args, "commands": commands, "result": result})
    return steps


def record(original, kind, seed):
    """The golden of a seed."""
    original.client.flushall()
    sequence = Sequence(seed if kind == "sequence" else f"{kind} {seed}")
    ops = []
    while len(ops) < 30:
        if kind == "overlapping":
            ops += record_overlap(original, sequence)
        keys = [key.decode() for key in sorted(original.client.keys())]
        operation, args = sequence.step(keys)
        if operation == "raw":
            ops.append({"op": "raw", "commands": [original.send(args)]})
        else:
            commands, result = original.perform(operation, args)
            ops.append({"op": operation, "args": args, "commands": commands, "result": result})
    return {"name": f"{kind}_{seed}", "description": f"{KINDS[kind]}, seed {seed}", "ops": ops,
            "keyspace": original.keyspace()}


def written(golden):
    """The text of a golden: a line for each operation."""
    members = [f' "{name}": {json.dumps(golden[name], ensure_ascii=False)}' for name in ("name", "description")]
    members.append(' "ops": [\n  ' + ",\n  ".join(json.dumps(op, ensure_ascii=False) for op in golden["ops"]) + "\n ]")
    members.append(f' "keyspace": {json.dumps(golden["keyspace"], ensure_ascii=False)}')
    return "{\n" + ",\n".join(members) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=pathlib.Path, nargs="+", help="goldens to compare with the original")
    parser.add_argument("--record", type=pathlib.Path, help="the folder for recordings")
    parser.add_argument("--seeds", default="1", help="the first seed, or FIRST-LAST")
    parser.add_argument("--kind", choices=KINDS, default="sequence")
    options = parser.parse_args()
    checkout = os.environ.get(CHECKOUT)
    if not checkout:
        sys.exit(f"{CHECKOUT} does not name a checkout of the gateway")
    import record as relayna_recorder
    with tempfile.TemporaryDirectory() as folder:
        program = compile_original(checkout, pathlib.Path(folder))
        server = relayna_recorder.Server("/usr/bin/redis-server")
        original = Original(program, server)
        try:
            findings = {path: check(original, path) for path in options.check or []}
            for path, finding in findings.items():
                print(f"{path.name}: {finding or 'equal'}")
            if options.record:
                first, _, last = options.seeds.partition("-")
                for seed in range(int(first), int(last or first) + 1):
                    golden = record(original, options.kind, seed)
                    (options.record / f"{golden['name']}.json").write_text(written(golden))
        finally:
            original.close()
            server.close()
    sys.exit(any(finding and not finding.startswith("skipped") for finding in findings.values()))


if __name__ == "__main__":
    main()
