"""Files that are not C++ as the lint rules see them: their prose, and the headings and links of pages.

Prose is what a person wrote for a person: a page whole, the comments of a program, the "source"
members of a JSON file. It has the shape of CppSource: `path`, `lines`, `comments`, `literals`, and
`code` for the languages that have some.
"""

import functools
import io
import re
import tokenize

from cpp_source import Comment

_JSON_SOURCE = re.compile(r'"source"\s*:\s*"(?:\\.|[^"\\])*"')
_LUA_COMMENT = re.compile(r"--\[\[.*?\]\]|--[^\n]*", re.DOTALL)
_JAVASCRIPT_COMMENT = re.compile(r"(?:^|(?<=\s))//[^\n]*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_SHELL_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#(?!!).*", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_LINK = re.compile(r"\]\(<?([^()\s<>]+(?:\([^()\s]*\))?)>?(?:\s+\"[^\"]*\")?\)")
_LINK_DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s+<?([^\s<>]+)>?")
_HTML_LINK = re.compile(r"\b(?:href|src)=\"([^\"]+)\"")
_HTML_ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


class TextSource:
    """One file that is neither C++ nor a page."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.line_count = len(text.splitlines())
        self.literals = []
        self.code = ""
        self.comments = self._prose()

    def includes(self):
        return iter(())

    def _prose(self):
        if self.path.endswith((".py", ".bzl", ".bazel")):
            return self._python()
        if self.path.endswith(".lua"):
            self.code = _LUA_COMMENT.sub("", self.text)
            return self._matches(_LUA_COMMENT)
        if self.path.endswith((".cjs", ".mjs", ".cts", ".mts")):
            self.code = _JAVASCRIPT_COMMENT.sub("", self.text)
            return self._matches(_JAVASCRIPT_COMMENT)
        if self.path.endswith(".json"):
            return self._matches(_JSON_SOURCE)
        if self.path.endswith(".jsonl"):
            return [Comment(number, line) for number, line in enumerate(self.lines, start=1)]
        return self._matches(_SHELL_COMMENT)

    def _matches(self, pattern):
        found = []
        for match in pattern.finditer(self.text):
            first = self.text.count("\n", 0, match.start()) + 1
            found += [Comment(first + at, line.strip()) for at, line in enumerate(match.group(0).split("\n"))]
        return found

    def _python(self):
        """Comments, and the strings that are statements of their own. BUILD files read as Python."""
        found, code = [], []
        starts_statement = True
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.COMMENT:
                    found.append(Comment(token.start[0], token.string))
                elif token.type == tokenize.STRING and starts_statement:
                    lines = token.string.split("\n")
                    found += [Comment(token.start[0] + at, line) for at, line in enumerate(lines)]
                elif token.type == tokenize.NAME:
                    code.append(token.string)
                if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                    starts_statement = True
                elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENCODING):
                    starts_statement = False
        except (tokenize.TokenError, IndentationError):
            pass  # An unfinished file: what was read so far counts.
        self.code = "\n".join(code)
        return found


class Page(TextSource):
    """A Markdown page. `comments` are all its lines."""

    def _prose(self):
        self.headings = []  # (line, text)
        self.links = []  # (line, target)
        self.text_lines = []  # (line, text without code), for rules about words
        self.anchors = set()
        fenced = False
        for number, line in enumerate(self.lines, start=1):
            if _FENCE.match(line):
                fenced = not fenced
            elif not fenced:
                self._read(number, line)
        return [Comment(number, line) for number, line in enumerate(self.lines, start=1)]

    def _read(self, number, line):
        bare = _CODE_SPAN.sub(lambda match: " " * len(match.group(0)), line)
        self.text_lines.append(Comment(number, bare))
        heading = _HEADING.match(line)
        if heading:
            self.headings.append((number, heading.group(2)))
            self._add_anchor(heading.group(2))
        self.anchors.update(_HTML_ANCHOR.findall(line))
        for pattern in (_LINK, _LINK_DEFINITION, _HTML_LINK):
            self.links += [(number, target) for target in pattern.findall(bare)]

    def _add_anchor(self, heading):
        anchor = base = github_anchor(heading)
        count = 0
        while anchor in self.anchors:
            count += 1
            anchor = f"{base}-{count}"
        self.anchors.add(anchor)

    @functools.cached_property
    def section_ids(self):
        """The ids that headings start with: 4, 4.2, R10."""
        ids = (re.match(r"(\d+(?:\.\d+)*|[A-Z]\d+)\.?\s", text + " ") for _, text in self.headings)
        return {match.group(1) for match in ids if match}


def github_anchor(heading):
    """The fragment that GitHub gives a heading: lower case, no punctuation, `-` for each space."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"(?<!\w)_([^_]+)_(?!\w)", r"\1", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def blocks(comments):
    """Joins comments of adjacent lines, without their markers: [(line of the first, text)]."""
    found = []
    last = None
    for comment in comments:
        text = re.sub(r"^\s*(?://+|#+(?=\s|$)|--|\*(?=\s|$))\s?", "", comment.text)
        if found and comment.line == last + 1:
            found[-1][1].append(text)
        else:
            found.append((comment.line, [text]))
        last = comment.line
    return [(line, "\n".join(texts)) for line, texts in found]
