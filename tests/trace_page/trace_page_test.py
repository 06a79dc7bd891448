"""The page of a recording in headless Chromium: its script runs and draws the chart.

The document is read after the scripts have run, and the screenshot pixel by pixel: the positions of
colors show whether lanes, marks, fault bands, keys, their TTLs and the failing step are visible.
"""

import json
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

# From sim/recording/html_page.cc. A row has a border of one pixel. The width of a column follows from
# their number: the beginning and the events.
COLUMN = 1040 // (1 + EVENTS)
ROW = 49
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
    """The Paeth predictor of PNG."""
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
    """The bounding box of a color."""

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
        """The numbers of the columns that contain it."""
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
    def browse(cls, *options, fragment="", page="run.html"):
        command = [cls.chromium, "--headless", "--no-sandbox", "--disable-gpu", *options]
        command += [f"--user-data-dir={cls.folder}/profile", "--force-device-scale-factor=1"]
        command += [f"file://{cls.folder}/{page}{fragment}"]
        environment = {**os.environ, "HOME": cls.folder}
        done = subprocess.run(command, capture_output=True, env=environment, timeout=50, check=True)
        return done.stdout.decode()

    @classmethod
    def draw(cls, fragment, width=1400, name="run.png"):
        path = os.path.join(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", cls.folder), name)
        cls.browse(f"--window-size={width},1000", f"--screenshot={path}", fragment=fragment)
        return read_png(path)

    def press(self, *keys):
        """The document after these keys: a copy of the page has a script at its end that presses them."""
        script = f"""<script>for (const key of {json.dumps(keys)}) {{
          const event = new KeyboardEvent('keydown', {{key, bubbles: true, cancelable: true}});
          document.activeElement.dispatchEvent(event);
        }}
        document.body.dataset.focus = document.activeElement.id;
        document.body.dataset.filter = document.getElementById('filter').value;</script>"""
        with open(os.path.join(self.folder, "run.html"), encoding="utf-8") as file:
            page = file.read()
        with open(os.path.join(self.folder, "keys.html"), "w", encoding="utf-8") as file:
            file.write(page.replace("</body>", script + "</body>"))
        return self.browse("--dump-dom", fragment="#filter=q", page="keys.html")

    @staticmethod
    def kept(document):
        """The number of the event whose details are open."""
        pattern = r'class="mark(?=[^"]*\bkept\b)[^"]*"[^>]* data-event="(\d+)"'
        return re.search(pattern, document).group(1)

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
        self.assertIn(f'data-column="{COLUMN}"', self.document)
        self.assertAlmostEqual(self.failing.right - self.failing.left, COLUMN, delta=2)
        height = self.failing.bottom - self.failing.top
        self.assertAlmostEqual(height, (1 + ACTORS + KEYS) * ROW, delta=4)
        self.assertGreater(self.origin, LABEL)

    def test_marks_stand_in_the_lanes_of_their_actors(self):
        first = Box(self.picture, MARK, left=self.origin, **self.row(1))
        second = Box(self.picture, MARK, left=self.origin, **self.row(2))
        # Event numbers: a has 0, 4 and 7; b has 1, 2, 8 and 5, which was refused.
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
        # The keys are sorted: count, n, queue:jobs. The third second is column 4.
        row = self.row(1 + ACTORS + 1)
        # The bar is filled up to the TTL that is left: all of it before the third second.
        bar = Box(self.picture, EXPIRES, left=self.origin, **row)
        self.assertEqual(bar.columns(self.origin)[0], 4)
        self.assertLess(bar.right, self.origin + (FAULT_EVENT + 1) * COLUMN + 2)
        line = Box(self.picture, TTL, left=self.origin, **row)
        self.assertEqual(line.columns(self.origin)[0], 1)
        line = line.points
        early = min(y for x, y in line if x < self.origin + 3 * COLUMN)
        late = min(y for x, y in line if x > self.origin + 4 * COLUMN + 4)
        self.assertGreater(late, early + 5)

    def test_the_filter_hides_keys_and_dims_commands(self):
        document = self.browse("--dump-dom", fragment="#filter=queue:")
        self.assertTrue(self.key_is_hidden(document, "n"))
        self.assertTrue(self.key_is_hidden(document, "count"))
        self.assertFalse(self.key_is_hidden(document, "queue:jobs"))
        dim = re.findall(r'class="mark[^"]* dim\b', document)
        self.assertEqual(len(dim), EVENTS - 2 - 2)
        failing = Box(self.draw("#filter=queue:"), FAILING, top=self.chart_top)
        self.assertAlmostEqual(self.failing.bottom - failing.bottom, 2 * ROW, delta=2)

    def test_the_remaining_ttl_is_written_where_it_changes(self):
        self.assertIn(">TTL 1m10s</text>", self.document)
        self.assertIn(">TTL 1m7s</text>", self.document)

    def test_an_event_is_kept_below(self):
        document = self.browse("--dump-dom", fragment="#event=2")
        detail = re.search(r'<pre id="detail">(.*?)</pre>', document, re.S).group(1)
        self.assertIn('"EXPIRE"', detail)
        self.assertEqual(document.count(' kept"'), 1)
        self.assertIn("redouble replay run.json --until 2</code>", document)

    def test_the_failing_event_is_open_and_the_run_can_be_repeated(self):
        detail = re.search(r'<pre id="detail">(.*?)</pre>', self.document, re.S).group(1)
        self.assertIn('"GET"', detail)
        self.assertRegex(self.document, rf'class="mark kept"[^>]* data-event="{EVENTS - 1}"')
        self.assertIn("of b: the run fails here", self.document)
        self.assertIn("Repeat the run: <code>redouble replay run.json</code>", self.document)

    def test_the_arrow_keys_go_from_event_to_event(self):
        def kept_after(*keys):
            return self.kept(self.press(*keys))

        self.assertEqual(kept_after("ArrowLeft"), "7")
        # Events 6 and 3 are a fault and a step of the clock.
        self.assertEqual(kept_after("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"), "2")
        self.assertEqual(kept_after("ArrowLeft", "ArrowLeft", "ArrowRight"), "7")
        self.assertEqual(kept_after("ArrowRight"), str(EVENTS - 1))
        self.assertEqual(kept_after(*["ArrowLeft"] * EVENTS), "0")

    def test_a_slash_goes_to_the_filter_and_escape_clears_it(self):
        self.assertIn('data-focus="filter" data-filter="q"', self.press("/"))
        document = self.press("/", "Escape")
        self.assertIn('data-focus="" data-filter=""', document)
        self.assertFalse(self.key_is_hidden(document, "n"))
        # In the filter, arrows move the cursor.
        self.assertEqual(self.kept(self.press("/", "ArrowLeft")), str(EVENTS - 1))

    def test_the_chart_fills_a_wide_window(self):
        """No empty right half: the last column ends near the edge."""
        self.assertGreater(self.failing.right, 0.9 * 1400)

    def test_a_narrow_window_shows_labels_and_the_failing_event(self):
        picture = self.draw("", width=480, name="narrow.png")
        self.assertEqual(len(picture[0]), 480)
        failing = Box(picture, FAILING, top=next(
            y for y, row in enumerate(picture) if row.count(FAILING) > COLUMN // 2))
        # The chart has scrolled to it, beside labels of 128 pixels.
        self.assertGreater(failing.left, 128)
        self.assertLess(failing.right, 480)

    def test_dark_colours_are_others(self):
        dark = self.draw("#theme=dark", width=480, name="dark.png")
        self.assertLess(sum(dark[2][2]), 120)
        self.assertGreater(sum(self.picture[2][2]), 700)
        with self.assertRaises(AssertionError):
            Box(dark, EXPIRES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
