"""Goal: users, their rules and every verdict are those of Redis.

A round makes random users, lets ACL DRYRUN judge random commands of each, lets the users themselves
run commands (plain, in transactions and in scripts), and compares every reply with that of a
redis-server, then ACL LIST, ACL GETUSER and ACL LOG.
"""

import random
import re
import threading

import campaign
from acl_rules import PASSWORDS, RandomRules
from random_commands import RandomCommands
from served import Redis, Served
from wire import encoded

USERS = ["u1", "u2", "u3"]
OPEN = ["reset", "on", "nopass", "~*", "&*", "+@all"]
# What would stop the server, block or change the connection. ACL DRYRUN judges these as well.
NOT_RUN = {"shutdown", "debug", "monitor", "sync", "psync", "replconf", "replicaof", "slaveof", "failover", "quit",
           "reset", "auth", "hello", "acl", "config", "client", "save", "bgsave", "bgrewriteaof", "module", "migrate",
           "cluster", "multi", "exec", "discard", "watch", "wait", "subscribe", "psubscribe", "ssubscribe", "unsubscribe",
           "punsubscribe", "sunsubscribe", "eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro", "restore",
           "asking", "readonly", "readwrite", "latency", "function", "script", "pfdebug", "restore-asking"}
LOG_FIELDS = ("count", "reason", "context", "object", "username")
REFUSED = re.compile("^NOPERM|^ERR Protocol|^NOAUTH|^EXECABORT|^WRONGPASS|can't run this|permission")
IN_SCRIPT = "return redis.pcall(unpack(ARGV))"
CHECKED_IN_SCRIPT = "return redis.acl_check_cmd(unpack(ARGV))"


def sorted_commands(text):
    """Redis writes single commands in the order of a hash table."""
    single = r"[+-][^@\s()]+"
    return re.sub(rf"{single}(?: {single})*", lambda run: " ".join(sorted(run.group().split())), text)


def sorted_replies(value):
    kind, content = value
    if isinstance(content, list):
        return kind, [sorted_replies(part) for part in content]
    return kind, sorted_commands(content) if isinstance(content, str) else content


def log_of(value):
    """The stable fields of ACL LOG."""
    entries = []
    for _, fields in value[1]:
        texts = [field[1] for field in fields]
        entry = dict(zip(texts[::2], texts[1::2]))
        entries.append([entry[name] for name in LOG_FIELDS])
    return entries


def verdict(value):
    """The text, if a command was refused by the rules of its user; data are compared by other tests."""
    kind, content = value
    if kind == "-" and REFUSED.search(content):
        return content
    return kind if kind == "closed" else None


def verdicts(value):
    """Those of the replies of EXEC."""
    return [verdict(part) for part in value[1]] if isinstance(value[1], list) else verdict(value)


def same(value):
    return value


class Round:
    def __init__(self, seed, commands, rules):
        self.rng = random.Random(seed)
        self.commands = commands
        self.rules = rules
        # Of each step: the connection, the words, and what is compared of the reply.
        self.steps = []

    def add(self, connection, *words, compare=same):
        self.steps.append((connection, words, compare))

    def make(self):
        rng = self.rng
        self.add("root", "ACL", "DELUSER", *USERS)
        self.add("root", "ACL", "LOG", "RESET")
        self.add("root", "FLUSHALL")
        self.add("root", "CONFIG", "SET", "acl-pubsub-default", rng.choice(["allchannels", "resetchannels"]))
        self.add("root", "ACL", "SETUSER", "default", *OPEN)
        for _ in range(rng.choice((1, 2, 3))):
            for user in USERS + ["default"] * (rng.random() < 0.2):
                self.change(user)
            for user in USERS:
                self.judge(user)
            for user in USERS:
                self.act(user)
        self.add("root", "ACL", "LIST", compare=sorted_replies)
        self.add("root", "ACL", "USERS")
        self.add("root", "ACL", "LOG", "200", compare=log_of)
        return self.steps

    def change(self, user):
        if self.rng.random() < 0.7:
            self.add("root", "ACL", "SETUSER", user, "on", self.rng.choice(["nopass", ">p"]))
        for _ in range(self.rng.choice((1, 2, 4))):
            self.add("root", "ACL", "SETUSER", user, *self.rules.some(self.rng))
        self.add("root", "ACL", "GETUSER", user, compare=sorted_replies)

    def command(self, allowed=None):
        name = self.commands.pick(self.rng)
        while allowed and not allowed(name):
            name = self.commands.pick(self.rng)
        words = self.commands.make(self.rng, name)
        return self.commands.corrupt(self.rng, words) if self.rng.random() < 0.2 else words

    def judge(self, user):
        for _ in range(30):
            self.add("root", "ACL", "DRYRUN", user, *self.command())

    def may_run(self, name):
        flags = self.commands.flags.get(name, set())
        return name.split("|")[0] not in NOT_RUN and "blocking" not in flags

    def act(self, user):
        self.add(user, "AUTH", user, self.rng.choice(PASSWORDS))
        for _ in range(4):
            kind = self.rng.randrange(4)
            words = self.command(self.may_run)
            if words[0].split("|")[0].lower() in NOT_RUN:
                continue
            if kind == 0:
                self.add(user, "MULTI", compare=verdict)
                self.add(user, *words, compare=verdict)
                self.add(user, *self.commands.make(self.rng, "get"), compare=verdict)
                self.add(user, "EXEC", compare=verdicts)
            elif kind == 1:
                script = self.rng.choice([IN_SCRIPT, CHECKED_IN_SCRIPT])
                self.add(user, "EVAL", script, "1", self.rng.choice("ab"), *words, compare=verdict)
            else:
                self.add(user, *words, compare=verdict)


CLOSED = ("closed", None)


def pipelined(wire, commands):
    """The replies to commands that are sent together; CLOSED once the server has closed the connection."""
    replies = []
    try:
        wire.socket.sendall(b"".join(encoded(words) for words in commands))
        while len(replies) < len(commands):
            replies.append(wire.read())
    except TimeoutError as error:
        raise campaign.Finding(f"no reply to {shown(commands[len(replies)])}") from error
    except ConnectionError:
        pass
    return replies + [CLOSED] * (len(commands) - len(replies))


def replies_of(server, steps):
    """The reply to each step; those of one connection in a row are sent together."""
    connections = {"root": server.wire()}
    connections["root"].ask("AUTH", "root", "root")
    replies = []
    begin = 0
    while begin < len(steps):
        name = steps[begin][0]
        end = begin
        while end < len(steps) and steps[end][0] == name:
            end += 1
        if name not in connections:
            connections[name] = server.wire()
        replies += pipelined(connections[name], [words for _, words, _ in steps[begin:end]])
        begin = end
    for wire in connections.values():
        wire.close()
    return replies


def shown(words):
    return " ".join(repr(word) if not word or re.search(r"[^!-~]", word) else word for word in words)


def report(steps, at, ours, theirs):
    """The steps on users before a difference, and both replies."""
    lines = [shown(words) for connection, words, _ in steps[:at]
             if words[:2] == ("ACL", "SETUSER") or words[0] == "CONFIG" or connection == steps[at][0] != "root"]
    return "\n".join([*lines, f"{steps[at][0]}> {shown(steps[at][1])}", f"redouble: {str(ours)[:4000]}",
                      f"redis:    {str(theirs)[:4000]}"])


def main():
    redouble, redis = Served(), Redis()
    try:
        for server in (redouble, redis):
            # A server waits if its log is not read.
            threading.Thread(target=server.process.stdout.read, daemon=True).start()
            wire = server.wire()
            wire.ask("ACL", "SETUSER", "root", "on", ">root", "~*", "&*", "+@all")
            wire.close()
        wire = redis.wire(3)
        commands = RandomCommands(wire)
        rules = RandomRules(commands, sorted(wire.plain("ACL", "CAT")))
        wire.close()

        def play(seed):
            steps = Round(seed, commands, rules).make()
            both = [replies_of(server, steps) for server in (redouble, redis)]
            for at, (ours, theirs) in enumerate(zip(*both)):
                compare = steps[at][2]
                if compare(ours) != compare(theirs):
                    raise campaign.Finding(report(steps, at, compare(ours), compare(theirs)))

        campaign.run(play, rounds=40)
    finally:
        for server in (redouble, redis):
            server.process.kill()
            server.stop()


if __name__ == "__main__":
    main()
