"""Random commands for every row of Redis's command table: their arguments follow COMMAND DOCS."""

KEYS = ["a", "b", "ab", "c1", "key", "{t}x", "*", "a*", ""]
CHANNELS = ["c", "c1", "news", "n*", "*", ""]
WORDS = ["x", "1", "a", "nosuch", "", "*", "GET", "KEYS", "STREAMS", "STORE", "AUTH", "NX", "0-0", "$"]
INTEGERS = ["0", "1", "2", "3", "-1", "10"]
BAD_COUNTS = ["0", "-1", "01", "+1", "1e3", " 1", "1.0", "", "x", "9223372036854775807", "18446744073709551617", "4"]

# Commands whose keys are found by their arguments, or that have several kinds of keys.
MANY_KEYS = {
    "eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro", "zunionstore", "zinterstore", "zdiffstore",
    "zunion", "zinter", "zdiff", "zintercard", "sintercard", "lmpop", "zmpop", "blmpop", "bzmpop", "xread",
    "xreadgroup", "sort", "sort_ro", "migrate", "georadius", "georadiusbymember", "geosearchstore", "set", "bitfield",
    "bitfield_ro", "memory|usage", "object|encoding", "xinfo|stream", "xgroup|create", "command|getkeys",
    "command|getkeysandflags", "publish", "spublish", "subscribe", "psubscribe", "ssubscribe", "pubsub|numsub",
    "copy", "rename", "smove", "lmove", "blmove", "bitop", "pfmerge", "pfcount", "mset", "msetnx", "getex", "getdel",
    "stralgo", "lcs", "zrangestore", "sinterstore", "acl|dryrun", "config|set", "config|get", "script|load",
}


class RandomCommands:
    def __init__(self, wire):
        """`wire` is a RESP3 connection to a server that has COMMAND DOCS."""
        self.arguments = {}
        self.flags = {}
        for name, doc in wire.plain("COMMAND", "DOCS").items():
            self.arguments[name] = doc.get("arguments", [])
            for sub, subdoc in doc.get("subcommands", {}).items():
                self.arguments[sub] = subdoc.get("arguments", [])
        for row in wire.plain("COMMAND"):
            for part in [row, *row[9]]:
                self.flags[part[0]] = set(part[2])
        self.names = sorted(self.arguments)
        self.special = sorted(MANY_KEYS & set(self.names))

    def pick(self, rng):
        """A name, such as "get" or "config|get"."""
        return rng.choice(self.special if rng.random() < 0.5 else self.names)

    def make(self, rng, name=None):
        """The words of a well-formed command."""
        name = name or self.pick(rng)
        words = name.split("|")
        if rng.random() < 0.2:
            words = [word.upper() for word in words]
        return words + self.values(rng, self.arguments[name], {})

    def corrupt(self, rng, words):
        """The words with one of the mistakes that clients make."""
        words = list(words)
        at = rng.randrange(len(words))
        kind = rng.randrange(6)
        if kind == 0:
            del words[at]
        elif kind == 1:
            words.insert(at, rng.choice(WORDS))
        elif kind == 2:
            words[at] = rng.choice(KEYS + WORDS + BAD_COUNTS)
        elif kind == 3:
            words[0] = rng.choice(["nosuch", words[0] + "|x", "|".join(words[:2]), ""])
        elif kind == 4:
            counts = [i for i, word in enumerate(words) if word.isdigit()] or [at]
            words[rng.choice(counts)] = rng.choice(BAD_COUNTS)
        else:
            words += rng.choices(WORDS + KEYS, k=3)
        return words or ["get"]

    def values(self, rng, arguments, seen):
        words = []
        for argument in arguments:
            flags = argument.get("flags", [])
            if "optional" in flags and rng.random() < 0.6:
                continue
            words += self.one(rng, argument, flags, seen)
        return words

    def one(self, rng, argument, flags, seen):
        token = [argument["token"]] if argument.get("token") else []
        times = rng.choice((1, 1, 2, 3)) if "multiple" in flags else 1
        if "multiple" in flags and argument["type"] == "key":
            # As many keys as numkeys says, and as many stream ids as keys.
            times = seen.setdefault("times", seen.get("numkeys", times))
        elif "multiple" in flags and argument["name"] in ("id", "ID"):
            times = seen.get("times", times)
        words = []
        for i in range(times):
            if i == 0 or "multiple_token" in flags:
                words += token
            words += self.value(rng, argument, seen)
        return words

    def value(self, rng, argument, seen):
        kind, name = argument["type"], argument["name"]
        if kind == "pure-token":
            return []
        if kind == "oneof":
            chosen = rng.choice(argument["arguments"])
            return self.one(rng, chosen, chosen.get("flags", []), seen)
        if kind == "block":
            return self.values(rng, argument["arguments"], seen)
        if name == "numkeys":
            seen["numkeys"] = rng.choice((1, 1, 2, 3))
            return [str(seen["numkeys"])]
        if "channel" in name:
            return [rng.choice(CHANNELS)]
        if kind == "key":
            return [rng.choice(KEYS)]
        if kind in ("integer", "double", "unix-time"):
            return [rng.choice(INTEGERS)]
        if kind == "pattern":
            return [rng.choice(KEYS + CHANNELS + ["nosort", "#", "x_*->f"])]
        return [rng.choice(WORDS + KEYS)]
