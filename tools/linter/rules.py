"""The rules of the lint: one table, RULES, at the end of the file.

A rule says what is banned, where it applies, and what to use instead. A line may break a rule for a
reason that it gives:

    clock_gettime(CLOCK_MONOTONIC, &now);  // lint: wall-clock: the child's clock is real on purpose

or with the comment on the line above. A comment that excuses nothing is itself reported.
"""

import re
from collections import namedtuple

MAX_FUNCTION_LINES = 70
MAX_FILE_LINES = 800

# check(source, tree) yields (line, what was found); `tree` is lint.Tree: other sources, and the
# compiler.
Rule = namedtuple("Rule", "id applies check instead")

OURS = ("core/", "backends/", "sim/")


def inside(*prefixes):
    return lambda path: path.startswith(prefixes)


def outside(*prefixes):
    return lambda path: not path.startswith(prefixes)


def only(scope, exempt):
    """Applies below `scope`, but not below `exempt`."""
    return lambda path: path.startswith(scope) and not path.startswith(exempt)


def is_test(path):
    return path.endswith(("_test.cc", "_for_test.h"))


def but_not_tests(applies):
    return lambda path: applies(path) and not is_test(path)


# Includes.

FOLDERS = ("core/", "backends/", "sim/", "scenarios/", "bench/", "tests/", "examples/")


def allowed_folders(path):
    """The folders whose headers a file may include, or None when it may include any."""
    own = "/".join(path.split("/")[:2]) + "/"
    if path.startswith("core/base/"):
        return ("core/base/",)
    if path.startswith("core/python/"):
        return ("core/python/", "core/base/")
    if path.startswith("core/store/"):
        return ("core/store/", "core/base/")
    test_only = ("tests/",) if is_test(path) else ()
    if path.startswith("core/"):
        # A system's unit tests run on the embedded engine.
        test_only += ("backends/memory/",) if is_test(path) else ()
        return (own, "core/python/", "core/store/", "core/base/") + test_only
    if path.startswith("backends/"):
        return (own, "core/store/", "core/base/") + test_only
    if path.startswith("sim/cli/"):
        return None
    if path.startswith("sim/"):
        return ("sim/", "core/", "backends/memory/") + test_only
    return None


def check_direction(source, _):
    allowed = allowed_folders(source.path)
    for include in source.includes():
        if allowed and include.path.startswith(FOLDERS) and not include.path.startswith(allowed):
            yield include.line, f'#include "{include.path}"'


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

    def check(source, _):
        for match in compiled.finditer(source.code):
            yield source.line_of(match.start()), " ".join(match.group(0).split())

    return check


_UNORDERED = r"(?:absl\s*::\s*(?:flat|node)_hash_(?:map|set)|std\s*::\s*unordered_(?:multi)?(?:map|set))"
_LOOP = re.compile(r"\bfor\s*\((?:[^;(){}]|\([^()]*\)|\{[^{}]*\})*?[^:]:(?!:)\s*([^;{}]*?)\)\s*(?:\{|\n|\w)")

_ITERATOR_LOOP = re.compile(r"\bfor\s*\([^;(){}]*=\s*([\w.>\-]*\w)\s*(?:\.|->)\s*c?begin\s*\(\)")


def _after_angle_brackets(code, position):
    """The position behind the template arguments that open at `position`."""
    depth = 0
    while position < len(code):
        depth += {"<": 1, ">": -1}.get(code[position], 0)
        position += 1
        if depth == 0:
            break
    return position


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


def comments(pattern):
    compiled = re.compile(pattern)

    def check(source, _):
        for comment in source.comments:
            match = compiled.search(comment.text)
            if match:
                yield comment.line, match.group(0).strip()

    return check


# An example in prose is indented by three or more; code that was commented out is not.
_DEAD_CODE = (
    r"^(?://|\s*\*?)\s{0,2}(?=\S)(?:[\w:<>*&.\->\[\] ]+\(.*\)\s*;|[\w:.\->\[\]]+(?: [\w:<>*&]+)* = .*;|return\b.*;"
    r"|(?:if|for|while|switch) ?\(.*\) ?\{|\} else.*\{|\}|#include.*)$"
)

# A row of a table that goes on in the next line, or begins in the middle of this one.
_TORN_TABLE = r"^//\s*\|.*\|.*[^|\s]\s*$|^//(?!\s*\|).*\|\s+\|"


def check_guard(source, _):
    guard = "REDOUBLE_" + re.sub(r"\W", "_", source.path).upper() + "_"
    if f"#ifndef {guard}" not in source.lines:
        yield 1, f"no #ifndef {guard}"


def is_header(path):
    return path.endswith(".h") and path.startswith(OURS + ("tests/", "bench/"))


RULES = [
    Rule("include-direction", inside(*OURS), check_direction,
         "keep to the arrows: systems -> core/store -> core/base; backends -> core/store; sim -> core and "
         "backends/memory; what needs more belongs to tests/ or sim/cli/"),
    Rule("include-asio", only(OURS, ("backends/redis/net/", "sim/server/")),
         includes_header(r"boost/asio"),
         "put the socket into backends/redis/net/ (or sim/server/) and the logic into a sans-I/O machine"),
    Rule("include-hiredis", only(OURS, ("backends/redis/protocol/",)), includes_header(r"hiredis"),
         "use the codec of backends/redis/protocol/"),
    Rule("include-lua", only(OURS, ("backends/memory/scripting/",)),
         includes_header(r"(?:lua5\.1/)?(?:lua|lauxlib|lualib|luaconf)\.h"),
         "use backends/memory/scripting/"),
    Rule("include-platform", but_not_tests(only(("core/", "backends/memory/"), ("core/base/system_clock",))),
         includes_header(r"(?:thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|poll\.h"
                         r"|pthread\.h|sys/(?:socket|select|poll|epoll|eventfd|timerfd|un)\.h|netinet/.*|arpa/.*"
                         r"|netdb\.h|absl/synchronization/.*)$"),
         "use base::Task and base::Clock; there are no threads or sockets here"),
    Rule("header-self-contained", is_header, check_self_contained,
         "include what it uses, and include it first in its .cc, so that compiling that proves it"),
    Rule("header-guard", is_header, check_guard, "name the guard after the path"),
    Rule("wall-clock", outside("core/base/system_clock", "backends/redis/net/", "bench/", "tools/", "third_party/"),
         calls(r"std::chrono::system_clock|(?:::)?gettimeofday\s*\(|(?:::)?clock_gettime\s*\(|absl::Now\s*\("
               r"|absl::GetCurrentTimeNanos\s*\(|(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&\s*\w+)?\s*\)"),
         "take a base::Clock and call Now()"),
    Rule("steady-clock", only(OURS, ("core/base/system_clock", "backends/redis/", "sim/cli/", "sim/server/")),
         calls(r"std::chrono::(?:steady_clock|high_resolution_clock)"),
         "take a base::Clock and call Now()"),
    Rule("sleep", only(OURS + ("tests/",), ("core/base/system_clock", "backends/redis/net/")),
         calls(r"absl::SleepFor\s*\(|std::this_thread::sleep_\w+|(?:::)?u?sleep\s*\(|(?:::)?nanosleep\s*\("),
         "await base::Clock::SleepUntil(), or wait for the event itself"),
    Rule("randomness", outside("backends/redis/net/", "bench/", "tools/", "third_party/"),
         calls(r"(?:std::|::)?s?rand\s*\(|std::random_device|absl::(?:Insecure)?BitGen\b|std::random_shuffle"),
         "take a base::Rng, which is seeded"),
    Rule("unordered-iteration", inside(*OURS), check_unordered_iteration,
         "iterate over absl::btree_map or std::vector, or sort first: a hash order differs in every process"),
    Rule("function-length", outside("third_party/"), check_function_length,
         f"split it: {MAX_FUNCTION_LINES} lines at most, mostly under 25"),
    Rule("file-length", outside("third_party/"), check_file_length,
         f"split it: {MAX_FILE_LINES} lines at most, mostly under 300"),
    Rule("todo", outside(), comments(r"\b(?:TODO|FIXME|XXX|HACK)\b"),
         "do it, or open an issue; the code says what is, not what might be"),
    Rule("dead-code", outside(), comments(_DEAD_CODE), "delete it; the history keeps it (indent an example by four)"),
    Rule("comment-table", outside(), comments(_TORN_TABLE),
         "make it a list, or its rows fit the line: the formatter has taken the table for running text"),
    Rule("banner", outside(), comments(r"^//\s*[-=*#/~]{4,}"), "let a sentence say what follows"),
]
