"""The public interface: the headers of include/, all of ours that they include, and what these must document.

check_documented takes the tree and yields (path, line, what). Usage as a program, for tools/docs:

    reference.py ROOT FOLDER    copies the public headers, with comments in the form that Doxygen reads
"""

import os
import re
import sys

from tree import Tree

PUBLIC = "include/redouble/"

# The systems are examples of what can be built; their specification describes their types.
EXAMPLES = ("core/gateway/", "core/korvet/", "core/orchestrator/", "core/python/", "core/relayna/", "core/studio/",
            "core/threescale/")

_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\s+(?:\[\[.*?\]\]\s*)?((?:\w|::(?:inline\s)?)*)$")
_TYPE = re.compile(r"^(?:template\s*<.*>\s*)?(?:requires\b.*?\s)?(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(\w+)\b(?!\s*::)",
                   re.DOTALL)
_ALIAS = re.compile(r"^(?:template\s*<.*>\s*)?(?:using|concept)\s+(\w+)\s*=", re.DOTALL)
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CONSTANT = re.compile(r"(\w+)(?:\[[^\]]*\])?\s*(?:=|\{|$)")
_NO_NAME = re.compile(r"^(?:$|using\s+namespace\b|using\s+[\w:]+$|friend\b|static_assert\b|extern\b"
                      r"|template\s*<\s*>|.*\boperator\b)", re.DOTALL)

_FORWARD = re.compile(r"^(?:class|struct|enum)\b[^()={]*$", re.DOTALL)

_FULL_LINE = re.compile(r"^(\s*)//(?![/!])(.*)$")
_BEHIND_CODE = re.compile(r"^(\s*\S.*?)\s{2}//(?![/!])(.*)$")


def public_headers(tree):
    """Sorted paths: the headers of include/ and those that they reach. Generated headers are not in the tree."""
    waiting = [path for path in tree.files if path.startswith(PUBLIC)]
    found = set(waiting)
    while waiting:
        for include in tree.source(waiting.pop()).includes():
            for path in (PUBLIC + include.path, include.path):
                if include.prefixed and path in tree.file_set and path not in found:
                    found.add(path)
                    waiting.append(path)
    return sorted(path for path in found if path.endswith(".h"))


# Undocumented names.


def check_documented(tree):
    """Each type, function, alias and constant of a namespace is described.

    A comment stands above it, or behind it, or above the group of adjacent declarations that it belongs to,
    or the introduction of the header names it. The options of a function or class are named after it.
    """
    for path in public_headers(tree):
        if path.startswith(EXAMPLES):
            continue
        source = tree.source(path)
        comment_lines = {comment.line for comment in source.comments}
        introduction = "\n".join(comment.text for comment in source.leading_comment())
        described_until = 0  # The last line of the last described declaration.
        for first, last, name in declarations(source):
            above = first - 1 in comment_lines or first in comment_lines or first - 1 == described_until
            if above or (name and re.search(rf"\b{name}\b", introduction)):
                described_until = last
            elif name and not name.endswith("Options"):
                yield path, first, name


def declarations(source):
    """(first line, last line, name) of what stands in namespaces but `internal`; the name may be None."""
    code = _PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), source.code)
    scopes = []  # The names of the open namespaces, and None for each other brace.
    start = 0
    first = head = None
    braced = False
    for match in re.finditer(r"[{};]", code):
        token = match.group(0)
        if None not in scopes and token != "}" and first is None:
            text = code[start : match.start()]
            head, braced = text.strip(), token == "{"
            first = source.line_of(start + len(text) - len(text.lstrip())) if head else None
        if token == "{":
            namespace = _NAMESPACE.match(head or "") if first is not None and None not in scopes else None
            scopes.append(namespace.group(1) if namespace else None)
            if namespace:
                first = None
        elif token == "}":
            if scopes:
                scopes.pop()
            # A function ends with its brace; a type or an initializer goes on to a semicolon.
            if None not in scopes and first is not None and _is_function(head):
                yield from _declared(source, scopes, first, match.start(), head)
                first = None
        elif None not in scopes and first is not None:
            if braced or not _FORWARD.match(head):
                yield from _declared(source, scopes, first, match.start(), head)
            first = None
        start = match.end()


def _is_function(head):
    return not _TYPE.match(head) and "(" in head and not head.endswith("=")


def _declared(source, scopes, first, end, head):
    if not any("internal" in scope.split("::") for scope in scopes):
        yield first, source.line_of(end), _name(head)


def _name(head):
    if _NO_NAME.match(head):
        return None
    for pattern in (_TYPE, _ALIAS):
        match = pattern.match(head)
        if match:
            return match.group(1)
    match = _FUNCTION.search(head) if "(" in head.split("=")[0] else None
    match = match or _CONSTANT.search(head)
    return match.group(1) if match else None


# The form that Doxygen reads.


def as_doxygen(text):
    """The header with `///` comments, and `///<` behind code. Each line stays on its line."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _FULL_LINE.match(line)
        if match:
            lines[number] = f"{match.group(1)}///{match.group(2)}"
            continue
        match = _BEHIND_CODE.match(line)
        if match:
            lines[number] = f"{match.group(1)}  ///<{match.group(2)}"
    if lines[0].startswith("///"):
        lines[0] = f"/// @file\n/// {lines[0][3:].strip()}"
    return "\n".join(lines)


def main(root, folder):
    tree = Tree(root)
    for path in public_headers(tree):
        copy = os.path.join(folder, path.removeprefix("include/"))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as file:
            file.write(as_doxygen(tree.read(path)))


if __name__ == "__main__":
    main(*sys.argv[1:])
