"""Checks that a fact has one home: files that nothing uses, tables and their readers, texts of errors.

The check of one file takes (source, tree) and yields (line, what); the check of a tree takes the tree
and yields (path, line, what).
"""

import ast
import posixpath
import re

from folders import PUBLIC, is_test
from text_source import Page

_HEADERS = (".h", ".inc")
_BUILT = (".cc", ".c", ".lua", ".py", ".sh", ".json", ".jsonl")

# Files that nothing uses.


def check_dead_files(tree):
    included = {path for includes in tree.include_graph.values() for _, path in includes}
    linked = _linked_pages(tree)
    built = BuildFiles(tree)
    scripts = "\n".join(line for source in tree.sources() if _is_script(source.path) for line in source.lines)
    for path in tree.files:
        if path.startswith(("third_party/", "tools/prelude/")):
            continue  # What Bazel itself looks for; what is included by the compiler's options.
        if path.endswith(_HEADERS) and path not in included and not path.startswith(PUBLIC):
            yield path, 1, "no file includes it"
        elif path.endswith(_HEADERS + _BUILT) and not built.mentions(path):
            # Some scripts are run by hand, as a page says.
            if not (path.endswith((".py", ".sh")) and _is_named(path, scripts)):
                yield path, 1, "no BUILD file mentions it"
        elif path.endswith(".md") and "/" in path and path not in linked:
            yield path, 1, "no page links to it"
        elif path.endswith(".bzl") and not built.loads(path):
            yield path, 1, "no BUILD file loads it"


def _is_script(path):
    return path.endswith((".md", ".sh")) or "." not in posixpath.basename(path)


def _is_named(path, text):
    name = re.escape(posixpath.basename(path))
    return re.search(rf"(?:{re.escape(path)}|\$0\"?\)/{name})", text) is not None


def _linked_pages(tree):
    """Pages, and the pages of folders, to which another page has a link."""
    found = set()
    for page in tree.sources(".md"):
        for _, target in page.links if isinstance(page, Page) else ():
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), target.split("#")[0]))
            if path != page.path:
                found |= {path, path + "/README.md"}
    return found


class BuildFiles:
    """What the BUILD files, and the .bzl files beside them, name: sources, patterns of sources, and
    .bzl files."""

    def __init__(self, tree):
        self._packages = {}
        self._text = []
        for source in tree.sources("BUILD.bazel", ".bzl"):
            self._text.append("\n".join(source.lines))
            if source.path.endswith("BUILD.bazel"):
                self._packages[posixpath.dirname(source.path)] = _names(self._text[-1])
        for source in tree.sources(".bzl"):
            if (package := self._packages.get(posixpath.dirname(source.path))) is not None:
                package[0].update(_names("\n".join(source.lines))[0])

    def mentions(self, path):
        folder = posixpath.dirname(path)
        while folder not in self._packages:
            if not folder:
                return False
            folder = posixpath.dirname(folder)
        names, patterns = self._packages[folder]
        inside = path[len(folder) + 1 :] if folder else path
        if inside in names or posixpath.splitext(inside)[0] in names:
            return True
        return any(pattern.fullmatch(inside) for pattern in patterns)

    def loads(self, path):
        folder, name = posixpath.split(path)
        return any(f"//{folder}:{name}" in text or f'":{name}"' in text for text in self._text)


def _names(text):
    """(strings, compiled patterns of globs) in a BUILD file, which reads as Python."""
    names, patterns, excluded = set(), [], set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "glob":
            excluded |= {id(each) for keyword in node.keywords if keyword.arg == "exclude"
                         for each in ast.walk(keyword.value)}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in excluded:
            names.add(node.value.removeprefix(":"))
            if "*" in node.value:
                patterns.append(_compile_glob(node.value))
    return names, patterns


def _compile_glob(pattern):
    """Bazel's: ** is any number of folders, * stays in one."""
    parts = re.split(r"(\*\*/?|\*)", pattern)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts))


# Row tables and their readers.

_READERS = re.compile(r"\bReaders?:((?:[\s,]|//|and\b|[\w./]+)*)")


def check_table_readers(source, tree):
    """A table says who reads it, and nothing else does: a fact that is read twice is derived twice."""
    text = "\n".join(comment.text for comment in source.comments)
    match = _READERS.search(text)
    listed = set(re.findall(r"[\w/]+\.(?:h|cc)\b", match.group(1))) if match else set()
    readers = {path for path, includes in tree.include_graph.items() if any(i == source.path for _, i in includes)}
    for path in sorted(readers - listed):
        yield 1, f"{path} includes it and is not among its `Readers:`"
    for path in sorted(listed - readers):
        yield 1, f"{path} is among its `Readers:` and does not include it"


# Texts of errors.

# "ERR no such key": Redis's code in capitals, then words.
_ERROR_TEXT = re.compile(r'"[A-Z]{3,} (?=[^"]*[a-z])[^"]{8,}"')


def check_error_texts(tree):
    """Clients compare the texts of errors, so that each is written once."""
    places = {}
    for source in tree.sources(".h", ".cc", ".inc"):
        if source.path.startswith(("core/", "backends/", "sim/")) and not is_test(source.path):
            for literal in source.literals:
                if not literal.raw and _ERROR_TEXT.fullmatch(literal.text):
                    places.setdefault(literal.text, {}).setdefault(source.path, literal.line)
    for text, lines in places.items():
        first, *others = lines
        for path in others:
            yield path, lines[path], f"{text} is also in {first}:{lines[first]}"
