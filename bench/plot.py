#!/usr/bin/python3
"""Draws the results of bench/typed and bench/memory by the number of keys, as one SVG.

    bazel-bin/bench/typed --full > typed.txt && bazel-bin/bench/memory --full > memory.txt
    bench/plot.py typed.txt memory.txt > docs/growth.svg

A thin line is a typed function, and the thick line is the median of the functions; those that examine all keys are
omitted. The dashed line is the expiry of a key if all keys expire in one step of the clock.
"""

import math
import re
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 460, 70, 190, 40, 50


def tables(text):
    """The Markdown tables of a text: lists of rows, which are lists of cells; the first row is the header."""
    table = []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not set(cells[0]) <= {"-"}:
                table.append(cells)
        elif table:
            yield table
            table = []


def read(paths):
    """The lines of the functions, {name: [(keys, ns)]}, and the line of the expiry."""
    functions, expiry = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for header, *rows in tables(text):
            columns = {i: int(found[1]) for i, cell in enumerate(header)
                       if (found := re.match(r"engine, (\d+) keys", cell))}
            for row in rows if columns else []:
                if "(all keys)" not in row[0]:
                    functions[row[0]] = [(keys, float(row[i])) for i, keys in columns.items()]
            if "expiry in one step" in header[-1]:
                expiry = [(int(row[0]), float(row[-1])) for row in rows]
    return functions, expiry


def median_line(functions):
    by_keys = {}
    for points in functions.values():
        for keys, ns in points:
            by_keys.setdefault(keys, []).append(ns)
    return [(keys, sorted(values)[len(values) // 2]) for keys, values in sorted(by_keys.items())]


class Plot:
    def __init__(self, points):
        keys, times = zip(*points)
        self.first, self.last = math.log10(min(keys)), math.log10(max(keys))
        self.low, self.high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
        self.parts = []

    def x(self, keys):
        return LEFT + (math.log10(keys) - self.first) / (self.last - self.first) * (WIDTH - LEFT - RIGHT)

    def y(self, ns):
        return TOP + (self.high - math.log10(ns)) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)

    def text(self, x, y, text, anchor="start"):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{text}</text>')

    def line(self, points, style, title):
        path = " ".join(f"{self.x(keys):.1f},{self.y(ns):.1f}" for keys, ns in points)
        self.parts.append(f'<polyline points="{path}" fill="none" {style}><title>{title}</title></polyline>')

    def axes(self):
        for power in range(self.low, self.high + 1):
            y = self.y(10 ** power)
            self.parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
            self.text(LEFT - 8, y + 4, f"{10 ** power:,} ns", "end")
        for power in range(round(self.first), round(self.last) + 1):
            self.text(self.x(10 ** power), HEIGHT - BOTTOM + 20, f"{10 ** power:,}", "middle")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "keys", "middle")

    def svg(self):
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                          'font-family="sans-serif" font-size="12">',
                          f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', *self.parts, "</svg>"])


def main():
    functions, expiry = read(sys.argv[1:])
    if not functions:
        sys.exit(__doc__)
    plot = Plot([point for points in functions.values() for point in points] + expiry)
    plot.axes()
    plot.text(LEFT, TOP - 16, f"A call of each of {len(functions)} typed functions, by the number of keys")
    for name, points in sorted(functions.items()):
        plot.line(points, 'stroke="#69c" stroke-opacity="0.35"', name)
    lines = [(median_line(functions), 'stroke="#036" stroke-width="3"', "median of the functions")]
    if expiry:
        lines.append((expiry, 'stroke="#c30" stroke-width="2" stroke-dasharray="6 4"', "expiry of a key"))
    for points, style, title in lines:
        plot.line(points, style, title)
        plot.text(WIDTH - RIGHT + 8, plot.y(points[-1][1]) + 4, title)
    print(plot.svg())


if __name__ == "__main__":
    main()
