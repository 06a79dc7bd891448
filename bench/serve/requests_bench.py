#!/usr/bin/python3
"""Requests to `redouble serve` and to redis-server, in turn, on one machine.

For each row of rows.py and pipeline depth: requests per second, and the server's own processor time per request
(/proc/PID/schedstat), because the client is often the slower of the two. Prints a table. Requests of one command are sent by
redis-benchmark, others by rows.py. A ratio is the median of the rounds' ratios.

    bazel build --config=opt //:redouble
    bench/serve/requests_bench.py bazel-bin/redouble

Options: --rounds N, --filter NAME, --depth N, --scale X (more requests).
"""

import argparse
import math
import os
import re
import statistics
import subprocess
import tempfile
import time

import rows

REQUESTS = {1: 200_000, 64: 2_000_000}
# Longer words do not fit into the arguments of a program.
LONGEST_ARGUMENT = 100_000


class Server:
    def __init__(self, *command):
        self.path = tempfile.mkdtemp() + "/s"
        self.process = subprocess.Popen([*command, self.path], stdout=subprocess.DEVNULL)
        while subprocess.run(["redis-cli", "-s", self.path, "PING"], capture_output=True,
                             check=False).stdout != b"PONG\n":
            if self.process.poll() is not None:
                raise RuntimeError(f"{' '.join(command)} ended with {self.process.returncode}")
            time.sleep(0.05)

    def processor_ns(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def measure(self, row, requests, depth):
        """Requests per second, and nanoseconds of the server's processor time per request."""
        client = rows.Client(self.path, row.clients)
        rows.prepare(client, row, requests)
        subscribers = rows.Subscribers(self.path, row.subscribers)
        send = self.benchmark if len(row.request) == 1 else self.send
        before = self.processor_ns()
        rate = send(client, row, requests, depth)
        cost = (self.processor_ns() - before) / requests
        subscribers.close()
        client.close()
        return rate, cost

    def benchmark(self, _, row, requests, depth):
        words = list(row.request[0])
        last = words.pop() if len(words[-1]) > LONGEST_ARGUMENT else None
        output = subprocess.run(
            ["redis-benchmark", "-s", self.path, "-c", str(row.clients), "-r", str(rows.RANGE),
             "-n", str(requests), "-P", str(depth), "-q", *(["-x"] if last else []), *words],
            input=last, capture_output=True, text=True, check=True).stdout
        return float(re.findall(r"([0-9.]+) requests per second", output)[-1])

    def send(self, client, row, requests, depth):
        source = rows.Requests(row, seed=1)
        batches = [source.batch(depth) for _ in range(math.ceil(requests / depth))]
        begin = time.monotonic()
        for at in range(0, len(batches), row.clients):
            client.exchange(batches[at:at + row.clients])
        return requests / (time.monotonic() - begin)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def compare(ours, theirs, row, requests, depth, rounds):
    """The medians of the rates, of the costs, and of their ratios."""
    pairs = [(*ours.measure(row, requests, depth), *theirs.measure(row, requests, depth)) for _ in range(rounds)]
    median = statistics.median
    our_rate, our_ns, rate, ns = (median(column) for column in zip(*pairs))
    return (our_rate, rate, median(pair[0] / pair[2] for pair in pairs), our_ns, ns,
            median(pair[1] / pair[3] for pair in pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--filter", default="")
    parser.add_argument("--depth", type=int, choices=REQUESTS, action="append")
    parser.add_argument("--scale", type=float, default=1)
    options = parser.parse_args()
    ours = Server(os.path.abspath(options.program), "serve", "--port", "none", "--unixsocket")
    theirs = Server("redis-server", "--port", "0", "--save", "", "--unixsocket")
    print("| row | commands in flight | requests/s | redis-server | ratio | processor, ns | redis-server | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for depth in options.depth or REQUESTS:
        ratios = []
        for row in rows.ROWS:
            if options.filter not in row.name or depth not in row.depths:
                continue
            requests = max(math.ceil(REQUESTS[depth] * row.share * options.scale), depth * row.clients)
            our_rate, rate, rates, our_ns, ns, costs = compare(ours, theirs, row, requests, depth, options.rounds)
            ratios.append((rates, costs))
            print(f"| {row.name} | {depth} | {our_rate:,.0f} | {rate:,.0f} | {rates:.2f}"
                  f" | {our_ns:,.0f} | {ns:,.0f} | {costs:.2f} |", flush=True)
        rates, costs = (statistics.geometric_mean(column) for column in zip(*ratios))
        print(f"| geometric mean | {depth} | | | {rates:.2f} | | | {costs:.2f} |", flush=True)
    ours.stop()
    theirs.stop()


if __name__ == "__main__":
    main()
