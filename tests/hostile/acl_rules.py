"""Random rules of ACL SETUSER, well-formed and broken."""

import hashlib

PASSWORDS = ["p", "q", ""]
HASHES = [hashlib.sha256(word.encode()).hexdigest() for word in PASSWORDS]
BAD_HASHES = ["", "x", HASHES[0].upper(), HASHES[0][:-1], HASHES[0] + "0", "g" * 64]
PATTERNS = ["*", "a*", "a", "b", "[ab]*", "c?", "k*y", "\\*", "{t}*", "", "**", "news", "n*", "a b"]
ACCESSES = ["%R~", "%W~", "%RW~", "%WR~", "%r~", "%w~"]
BAD_KEY_RULES = ["%", "%~a", "%X~a", "%R", "%RRW~a", "%RX~a", "%R&a", "%R a", "%RW"]
BARE = ["on", "off", "nopass", "resetpass", "reset", "sanitize-payload", "skip-sanitize-payload", "clearselectors"]
BARE_OF_SELECTORS = ["allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands"]
BROKEN = ["", "foo", "+", "-", "+@", "-@nosuch", "+nosuch", "-nosuch", "+get|", "+get|x|y", "+|get", "+config|",
          "+config|nosuch", "-config|nosuch", "-get|x", "-select|0", "+@read|x", "on ", " on", "+get ", "(", ")",
          "()", "( )", "((+get))", "(on)", "(nopass)", "(+get", "+get)", "(+get ~a*", "~b*)", "(+nosuch)", "(%X~a)",
          "(reset)", "(clearselectors)", "( +get )", "(+get)x", "x(+get)", "(&c", "%", "@read", "+@ALL", "~", "&", "<",
          ">", "#", "!", "*"]


class RandomRules:
    def __init__(self, commands, categories):
        self.commands = commands
        self.categories = categories + ["all"]

    def some(self, rng):
        """The rules of one ACL SETUSER."""
        return [self.one(rng) for _ in range(rng.choice((1, 2, 3, 4, 6)))]

    def one(self, rng):
        draw = rng.random()
        if draw < 0.08:
            return rng.choice(BROKEN)
        if draw < 0.2:
            return self.cased(rng, rng.choice(BARE))
        if draw < 0.32:
            return self.password(rng)
        if draw < 0.47:
            return "(" + " ".join(self.of_selector(rng) for _ in range(rng.choice((1, 2, 3, 5)))) + ")"
        return self.of_selector(rng)

    def of_selector(self, rng):
        draw = rng.random()
        if draw < 0.08:
            return self.cased(rng, rng.choice(BARE_OF_SELECTORS))
        if draw < 0.3:
            return self.keys(rng)
        if draw < 0.4:
            return "&" + rng.choice(PATTERNS)
        sign = rng.choice("++-")
        if draw < 0.65:
            return sign + "@" + self.cased(rng, rng.choice(self.categories))
        name = self.commands.pick(rng)
        if "|" not in name and rng.random() < 0.2:
            name += "|" + rng.choice(["x", "0", "1", "GET", "a", ""])
        return sign + self.cased(rng, name)

    def keys(self, rng):
        draw = rng.random()
        if draw < 0.05:
            return rng.choice(BAD_KEY_RULES)
        return ("~" if draw < 0.5 else rng.choice(ACCESSES)) + rng.choice(PATTERNS)

    def password(self, rng):
        draw = rng.random()
        if draw < 0.6:
            return rng.choice("><") + rng.choice(PASSWORDS)
        return rng.choice("#!") + rng.choice(HASHES if draw < 0.9 else BAD_HASHES)

    @staticmethod
    def cased(rng, word):
        return word.upper() if rng.random() < 0.1 else word
