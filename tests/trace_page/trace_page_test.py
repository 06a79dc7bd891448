"""The page of a recording in headless Chromium: its script runs, and what it draws is there.

The document is read after the scripts have run, the picture pixel by pixel: which colours stand
where says whether lanes, marks, fault bands, keys, their TTLs and the failing step are seen.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

# Two clients, keys that expire, a refused command, a restart of the server, and a wrong answer.
RUN = """
{"name": "a wrong answer", "description": "d", "system": "redis", "start": "2026-05-09T14:03:02Z",
 "steps": [
  {"kind": "command", "client": "a", "command": ["SET", "n", "</script>", "PX", "5000"]},
  {"kind": "command", "client": "b", "command": ["INCR", "count"]},
  {"kind": "command", "client": "b", "command": ["EXPIRE", "count", "70"]},
  {"kind": "advance", "by": "3s"},
  {"kind": "command", "client": "a", "command": ["RPUSH", "queue:jobs", "one", "two"]},
  {"kind": "command", "client": "b", "command": ["INCR", "queue:jobs"],
   "expect": {"error": "WRONGTYPE Operation against a key holding the wrong kind of value"}},
  {"kind": "fault", "fault": "restart"},
  {"kind": "command", "client": "a", "command": ["INCR", "count"]},
  {"kind": "command", "client": "b", "command": ["GET", "n"], "expect": "1"}]}
"""
EVENTS = 9
FAULT_EVENT = 6
ACTORS = 2
KEYS = 3

# Of sim/trace/html_page.cc. A row has a border of a pixel.
COLUMN = 60
ROW = 33
LABEL = 320
MARK = (0x2A, 0x6F, 0xB0)
ERROR = (0xD0, 0x80, 0x00)
FAULT = (0xD4, 0xBF, 0xE8)
FAILING = (0xF7, 0xC6, 0xC6)
EXPIRES = (0xF5, 0xE6, 0xB8)
TTL = (0x90, 0x60, 0x00)


def read_png(path):
    """Rows of (red, green, blue)."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise AssertionError(f"{path} is no picture")
    at, packed, header = 8, b"", None
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        header = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colours, _, _, interlaced = header
    if depth != 8 or colours not in (2, 6) or interlaced:
        raise AssertionError(f"{path} has a form that this test does not read: {header}")
    return unfilter(zlib.decompress(packed), width, height, 3 if colours == 2 else 4)


def paeth(left, above, corner):
    """PNG's fourth prediction."""
    estimate = left + above - corner
    distances = [(abs(estimate - left), 0, left), (abs(estimate - above), 1, above)]
    return min(distances + [(abs(estimate - corner), 2, corner)])[2]


def unfilter(raw, width, height, size):
    """Undoes PNG's prediction of each byte from its neighbours."""
    stride = width * size
    before = bytearray(stride)
    rows = []
    for y in range(height):
        kind = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for x in range(stride if kind else 0):
            left = line[x - size] if x >= size else 0
            corner = before[x - size] if x >= size else 0
            guess = (0, left, before[x], (left + before[x]) // 2)
            line[x] = (line[x] + (guess[kind] if kind < 4 else paeth(left, before[x], corner))) % 256
        rows.append([tuple(line[x : x + 3]) for x in range(0, stride, size)])
        before = line
    return rows


class Box:
    """Where a colour is seen."""

    def __init__(self, picture, colour, top=0, bottom=None, left=0):
        rows = range(top, len(picture) if bottom is None else bottom)
        self.points = [
            (x, y) for y in rows for x in range(left, len(picture[y])) if picture[y][x] == colour
        ]
        if not self.points:
            raise AssertionError(f"the colour {colour} is nowhere")
        xs, ys = [x for x, _ in self.points], [y for _, y in self.points]
        self.left, self.right, self.top, self.bottom = min(xs), max(xs), min(ys), max(ys)

    def columns(self, origin):
        """The numbers of the columns that it is seen in."""
        return sorted({(x - origin) // COLUMN for x, _ in self.points})


class TracePageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.redouble = os.path.abspath(sys.argv[1])
        cls.chromium = shutil.which("chromium", path="/usr/local/bin:/usr/bin:/bin")
        if cls.chromium is None:
            raise AssertionError("there is no chromium; tools/setup installs it")
        cls.folder = os.environ["TEST_TMPDIR"]
        with open(os.path.join(cls.folder, "run.json"), "w", encoding="utf-8") as file:
            file.write(RUN)
        run = [cls.redouble, "replay", "run.json", "--html", "run.html"]
        code = subprocess.run(run, cwd=cls.folder, stdout=subprocess.DEVNULL, check=False).returncode
        if code != 1:
            raise AssertionError(f"the run should fail by its expectation, not with {code}")
        cls.document = cls.browse("--dump-dom")
        cls.picture = cls.draw("")
        # The band of the failing step is as wide as a column; the legend's sample is narrower.
        cls.chart_top = next(
            y for y, row in enumerate(cls.picture) if row.count(FAILING) > COLUMN // 2
        )
        cls.failing = Box(cls.picture, FAILING, top=cls.chart_top)
        # Column 0 is the beginning, column n + 1 event n.
        cls.origin = cls.failing.left - EVENTS * COLUMN

    @classmethod
    def browse(cls, *options, fragment=""):
        command = [cls.chromium, "--headless", "--no-sandbox", "--disable-gpu", *options]
        command += [f"--user-data-dir={cls.folder}/profile", "--force-device-scale-factor=1"]
        command += [f"file://{cls.folder}/run.html{fragment}"]
        environment = {**os.environ, "HOME": cls.folder}
        done = subprocess.run(command, capture_output=True, env=environment, timeout=50, check=True)
        return done.stdout.decode()

    @classmethod
    def draw(cls, fragment):
        path = os.path.join(cls.folder, "run.png")
        cls.browse("--window-size=1200,640", f"--screenshot={path}", fragment=fragment)
        return read_png(path)

    def row(self, number):
        """The top and bottom of a row of the chart."""
        return {"top": self.chart_top + number * ROW, "bottom": self.chart_top + (number + 1) * ROW}

    def key_is_hidden(self, document, key):
        tag = re.search(rf'<div class="row key" data-key="{key}"[^>]*>', document).group(0)
        return "display: none" in tag

    def test_the_script_ran_to_its_end(self):
        self.assertIn(f'data-ready="{EVENTS}"', self.document)

    def test_every_actor_has_its_lane_and_every_key_its_row(self):
        self.assertEqual(self.document.count('class="row lane'), ACTORS)
        self.assertEqual(self.document.count('class="row key"'), KEYS)

    def test_a_mark_says_its_command_and_reply_when_it_is_pointed_at(self):
        self.assertIn('\n["EXPIRE","count","70"]\nreply: 1</title>', self.document)

    def test_the_failing_step_is_a_band_through_all_rows(self):
        self.assertAlmostEqual(self.failing.right - self.failing.left, COLUMN, delta=2)
        height = self.failing.bottom - self.failing.top
        self.assertAlmostEqual(height, (1 + ACTORS + KEYS) * ROW, delta=4)
        self.assertGreater(self.origin, LABEL)

    def test_marks_stand_in_the_lanes_of_their_actors(self):
        first = Box(self.picture, MARK, left=self.origin, **self.row(1))
        second = Box(self.picture, MARK, left=self.origin, **self.row(2))
        # By event: a has 0, 4 and 7; b has 1, 2 and 8, and 5, which was refused.
        self.assertEqual(first.columns(self.origin), [1, 5, 8])
        self.assertEqual(second.columns(self.origin), [2, 3, 9])
        refused = Box(self.picture, ERROR, left=self.origin, **self.row(2))
        self.assertEqual(refused.columns(self.origin), [6])

    def test_a_fault_of_the_server_is_a_band_over_all_lanes(self):
        band = Box(self.picture, FAULT, top=self.chart_top, left=self.origin)
        self.assertEqual(band.columns(self.origin), [FAULT_EVENT + 1])
        self.assertAlmostEqual(band.top, self.row(1)["top"], delta=2)
        self.assertAlmostEqual(band.bottom, self.row(ACTORS)["bottom"], delta=3)

    def test_a_key_is_seen_while_it_is_there_and_its_ttl_runs_down(self):
        # The keys in their order: count, n, queue:jobs. The third second is column 4.
        row = self.row(1 + ACTORS + 1)
        bar = Box(self.picture, EXPIRES, left=self.origin, **row)
        self.assertEqual(bar.columns(self.origin)[0], 1)
        self.assertLess(bar.right, self.origin + (FAULT_EVENT + 1) * COLUMN + 2)
        line = Box(self.picture, TTL, left=self.origin, **row).points
        early = min(y for x, y in line if x < self.origin + 3 * COLUMN)
        late = min(y for x, y in line if x > self.origin + 4 * COLUMN + 4)
        self.assertGreater(late, early + 5)

    def test_the_filter_hides_keys_and_dims_commands(self):
        document = self.browse("--dump-dom", fragment="#filter=queue:")
        self.assertTrue(self.key_is_hidden(document, "n"))
        self.assertTrue(self.key_is_hidden(document, "count"))
        self.assertFalse(self.key_is_hidden(document, "queue:jobs"))
        self.assertEqual(document.count(' dim"'), EVENTS - 2 - 2)
        failing = Box(self.draw("#filter=queue:"), FAILING, top=self.chart_top)
        self.assertAlmostEqual(self.failing.bottom - failing.bottom, 2 * ROW, delta=2)

    def test_an_event_is_kept_below(self):
        document = self.browse("--dump-dom", fragment="#event=2")
        detail = re.search(r'<pre id="detail">(.*?)</pre>', document, re.S).group(1)
        self.assertIn('"EXPIRE"', detail)
        self.assertEqual(document.count(' kept"'), 1)
        self.assertNotIn(' kept"', self.document)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
