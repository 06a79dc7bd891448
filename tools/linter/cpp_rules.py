"""Checks of C++ files one by one: what they include, call, loop over, and how long they are.

A check takes a source and the tree, and yields (line, what was found).
"""

import functools
import re

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 800

# The folders whose headers are included with the prefix redouble/.
FOLDERS = ("core/", "backends/", "sim/", "scenarios/", "bench/", "tests/")


def check_prefix(source, tree):
    for include in source.includes():
        if not include.prefixed and (include.path.startswith(FOLDERS) or _is_neighbor(source, include, tree)):
            yield include.line, f'#include "{include.path}"'


def _is_neighbor(source, include, tree):
    """Whether it is found only because it lies beside the file that includes it."""
    folder = source.path.rpartition("/")[0]
    return source.path.startswith(FOLDERS) and tree.source(f"{folder}/{include.path}") is not None


def includes_header(pattern):
    """Finds includes whose path matches `pattern` from its start."""
    compiled = re.compile(pattern)

    def check(source, _):
        for include in source.includes():
            if compiled.match(include.path):
                yield include.line, f"#include <{include.path}>"

    return check


def check_self_contained(source, tree):
    """Being the first include of its .cc or test proves a header for free; others are compiled."""
    stem = source.path[: -len(".h")]
    for path in (stem + ".cc", stem + "_test.cc"):
        sibling = tree.source(path)
        if sibling:
            first = next(sibling.includes(), None)
            if first is None or first.path != source.path:
                yield 1, f"{source.path} is not the first include of {path}"
            return
    error = tree.compile_error(source.path)
    if error:
        yield 1, f"{source.path} does not compile alone ({error})"


# Calls and loops.


def calls(pattern):
    """Finds `pattern` in code; what comes before must not make it a member or another name."""
    compiled = re.compile(r"(?<![\w.>])(?:" + pattern + ")")
    # Most files have no match at all; this asks so without the slow parts, the look back and the optional namespace.
    fast = re.compile(re.sub(r"\(\?:[\w:|]*::\)\?", "", pattern))

    def check(source, _):
        for match in compiled.finditer(source.code) if fast.search(source.code) else ():
            yield source.line_of(match.start()), " ".join(match.group(0).split())

    return check


_UNORDERED = r"(?:absl\s*::\s*(?:flat|node)_hash_(?:map|set)|std\s*::\s*unordered_(?:multi)?(?:map|set))"
_LOOP = re.compile(r"\bfor\s*\((?:[^;(){}]|\([^()]*\)|\{[^{}]*\})*?[^:]:(?!:)\s*([^;{}]*?)\)\s*(?:\{|\n|\w)")

_ITERATOR_LOOP = re.compile(r"\bfor\s*\([^;(){}]*=\s*([\w.>\-]*\w)\s*(?:\.|->)\s*c?begin\s*\(\)")


def _after_angle_brackets(code, position):
    """The position after the template arguments that open at `position`."""
    depth = 0
    while position < len(code):
        depth += {"<": 1, ">": -1}.get(code[position], 0)
        position += 1
        if depth == 0:
            break
    return position


@functools.lru_cache(maxsize=None)
def unordered_names(source):
    """Variables, members and parameters whose declared type is an unordered container or an alias of one."""
    names, types = set(), [_UNORDERED + r"\s*(?=<)"]
    for match in re.finditer(r"\busing\s+(\w+)\s*=\s*" + _UNORDERED, source.code):
        types.append(r"\b" + match.group(1) + r"\b")
    for match in re.finditer("|".join(types), source.code):
        end = match.end()
        if source.code[end : end + 1] == "<":
            end = _after_angle_brackets(source.code, end)
        declared = re.match(r"[\s&*]*(\w+)\s*[;={(),]", source.code[end:])
        if declared:
            names.add(declared.group(1))
    return names


def check_unordered_iteration(source, tree):
    names = unordered_names(source)
    header = tree.source(re.sub(r"(_test)?\.cc$", ".h", source.path))
    if header:
        names |= unordered_names(header)
    # From other headers only members count: a parameter there may have the name of anything here.
    members = set()
    for include in source.includes():
        if include.path.startswith(FOLDERS) and tree.source(include.path):
            members |= unordered_names(tree.source(include.path))
    for loop in (_LOOP, _ITERATOR_LOOP):
        for match in loop.finditer(source.code):
            access, name = re.search(r"(\.|->)?\s*(\w*)\s*$", match.group(1)).groups()
            if name in names or (name in members and (access or name.endswith("_"))):
                yield source.line_of(match.start(1)), f"a loop over the unordered {name}"


# Size, comments and guards.


def check_function_length(source, _):
    for function in source.functions():
        if function.length > MAX_FUNCTION_LINES:
            yield function.line, f"{function.name} has {function.length} lines"


def check_file_length(source, _):
    if source.line_count > MAX_FILE_LINES:
        yield source.line_count, f"{source.line_count} lines"


# if (!status.ok()) return status;  if (!value.ok()) co_return value.status();
_PROPAGATION = re.compile(r"if \((?:[^;(){}]* (?P<new>\w+) = [^;{}]*; !(?P=new)|!(?P<old>\w+(?:(?:\.|->)\w+)*))\.ok\(\)\)"
                          r"\s*\{?\s*(?:co_)?return (?:(?P=new)|(?P=old))(?:\.status\(\))?;")


def check_propagation(source, _):
    """An error that is passed on unchanged."""
    for match in _PROPAGATION.finditer(source.code):
        yield source.line_of(match.start()), " ".join(match.group(0).split())


def comments(pattern):
    compiled = re.compile(pattern)

    def check(source, _):
        for comment in source.comments:
            match = compiled.search(comment.text)
            if match:
                yield comment.line, match.group(0).strip()

    return check


# An example in prose is indented by three or more; code that was commented out is not.
DEAD_CODE = (
    r"^(?://|\s*\*?)\s{0,2}(?=\S)(?:[\w:<>*&.\->\[\] ]+\(.*\)\s*;|[\w:.\->\[\]]+(?: [\w:<>*&]+)* = .*;|return\b.*;"
    r"|(?:if|for|while|switch) ?\(.*\) ?\{|\} else.*\{|\}|#include.*)$"
)

# A row of a table that goes on in the next line, or begins in the middle of this one.
TORN_TABLE = r"^//\s*\|.*\|.*[^|\s]\s*$|^//(?!\s*\|).*\|\s+\|"


_NAMESPACE = re.compile(r"(?<!using )\bnamespace\s+redouble\s*::\s*((?:inline\s+)?\w+)")
_VERSION = re.compile(r"REDOUBLE_VERSION_(?:MAJOR|MINOR) (\d+)$", re.MULTILINE)


def check_abi_namespace(source, tree):
    """Namespaces lie in an inline one that is named after the version, as the shared libraries are."""
    version = tree.source("include/redouble/version.h")
    wanted = "inline v" + "_".join(_VERSION.findall(version.code) if version else ("0", "1"))
    for match in _NAMESPACE.finditer(source.code):
        if match.group(1) != wanted:
            yield source.line_of(match.start()), f"{match.group(0)}, not redouble::{wanted}::..."


def check_guard(source, _):
    guard = "REDOUBLE_" + re.sub(r"\W", "_", source.path).upper() + "_"
    if f"#ifndef {guard}" not in source.lines:
        yield 1, f"no #ifndef {guard}"
