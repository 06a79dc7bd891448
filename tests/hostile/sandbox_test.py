"""Goal: nothing that a script tries changes what later scripts see, and it gets the reply that Redis gives.

Every attempt of sandbox_attempts.txt comes through every door: EVAL, EVAL_RO, a function, and the body of a
library. `--attempt NAME` runs one of them.
"""

import argparse
import os
import sys

from served import Redis, Served

FOLDER = os.path.dirname(os.path.abspath(__file__))
# A server that does not answer for so long hangs; a busy machine is much faster.
HANGS_SECONDS = 180
DOORS = {
    "EVAL": lambda body: [("EVAL", body, "2", "k1", "k2", "a1")],
    "EVAL_RO": lambda body: [("EVAL_RO", body, "1", "k1")],
    "FCALL": lambda body: [("FUNCTION", "LOAD", "REPLACE", "#!lua name=door\nredis.register_function('door', "
                            f"function(KEYS, ARGV)\n{body}\nend)"), ("FCALL", "door", "1", "k1", "a1")],
    "FUNCTION LOAD": lambda body: [("FUNCTION", "LOAD", "REPLACE", f"#!lua name=door\nlocal function body()\n{body}\n"
                                    "end\nbody()\nredis.register_function('door', function() end)")],
}


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def read_attempts():
    """Pairs of the mark ("", "own", "busy", "alone" or "crash") and name, and the script."""
    attempts = {}
    for line in read("sandbox_attempts.txt").split("\n"):
        if line.startswith("@"):
            mark, name = line[1:].split(" ", 1)
            attempts[mark, name] = []
        elif line and not line.startswith("#"):
            attempts[mark, name].append(line)
    return {key: "\n".join(lines) for key, lines in attempts.items()}


class Server:
    """One of the two servers, with a connection for scripts and one that kills them."""

    def __init__(self, make):
        self.make = make
        self.start()

    def start(self):
        self.served = self.make()
        self.wire = self.served.wire()
        self.killer = self.served.wire()
        for wire in (self.wire, self.killer):
            wire.socket.settimeout(HANGS_SECONDS)
        self.killer.ask("CONFIG", "SET", "busy-reply-threshold", "200")
        self.probe_script = read("sandbox_probe.lua")
        self.wire.ask("FUNCTION", "LOAD", "#!lua name=probe\nredis.register_function('probe', "
                      f"function()\n{self.probe_script}\nend)")
        self.intact = self.probe()

    def probe(self):
        """What scripts and functions see, the names of functions included."""
        return [self.wire.ask("EVAL", self.probe_script, "0"), self.wire.ask("FCALL", "probe", "0")]

    def replies(self, commands, ends):
        """The replies to the commands; a script that does not end by itself is killed."""
        try:
            return [self.reply(words, ends) for words in commands]
        except OSError as error:
            self.stop()
            self.start()
            return [f"the server has ended or does not answer: {error}"]

    def reply(self, words, ends):
        self.wire.send(*words)
        if not ends and words[0] != "FUNCTION":
            kind = "FUNCTION" if words[0] == "FCALL" else "SCRIPT"
            while self.killer.ask(kind, "KILL")[1].startswith("NOTBUSY"):
                pass
        reply = self.wire.read()
        killed = not ends and isinstance(reply[1], str) and "Script killed by user" in reply[1]
        return "killed" if killed else reply

    def stop(self):
        self.served.process.kill()
        self.served.stop()


def compare(servers, mark, commands):
    """What is wrong after the commands; empty if nothing is."""
    asked = servers[:1] if mark in ("crash", "alone") else servers
    replies = [server.replies(commands, mark not in ("busy", "alone")) for server in asked]
    wrong = []
    if mark != "own" and replies[0] != replies[-1]:
        wrong.append(f"redouble: {str(replies[0])[:3000]}\nredis:    {str(replies[-1])[:3000]}")
    for server, reply in zip(asked, replies):
        if isinstance(reply[0], str) and reply[0] != "killed":
            wrong.append(f"{type(server.served).__name__}: {reply[0]}")
    for server in asked:
        seen = server.probe()
        if seen != server.intact:
            changed = [pair for before, after in zip(server.intact, seen) for pair in zip(before[1], after[1])
                       if pair[0] != pair[1]]
            wrong.append(f"{type(server.served).__name__} has changed: {changed}")
    return wrong


def main():
    sys.setrecursionlimit(100_000)  # Replies nest deeply.
    parser = argparse.ArgumentParser()
    parser.add_argument("--attempt", action="append")
    parser.add_argument("--door", action="append", choices=list(DOORS))
    options = parser.parse_args()
    servers = [Server(Served), Server(Redis)]
    found = count = 0
    try:
        if servers[0].intact != servers[1].intact:
            found += 1
            for before, after in zip(servers[0].intact, servers[1].intact):
                print("the probe differs:", *[pair for pair in zip(before[1], after[1]) if pair[0] != pair[1]], sep="\n")
        for (mark, name), body in read_attempts().items():
            if options.attempt and name not in options.attempt:
                continue
            for door in options.door or DOORS:
                count += 1
                for wrong in compare(servers, mark, DOORS[door](body)):
                    found += 1
                    print(f"--attempt '{name}' --door '{door}'\n{wrong}", flush=True)
    finally:
        for server in servers:
            server.stop()
    print(f"{count} attempts, {found} found")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
