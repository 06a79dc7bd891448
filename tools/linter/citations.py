"""Checks of what prose cites: paths, links and the sections of the specification."""

import posixpath
import re

from cpp_source import Comment
from text_source import Page, blocks

SYSTEMS = ("gateway", "korvet", "orchestrator", "threescale", "relayna", "studio")
SPECIFICATION = "docs/systems/"
# Two pages whose ids are numbered together: prose about one names sections of the other.
_SHARED_IDS = {"relayna": "studio", "studio": "relayna"}

_FOLDER = r"(?:core|backends|sim|scenarios|tests|bench|docs|tools|third_party)"
_PATH = re.compile(
    r"(?<![\w:/.$}-])(?P<label>//)?(?:redouble/)?"
    r"(?P<path>" + _FOLDER + r"/(?:[\w.+*-]|/(?=[\w{<*])|\{[\w.*]+(?:,\s?[\w.*]*)+\}|<\w+>)*)"
    r"(?::(?P<target>[\w.+-]+))?(?:\#(?P<anchor>[\w-]+))?"
)
# scenarios/gateway/x.json, scenarios/SYSTEM/*.json
_PLACEHOLDER = re.compile(r"(?<=/)(?:x(?=\.)|(?!README|BUILD|WORKSPACE)[A-Z]{2,}(?=[/.]|$))")
# What is never ours to cite: it is not in the repository.
_GONE = re.compile(r"(?<![\w])(?:\.\./shared/)?reference/[\w<{*]+(?:\.\w+)?|\bseeds?[ /]0\d\d\b|\bseeds/\w+")
_BARE_PAGE = re.compile(r"(?<![\w/.(-])(?:" + "|".join(SYSTEMS) + r")\.md\b")

_ID = r"(?:\d+(?:\.\d+)*|[A-Z]\d+)(?!\w)"
_SEPARATOR = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|to)\s+|\s*-\s*)"
_SECTIONS = re.compile(
    rf"{SPECIFICATION}(\w+)\.md\s+(?:(?:sections?|hazards?|decisions?)\s+)?({_ID}(?:{_SEPARATOR}{_ID})*)"
)
_BARE_ID = re.compile(r"(?<![\w.#/{\"'-])([A-Z]\d{1,2})(?![\w\"'.-]?\w)")


def prose(source):
    """Comments, and the literals that cite something."""
    literals = [Comment(each.line, each.text.strip('"')) for each in source.literals
                if not each.raw and re.search(r"\bdocs/|\breference/|\bseed 0|\.md\b", each.text)]
    return sorted(source.comments + literals)


# Paths.


def check_paths(source, tree):
    for line, text in prose(source):
        for match in _GONE.finditer(text):
            yield line, match.group(0)
        for match in _BARE_PAGE.finditer(text) if not source.path.startswith(SPECIFICATION) else ():
            yield line, f"{match.group(0)} (it is {SPECIFICATION}{match.group(0)})"
        for match in _PATH.finditer(text):
            if not _resolves(match, tree):
                yield line, match.group(0)
    if isinstance(source, Page):
        yield from _broken_links(source, tree)


def _resolves(match, tree):
    path = re.sub(_PLACEHOLDER, "*", match.group("path").rstrip(".-"))
    target = match.group("target")
    if target and not target.isdigit():
        target = target.rstrip(".-")
        if tree.exists(f"{path}/{target}") or tree.has_target(path, target):
            return True
        return tree.exists(path) and (not match.group("label") or target == "all")
    page = tree.source(path)
    if match.group("anchor") and isinstance(page, Page):
        return match.group("anchor") in page.anchors
    return tree.exists(path)


def _broken_links(page, tree):
    for line, target in page.links:
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z][a-z+.-]*:|//", target):
            continue
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), path)) if path else page.path
        other = tree.source(whole)
        if whole not in tree.file_set and whole not in tree.folders:
            yield line, f"the link {target}"
        elif anchor and isinstance(other, Page) and anchor not in other.anchors:
            yield line, f"the anchor {target}"


# Sections.


def check_sections(source, tree):
    for first, text in blocks(prose(source)):
        for match in _SECTIONS.finditer(text):
            page = tree.source(f"{SPECIFICATION}{match.group(1)}.md")
            if page is not None:  # Otherwise it is a path that is not there.
                for name in sorted(set(_ids(match.group(2))) - page.section_ids):
                    yield first + text.count("\n", 0, match.start()), f"{match.group(1)}.md has no section {name}"
        yield from _bare_ids(source.path, first, _SECTIONS.sub(_keep_lines, text), tree)


def _keep_lines(match):
    return "\n" * match.group(0).count("\n")


def _ids(text):
    """The ids in "4.2, 4.3 and R10" or "R1 to R4"."""
    parts = re.split(rf"({_SEPARATOR})", text)
    found = [parts[0]]
    for separator, name in zip(parts[1::2], parts[2::2]):
        found += _between(found[-1], name) if separator.strip() in ("to", "-") else [name]
    return found


def _between(first, last):
    """What follows `first` up to `last`: R2, R3, R4 for R1 and R4."""
    head, low = re.fullmatch(r"(.*?)(\d+)", first).groups()
    other_head, high = re.fullmatch(r"(.*?)(\d+)", last).groups()
    if head != other_head or int(low) >= int(high):
        return [last]
    return [f"{head}{number}" for number in range(int(low) + 1, int(high) + 1)]


def system_of(path):
    """The system whose folder a file is in, or None."""
    parts = path.removesuffix(".md").split("/")
    return next((system for system in SYSTEMS if system in parts), None)


def _bare_ids(path, first, text, tree):
    """R10 alone, in the folder of a system, is a section of that system's page."""
    system = system_of(path)
    page = tree.source(f"{SPECIFICATION}{system}.md") if system else None
    if page is None:
        return
    sections = page.section_ids
    sibling = tree.source(f"{SPECIFICATION}{_SHARED_IDS.get(system)}.md")
    sections = sections | (sibling.section_ids if sibling else set())
    letters = {name[0] for name in sections if name[0].isalpha()}
    for match in _BARE_ID.finditer(text):
        if match.group(1)[0] in letters and match.group(1) not in sections:
            yield first + text.count("\n", 0, match.start()), f"{system}.md has no section {match.group(1)}"
