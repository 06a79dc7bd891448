"""The regions of pages that are written from measurements: <!-- measured: NAME --> ... <!-- end -->."""

import re


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def table(header, rows, left=1):
    """A table in Markdown. The first `left` columns hold text, the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join([row(*header), row(*marks), *(row(*cells) for cells in rows)])


def duration(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def rate(per_second):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if per_second >= size:
            return f"{per_second / size:.3g} {unit}"
    return f"{per_second:.0f}"


def replaced(page, name, text):
    """The page with `text` in the region `name`."""
    begin, end = f"<!-- measured: {name} -->\n", "<!-- end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    page, count = pattern.subn(lambda _: f"{begin}\n{text}\n\n{end}", page)
    if count != 1:
        raise ValueError(f"the page has {count} regions `{begin.strip()}`, expected one")
    return page
