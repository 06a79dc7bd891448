"""Compares the formats of this project with those of Python and Ruby, on random texts. README.md has the list."""

import argparse
import datetime
import json
import os
import random
import struct
import subprocess
import sys
import unittest

_PARSER = argparse.ArgumentParser()
_PARSER.add_argument("formats")
_PARSER.add_argument("dates")
_PARSER.add_argument("--cases", type=int, default=4000)
_PARSER.add_argument("--seed", type=int, default=1)
OPTIONS = _PARSER.parse_args()
RUBY = "/usr/bin/ruby"

# Characters that the formats treat differently from others.
CHARACTERS = ['"', "\\", "/", "\b", "\n", "\x00", "\x1f", "\x7f", "\x80", "a", "Z", " ", "\u00a0", "\u00e9", "\u0130",
              "\u03a3", "\u2028", "\u2603", "\u3000", "\ud7ff", "\ufeff", "\uffff", "\U00010000", "\U0001f600"]
NUMBERS = ["0", "-0", "1", "-17", "1e5", "1E400", "0.1", "1e16", "123456789012345680", "1e-5", "NaN", "-Infinity",
           "9" * 30, "1.0", "5e-324"]
DATES = ["2026-01-01", "20260101", "2026-W01-4", "2026W01", "2026-01-01T10:00", "2026-01-01 10:00:00.5",
         "2026-01-01T10:00:00,123456789", "2026-01-01T100000+0530", "2026-01-01T10:00:00Z",
         "2026-01-01T10:00:00-23:59:59.5", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59.999999", "2024-02-29"]
# Of these texts, and of mutations of them, 3scale's original reads the time.
REPORT_TIMES = ["2025-04-23 17:42:39", "20250423174239Z", "2025-04-23 17h42m", "Wed, 23 Apr 2025 17:42:39 GMT",
                "April 23, 2025", "23.04.2025 5:42 pm", "20250423T174239+0200", "2025-04-23 15:00:00 PST",
                "H27.04.23 10:00", "20250423[+9:JST]", "4 Apr 25 b.c.", "2025-113", "1745430159", "23rd Apr '25 5pm",
                "2025-04-23 15:00 eastern standard time", "Apr 23 17:42:39 2025", "2025/04/23T16:00:00.25Z", "20250423[+5.-9:JST]",
                "20250423[9:+-5:30]"]


def text_of(rng):
    """A short text."""
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(6)))


def value_of(rng, depth=0):
    """The JSON text of a random value."""
    kind = rng.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return rng.choice(["null", "true", "false"])
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        bits = struct.unpack("<d", rng.randbytes(8))[0]
        return repr(bits) if bits == bits and abs(bits) != float("inf") else "1.5"
    if kind == 3:
        return json.dumps(text_of(rng), ensure_ascii=rng.random() < 0.5)
    if kind == 4:
        return '"' + rng.choice(["\\ud800", "\\udc00x", "\\ud83d\\ude00", "\\u007f", "\\/"]) + '"'
    space = rng.choice(["", " ", "\n"])
    parts = [value_of(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return "[" + ("," + space).join(parts) + space + "]"
    return "{" + ",".join(f"{json.dumps(text_of(rng))}{space}:{part}" for part in parts) + "}"


def mutated(rng, text, alphabet):
    """The text with some characters removed, repeated, exchanged or replaced."""
    characters = list(text)
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(characters) + 1)
        change = rng.randrange(3)
        if change == 0:
            characters.insert(at, rng.choice(alphabet))
        elif characters[at:at + 1]:
            characters[at:at + 1] = [] if change == 1 else [rng.choice(alphabet)]
    return "".join(characters)


def ours(requests):
    """The answers of this project to (function, bytes)."""
    lines = "".join(f"{function} {argument.hex()}\n" for function, argument in requests)
    run = subprocess.run([os.path.abspath(OPTIONS.formats)], input=lines, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def answer(function, argument):
    """What `function` gives, in the form of the answers of `ours`."""
    try:
        result = function(argument)
        return "none" if result is None else "ok " + result.encode().hex()
    except ValueError as error:
        return "error " + type(error).__name__


def dumps(flags):
    """json.dumps of json.loads, with the options of the flags."""
    def function(data):
        value = json.loads(data.decode())
        return json.dumps(value, sort_keys=bool(flags & 1), separators=(",", ":") if flags & 2 else None,
                          ensure_ascii=bool(flags & 4))
    return function


def iso(data):
    """The ISO form of a timestamp; None if it is not one."""
    text = data.decode().strip()
    try:
        return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text).isoformat()
    except ValueError:
        return None


class FormatsTest(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(OPTIONS.seed)

    def compare(self, requests, expected):
        answers = ours(requests)
        self.assertEqual(len(requests), len(answers))
        differences = [f"{function} {argument!r}: {got}, expected {want}"
                       for (function, argument), got, want in zip(requests, answers, expected) if got != want]
        self.assertEqual([], differences[:10], f"{len(differences)} of {len(requests)} differ")

    def test_json(self):
        requests = []
        for _ in range(OPTIONS.cases):
            text = value_of(self.rng)
            if self.rng.random() < 0.3:
                text = mutated(self.rng, text, '{}[]",:\\ue-+.0 ')
            data = text.encode("utf-8", "surrogatepass")
            requests.append((f"dumps:{self.rng.randrange(8)}", data))
        expected = [answer(dumps(int(function[-1])), data) for function, data in requests]
        self.assertGreater(sum(one.startswith("ok") for one in expected), OPTIONS.cases // 2)
        self.assertGreater(sum(one.startswith("error") for one in expected), OPTIONS.cases // 20)
        self.compare(requests, expected)

    def test_date_times(self):
        requests = [("iso", mutated(self.rng, self.rng.choice(DATES), "0123456789-:+.,TWZ ").encode())
                    for _ in range(OPTIONS.cases)]
        self.compare(requests, [answer(iso, data) for _, data in requests])

    def test_texts(self):
        texts = [chr(point) + "a" for point in range(0x20000) if not 0xD800 <= point < 0xE000]
        texts += [text_of(self.rng) for _ in range(OPTIONS.cases)]
        requests, expected = [], []
        for text in texts:
            for function, result in (("strip", text.strip()), ("lower", text.lower())):
                requests.append((function, text.encode()))
                expected.append("ok " + result.encode().hex())
        self.compare(requests, expected)

    @unittest.skipUnless(os.path.exists(RUBY), f"{RUBY} is not installed")
    def test_timestamps_of_reports(self):
        alphabet = "0123456789-:/.,+TZhmsapbc[] '"
        requests = [("seconds", mutated(self.rng, self.rng.choice(REPORT_TIMES), alphabet).encode())
                    for _ in range(OPTIONS.cases)]
        lines = "".join(data.hex() + "\n" for _, data in requests)
        run = subprocess.run([RUBY, OPTIONS.dates], input=lines, capture_output=True, text=True, check=True)
        expected = ["none" if line == "none" else "ok " + line.encode().hex() for line in run.stdout.splitlines()]
        self.assertGreater(sum(one != "none" for one in expected), OPTIONS.cases // 2)
        self.compare(requests, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
