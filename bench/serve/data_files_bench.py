#!/usr/bin/python3
"""Loading and saving files of keys: `redouble serve` beside redis-server, on one machine.

Both servers get the same RDB file, which redis-server writes: strings, or small hashes, lists, sets and sorted sets in
turn (--mixed). In each round each server loads and saves it once, and who is first changes. For each server: seconds
from the start of the process until it serves, processor seconds (user and system) of that, the same of SAVE, and the
resident memory afterwards; all are medians. The last two columns are the medians of the rounds' ratios of processor
seconds: a loaded machine changes both sides of a round alike. The digests of both are compared.

    bazel build --config=opt //:redouble
    bench/serve/data_files_bench.py bazel-bin/redouble --keys 1000000 --keys 10000000

Options: --rounds N, --mixed, --folder F (where the files are; 10 million keys need 1 GB).
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

MIXED = """
for i = tonumber(ARGV[1]), tonumber(ARGV[2]) - 1 do
  local key, kind = 'key:' .. i, i % 5
  if kind == 0 then redis.call('SET', key, 'value:' .. i)
  elseif kind == 1 then redis.call('HSET', key, 'name', 'n' .. i, 'number', i)
  elseif kind == 2 then redis.call('RPUSH', key, i, i + 1, 'x')
  elseif kind == 3 then redis.call('SADD', key, i, i + 1, i + 2)
  else redis.call('ZADD', key, i, 'a', i + 0.5, 'b') end
end
"""


class Server:
    """A server on a Unix socket, started with `command` in a folder of its own."""

    def __init__(self, folder, command):
        self.socket = os.path.join(folder, "socket")
        begun = time.monotonic()
        self.process = subprocess.Popen([*command, "--unixsocket", self.socket, "--dir", folder],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.cli("PING").startswith("PONG"):
            time.sleep(0.01)
        self.seconds = time.monotonic() - begun
        self.processor_seconds = self.processor_time()

    def processor_time(self):
        with open("/proc/%d/stat" % self.process.pid, encoding="ascii") as stat:
            user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def cli(self, *words):
        return subprocess.run(["redis-cli", "-s", self.socket, *words], capture_output=True, text=True,
                              check=False).stdout.strip()

    def resident_mb(self):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) // 1024

    def save(self):
        begun = time.monotonic()
        answer = self.cli("SAVE")
        if answer != "OK":
            raise RuntimeError("SAVE: " + answer)
        return time.monotonic() - begun

    def stop(self):
        self.process.kill()
        self.process.wait()


def commands(program):
    options = ["--enable-debug-command", "yes"]
    return {"redis-server": ["redis-server", "--port", "0", "--save", "", *options],
            "redouble": [program, "serve", "--port", "none", *options]}


def write_file(folder, keys, mixed):
    server = Server(folder, commands("")["redis-server"])
    if mixed:
        step = 100000
        for first in range(0, keys, step):
            server.cli("EVAL", MIXED, "0", str(first), str(min(keys, first + step)))
    else:
        server.cli("DEBUG", "POPULATE", str(keys))
    server.save()
    server.stop()


def measure(folder, command):
    """The figures of one start and one SAVE, and the digest."""
    server = Server(folder, command)
    figures = {"load": server.seconds, "load_cpu": server.processor_seconds}
    digest = server.cli("DEBUG", "DIGEST")
    figures["resident"] = server.resident_mb()
    before = server.processor_time()
    figures["save"] = server.save()
    figures["save_cpu"] = server.processor_time() - before
    server.stop()
    return figures, digest


def compare(folder, program, rounds):
    """The figures of all rounds by server. Exits if the keys differ."""
    found = {"redis-server": [], "redouble": []}
    digests = set()
    for number in range(rounds):
        names = list(found) if number % 2 == 0 else list(found)[::-1]
        for name in names:
            figures, digest = measure(folder, commands(program)[name])
            found[name].append(figures)
            digests.add(digest)
    if len(digests) != 1:
        raise SystemExit("the keys differ: %s" % digests)
    return found


def print_rows(keys, megabytes, found):
    def ratio(figure):
        return statistics.median(own[figure] / max(other[figure], 0.01)
                                 for own, other in zip(found["redouble"], found["redis-server"]))

    for name, rows in found.items():
        median = {figure: statistics.median(row[figure] for row in rows) for figure in rows[0]}
        ratios = "| |" if name == "redis-server" else "%.2f | %.2f |" % (ratio("load_cpu"), ratio("save_cpu"))
        print("| %d | %.1f | %s | %.2f | %.2f | %.2f | %.2f | %d | %s"
              % (keys, megabytes, name, median["load"], median["load_cpu"], median["save"], median["save_cpu"],
                 median["resident"], ratios), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--keys", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    print("| keys | file, MB | server | load, s | processor, s | SAVE, s | processor, s | resident, MB "
          "| load / Redis | SAVE / Redis |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for keys in arguments.keys or [1000000]:
        folder = tempfile.mkdtemp(prefix="redouble-data-files-", dir=arguments.folder)
        try:
            write_file(folder, keys, arguments.mixed)
            megabytes = os.path.getsize(os.path.join(folder, "dump.rdb")) / 1e6
            print_rows(keys, megabytes, compare(folder, arguments.program, arguments.rounds))
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
