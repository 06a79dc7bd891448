"""A C++ file as the lint rules see it: bare code, comments, includes and functions.

This is a tokenizer of a page, not a parser. It is exact about comments and literals; functions are
found by their braces.
"""

import re
from collections import namedtuple

Include = namedtuple("Include", "line path")
Comment = namedtuple("Comment", "line text")
Function = namedtuple("Function", "line name length")

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
    return re.sub(r"[^\n]", " ", text)


class CppSource:
    """One file. `path` is relative to the workspace and written with slashes."""

    def __init__(self, path, text):
        self.path = path
        self.lines = text.split("\n")
        self.line_count = len(text.splitlines())
        self.comments = []
        self.code = _TOKEN.sub(self._scrub, text)
        self.code_lines = self.code.split("\n")

    def _scrub(self, match):
        if match.group("number"):
            return match.group(0)
        if match.group("comment"):
            first = match.string.count("\n", 0, match.start()) + 1
            for offset, text in enumerate(match.group(0).split("\n")):
                self.comments.append(Comment(first + offset, text))
        return _blank(match.group(0))

    def line_of(self, position):
        return self.code.count("\n", 0, position) + 1

    def includes(self):
        """The #include lines, in order."""
        for number, line in enumerate(self.lines, start=1):
            match = _INCLUDE.match(line)
            if match and self.code_lines[number - 1].lstrip().startswith("#"):
                yield Include(number, match.group(1))

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
