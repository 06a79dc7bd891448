#!/usr/bin/python3
"""redis-benchmark against `redouble serve` and against redis-server, in turn, on one machine.

For each command and pipeline depth: requests per second as redis-benchmark counts them, and the server's own processor
time per request (/proc/PID/schedstat), because the client is often the slower of the two.

    bazel build --config=opt //:redouble
    bench/serve_bench.py bazel-bin/redouble

Options: --rounds N (the best of N counts), --filter NAME, --scale X (more requests).
"""

import argparse
import os
import re
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(ROOT, "core/orchestrator/scripts/apply_delta.lua"), encoding="utf-8") as script:
    APPLY_DELTA = script.read()

# The last arguments of redis-benchmark: the name of one of its tests, or the words of a command.
COMMANDS = {
    "set": ["-t", "set"],
    "get": ["-t", "get"],
    "incr": ["-t", "incr"],
    "lpush": ["-t", "lpush"],
    "rpush": ["-t", "rpush"],
    "lpop": ["-t", "lpop"],
    "sadd": ["-t", "sadd"],
    "hset": ["-t", "hset"],
    "spop": ["-t", "spop"],
    "zadd": ["-t", "zadd"],
    "mset": ["-t", "mset"],
    "xadd": ["XADD", "stream", "MAXLEN", "~", "100000", "*", "field", "value"],
    "apply_delta": ["EVAL", APPLY_DELTA, "2", "applied:run", "active_tokens:run",
                    "consume:__rand_int__", "1"],
}
REQUESTS = {1: 200_000, 64: 2_000_000}
SLOW = {"mset": 0.25, "apply_delta": 0.25}


class Server:
    def __init__(self, *command):
        self.path = tempfile.mkdtemp() + "/s"
        self.process = subprocess.Popen([*command, self.path], stdout=subprocess.DEVNULL)
        while subprocess.run(["redis-cli", "-s", self.path, "PING"], capture_output=True,
                             check=False).stdout != b"PONG\n":
            time.sleep(0.05)

    def processor_ns(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def measure(self, words, requests, depth):
        """Requests per second, and nanoseconds of the server's processor time per request."""
        subprocess.run(["redis-cli", "-s", self.path, "FLUSHALL"], capture_output=True, check=True)
        before = self.processor_ns()
        output = subprocess.run(
            ["redis-benchmark", "-s", self.path, "-c", "50", "-r", "100000", "-n", str(requests),
             "-P", str(depth), "-q", *words], capture_output=True, text=True, check=True).stdout
        rates = re.findall(r"([0-9.]+) requests per second", output)
        return float(rates[-1]), (self.processor_ns() - before) / requests

    def stop(self):
        self.process.terminate()
        self.process.wait()


def best(pairs):
    return max(rate for rate, _ in pairs), min(cost for _, cost in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--filter", default="")
    parser.add_argument("--scale", type=float, default=1)
    options = parser.parse_args()
    ours = Server(os.path.abspath(options.program), "serve", "--port", "none", "--unixsocket")
    theirs = Server("redis-server", "--port", "0", "--save", "", "--unixsocket")
    print(f"{'command':12} {'-P':>3} {'ours/s':>12} {'redis/s':>12} {'ratio':>6}"
          f" {'ours ns':>8} {'redis ns':>8} {'ratio':>6}")
    for depth, base in REQUESTS.items():
        for name, words in COMMANDS.items():
            if options.filter not in name:
                continue
            requests = int(base * SLOW.get(name, 1) * options.scale)
            rounds = [(ours.measure(words, requests, depth), theirs.measure(words, requests, depth))
                      for _ in range(options.rounds)]
            (our_rate, our_ns), (rate, ns) = (best(side) for side in zip(*rounds))
            print(f"{name:12} {depth:3} {our_rate:12.0f} {rate:12.0f} {our_rate / rate:6.2f}"
                  f" {our_ns:8.0f} {ns:8.0f} {our_ns / ns:6.2f}", flush=True)
    ours.stop()
    theirs.stop()


if __name__ == "__main__":
    main()
