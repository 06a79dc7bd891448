#!/usr/bin/python3
"""What a client notices of BGSAVE: `redouble serve` beside redis-server, on one machine.

Each server gets the same number of keys (DEBUG POPULATE). One client sends SET for random keys, one at a time, before
BGSAVE and until it has ended. For each server: the longest time without a reply in milliseconds, before and during the
save, the replies during the save, its seconds, and the peak of resident memory beyond that of before. In each round who is
first changes; the figures are medians.

    bazel build --config=opt //:redouble
    bench/serve/background_save_bench.py bazel-bin/redouble --keys 1000000

Options: --rounds N, --folder F (where the files are), --only (redouble alone).
"""

import argparse
import random
import re
import shutil
import socket
import statistics
import tempfile
import time

from data_files_bench import Server, commands

WARM_UP_SECONDS = 1.0


class Client:
    """Sends SET until it is told to stop, and notes the longest wait."""

    def __init__(self, path, keys):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(path)
        self.random = random.Random(1)
        self.keys = keys

    def ask(self, text):
        self.connection.sendall(text)
        return self.connection.recv(1 << 16)

    def set_until(self, ends):
        """The longest wait in seconds, and the number of replies."""
        longest = 0.0
        replies = 0
        last = time.monotonic()
        while True:
            self.ask(b"SET key:%d changed\r\n" % self.random.randrange(self.keys))
            now = time.monotonic()
            longest = max(longest, now - last)
            last = now
            replies += 1
            if replies % 64 == 0 and ends():
                return longest, replies


def memory_kb(server, name):
    with open("/proc/%d/status" % server.process.pid, encoding="ascii") as status:
        return int(re.search(name + r":\s+(\d+)", status.read()).group(1))


def measure(folder, command, keys):
    server = Server(folder, command)
    server.cli("DEBUG", "POPULATE", str(keys))
    client = Client(server.socket, keys)
    other = Client(server.socket, keys)
    begun = time.monotonic()
    before, _ = client.set_until(lambda: time.monotonic() - begun > WARM_UP_SECONDS)
    resident = memory_kb(server, "VmRSS")
    begun = time.monotonic()
    # The reply may come late: it counts as a wait of this client.
    client.ask(b"BGSAVE\r\n")
    first = time.monotonic() - begun
    during, replies = client.set_until(
        lambda: b"rdb_bgsave_in_progress:0" in other.ask(b"INFO persistence\r\n"))
    figures = {"before": before * 1000, "during": max(first, during) * 1000, "replies": replies,
               "seconds": time.monotonic() - begun,
               "grown": max(0, memory_kb(server, "VmHWM") - resident) / 1024}
    server.stop()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--keys", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="store_true")
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    names = ["redouble"] if arguments.only else ["redis-server", "redouble"]
    found = {name: [] for name in names}
    for number in range(arguments.rounds):
        for name in names if number % 2 == 0 else names[::-1]:
            folder = tempfile.mkdtemp(prefix="redouble-background-", dir=arguments.folder)
            try:
                found[name].append(measure(folder, commands(arguments.program)[name], arguments.keys))
            finally:
                shutil.rmtree(folder)
    print("| server | longest wait before, ms | during BGSAVE, ms | replies meanwhile | BGSAVE, s | memory, MB more |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, rows in found.items():
        median = {figure: statistics.median(row[figure] for row in rows) for figure in rows[0]}
        print("| %s | %.1f | %.1f | %d | %.2f | %.0f |"
              % (name, median["before"], median["during"], median["replies"], median["seconds"], median["grown"]))


if __name__ == "__main__":
    main()
