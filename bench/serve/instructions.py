#!/usr/bin/python3
"""Instructions per request of `redouble serve` and of redis-server, counted by valgrind.

Unlike times, the counts hardly depend on what else the machine does: two runs of one program differ by less than one
percent. The kernel's work is not counted. Eight connections send pipelines of 64 requests of the rows of rows.py.

    bazel build --config=opt //:redouble
    bench/serve/instructions.py bazel-bin/redouble [EARLIER_PROGRAM]

Options: --filter NAME, --requests N, --keep FOLDER (the profiles, for callgrind_annotate).
"""

import argparse
import glob
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import rows

CONNECTIONS = 8
STEP = CONNECTIONS * rows.BATCH


class Server:
    """A server that runs in valgrind, about fifty times slower."""

    def __init__(self, *command):
        self.folder = tempfile.mkdtemp()
        self.path = self.folder + "/s"
        # Without compression each profile can be read without those before it.
        valgrind = ["valgrind", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={self.folder}/out"]
        self.process = subprocess.Popen([*valgrind, *command, self.path], cwd=self.folder, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        while True:
            try:
                self.client = rows.Client(self.path, CONNECTIONS)
                return
            except OSError:
                time.sleep(0.1)

    def dump(self):
        """Writes the profile since the last one, and returns its file."""
        before = set(glob.glob(self.folder + "/out.*"))
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], capture_output=True, check=True)
        while True:
            new = set(glob.glob(self.folder + "/out.*")) - before
            if new:
                return new.pop()
            # The profile is written when the server executes something.
            self.client.call(("PING",))

    def measure(self, row, requests, keep=None):
        """Instructions per request."""
        rows.prepare(self.client, row, requests + STEP)
        subscribers = rows.Subscribers(self.path, row.subscribers)
        source = rows.Requests(row, seed=1)
        self.client.exchange([source.batch() for _ in range(CONNECTIONS)])
        batches = [source.batch() for _ in range(max(requests, STEP) // rows.BATCH)]
        self.dump()
        for at in range(0, len(batches), CONNECTIONS):
            self.client.exchange(batches[at:at + CONNECTIONS])
        profile = self.dump()
        subscribers.close()
        with open(profile, encoding="utf-8") as file:
            total = int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.MULTILINE).group(1))
        if keep:
            shutil.copy(profile, keep)
        return total / (len(batches) * rows.BATCH)

    def stop(self):
        self.client.close()
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder)


def serve(program):
    return Server(os.path.abspath(program), "serve", "--port", "none", "--unixsocket")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("earlier", nargs="?")
    parser.add_argument("--filter", default="")
    parser.add_argument("--requests", type=int, default=16_384)
    parser.add_argument("--keep")
    options = parser.parse_args()
    servers = {"redis": Server("redis-server", "--port", "0", "--save", "", "--unixsocket"),
               "ours": serve(options.program)}
    if options.earlier:
        servers["earlier"] = serve(options.earlier)
    ratios = []
    print(f"{'row':16}" + "".join(f" {name:>9}" for name in servers) + "  ratio")
    for row in rows.ROWS:
        # Without pipelines the kernel does most of the work, and valgrind does not count it.
        if options.filter not in row.name or rows.BATCH not in row.depths:
            continue
        requests = int(options.requests * row.share)
        counts = {name: server.measure(row, requests, options.keep and f"{options.keep}/{name}.{row.name}")
                  for name, server in servers.items()}
        ratios.append(counts["ours"] / counts["redis"])
        print(f"{row.name:16}" + "".join(f" {count:9.0f}" for count in counts.values()) + f"  {ratios[-1]:5.2f}",
              flush=True)
    print(f"{'geometric mean':16}" + " " * 10 * len(servers) + f"  {statistics.geometric_mean(ratios):5.2f}")
    for server in servers.values():
        server.stop()


if __name__ == "__main__":
    main()
