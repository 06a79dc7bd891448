#!/usr/bin/python3
"""Latency under a steady load, and the cost of idle connections: `redouble serve` beside redis-server.

Latency: redis-benchmark measures the most GETs per second that redis-server answers on 50 connections without
pipelining. Then bench/serve/open_loop sends 80 % of that to each server in turn, without waiting for replies.

Connections: 10,000 are opened to each server. Of these, 100 in turn send a PING every 100 ms. The memory is that by which
the resident set has grown, and the processor time is that of ten seconds.

    bazel build --config=opt //:redouble //bench/serve:open_loop
    bench/serve/latency_bench.py bazel-bin/redouble bazel-bin/bench/serve/open_loop

Options: --rounds N, --seconds N, --connections N. The client and the server need a core each.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import time

import rows
from background_save_bench import memory_kb
from requests_bench import Server

LOAD = 0.8
PERIOD_SECONDS = 0.1
BUSY_CONNECTIONS = 100
IDLE_SECONDS = 10


def start(program, connections):
    servers = {"redis-server": Server("redis-server", "--port", "0", "--save", "", "--unixsocket"),
               "redouble": Server(os.path.abspath(program), "serve", "--port", "none", "--unixsocket")}
    for server in servers.values():
        answer = subprocess.run(["redis-cli", "-s", server.path, "CONFIG", "SET", "maxclients", str(connections + 100)],
                                capture_output=True, text=True, check=True).stdout
        if answer != "OK\n":
            raise RuntimeError("CONFIG SET maxclients: " + answer)
    return servers


def most_requests(server):
    output = subprocess.run(["redis-benchmark", "-s", server.path, "-c", "50", "-n", "500000", "-t", "get", "-q"],
                            capture_output=True, text=True, check=True).stdout
    return float(re.findall(r"([0-9.]+) requests per second", output)[-1])


def latencies(server, open_loop, rate, seconds):
    """The median, the 99th and 99.9th percentile and the greatest, in microseconds."""
    output = subprocess.run([open_loop, server.path, str(rate), str(seconds)], capture_output=True, text=True,
                            check=True).stdout
    return [float(word) for word in output.split()[1:]]


def ping(connections):
    for connection in connections:
        connection.sendall(b"PING\r\n")
    for connection in connections:
        connection.recv(100)


def idle_cost(server, count):
    """KB per connection, and milliseconds of processor time per second."""
    before = memory_kb(server, "VmRSS")
    connections = [rows.Client.connect(server.path) for _ in range(count)]
    for at in range(0, count, BUSY_CONNECTIONS):
        ping(connections[at:at + BUSY_CONNECTIONS])
    grown = (memory_kb(server, "VmRSS") - before) / count
    begun, cost = time.monotonic(), server.processor_ns()
    for number in range(int(IDLE_SECONDS / PERIOD_SECONDS)):
        at = number * BUSY_CONNECTIONS % count
        ping(connections[at:at + BUSY_CONNECTIONS])
        time.sleep(max(0.0, begun + (number + 1) * PERIOD_SECONDS - time.monotonic()))
    cost = (server.processor_ns() - cost) / 1e6 / IDLE_SECONDS
    for connection in connections:
        connection.close()
    return [grown, cost]


def medians(servers, rounds, measure):
    """For each server the medians of what `measure` returns; who is first changes."""
    found = {name: [] for name in servers}
    for number in range(rounds):
        for name in list(servers)[::1 if number % 2 == 0 else -1]:
            found[name].append(measure(servers[name]))
    return {name: [statistics.median(column) for column in zip(*figures)] for name, figures in found.items()}


def print_rows(header, figures, form):
    print(f"| server | {header} |\n| --- |{' ---: |' * (header.count('|') + 1)}")
    for name, row in figures.items():
        print(f"| {name} | " + " | ".join(form % figure for figure in row) + " |")
    ratios = [own / other for own, other in zip(figures["redouble"], figures["redis-server"])]
    print("| redouble / redis-server | " + " | ".join("%.2f" % ratio for ratio in ratios) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("open_loop")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=10_000)
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < options.connections + 1000:
        parser.error(f"the limit of open files is {most}, expected {options.connections + 1000} or more")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    servers = start(options.program, options.connections)
    rate = LOAD * statistics.median(most_requests(servers["redis-server"]) for _ in range(3))
    print(f"{rate:,.0f} GETs per second, which is {LOAD:.0%} of what redis-server answers at most:\n")
    print_rows("median, us | 99 %, us | 99.9 %, us | greatest, us",
               medians(servers, options.rounds,
                       lambda server: latencies(server, options.open_loop, rate, options.seconds)), "%.0f")
    print(f"\n{options.connections:,} connections:\n")
    print_rows("memory, KB per connection | processor, ms per second",
               medians(servers, 1, lambda server: idle_cost(server, options.connections)), "%.1f")
    for server in servers.values():
        server.stop()


if __name__ == "__main__":
    main()
