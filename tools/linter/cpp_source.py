"""A C++ file as the lint rules see it: bare code, comments, string literals, includes and functions.

This is a tokenizer of a page, not a parser. It is exact about comments and literals; functions are
found by their braces.
"""

import re
from collections import namedtuple

# `path` is relative to the root; `prefixed` says whether the line begins it with redouble/.
Include = namedtuple("Include", "line path prefixed")
Comment = namedtuple("Comment", "line text")
Literal = namedtuple("Literal", "line text raw")
Function = namedtuple("Function", "line name length")

PREFIX = "redouble/"
# The programs that pages show. They include each other as files of a project outside do, by their names.
EXAMPLES = "tests/examples/"

_TOKEN = re.compile(
    r"""(?P<raw>\bR"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)")
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b\d(?:[\w.]|'(?=\w))*)
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL,
)
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()]*$")
_NAME = re.compile(r"([\w:~]+|operator\s*\S+)\s*\(")


def _blank(text):
    """As many lines and columns, all white."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


class CppSource:
    """One file. `path` is relative to the workspace and written with slashes."""

    def __init__(self, path, text):
        self.path = path
        self.lines = text.split("\n")
        self.line_count = len(text.splitlines())
        self.comments = []
        self.literals = []
        self._position = 0
        self._line = 1
        self.code = _TOKEN.sub(self._scrub, text)
        self.code_lines = self.code.split("\n")
        self._includes = list(self._find_includes())

    def _scrub(self, match):
        if match.group("number"):
            return match.group(0)
        self._line += match.string.count("\n", self._position, match.start())
        self._position = match.start()
        if match.group("comment"):
            for offset, text in enumerate(match.group(0).split("\n")):
                self.comments.append(Comment(self._line + offset, text))
        elif not match.group("char"):
            self.literals.append(Literal(self._line, match.group(0), bool(match.group("raw"))))
        return _blank(match.group(0))

    def line_of(self, position):
        return self.code.count("\n", 0, position) + 1

    def includes(self):
        """The #include lines, in order."""
        return iter(self._includes)

    def _find_includes(self):
        for number, line in enumerate(self.lines, start=1):
            match = _INCLUDE.match(line)
            if match and self.code_lines[number - 1].lstrip().startswith("#"):
                path = match.group(1)
                if self.path.startswith(EXAMPLES) and '"' in line and "/" not in path:
                    path = PREFIX + EXAMPLES + path
                yield Include(number, path.removeprefix(PREFIX), path.startswith(PREFIX))

    def leading_comment(self):
        """The lines of the comment that opens the file."""
        lines = []
        for comment in self.comments:
            if comment.line != len(lines) + 1:
                break
            lines.append(comment)
        return lines

    def functions(self):
        """Every function body that is not inside another, with its length from its first line to its last brace."""
        code = _PREPROCESSOR.sub(lambda match: _blank(match.group(0)), self.code)
        depth_in_function = 0
        function = None
        head_start = 0
        for match in re.finditer(r"[{};]", code):
            if function:
                depth_in_function += {"{": 1, "}": -1, ";": 0}[match.group(0)]
                if depth_in_function == 0:
                    start, name = function
                    first = self.line_of(start)
                    yield Function(first, name, self.line_of(match.start()) - first + 1)
                    function = None
            elif match.group(0) == "{":
                head = code[head_start : match.start()]
                if "(" in head and not _SCOPE.search(head) and not head.rstrip().endswith("="):
                    name = _NAME.search(head)
                    start = head_start + len(head) - len(head.lstrip())
                    function = (start, name.group(1) if name else "lambda")
                    depth_in_function = 1
            head_start = match.end()
