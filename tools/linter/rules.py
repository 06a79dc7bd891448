"""The rules of the lint: two tables, FILE_RULES and TREE_RULES.

A rule says what is banned, where it applies, and what to use instead. A line may break a rule for a
reason that it gives:

    clock_gettime(CLOCK_MONOTONIC, &now);  // lint: wall-clock: the child's clock is real on purpose

or with the comment on the line above (`#` in BUILD files and scripts, `<!-- -->` in pages). A comment
that excuses nothing is itself reported.
"""

from collections import namedtuple

from citations import check_paths, check_sections
from cpp_rules import (
    FOLDERS, MAX_FILE_LINES, MAX_FUNCTION_LINES, calls, check_abi_namespace, check_file_length, check_function_length, check_guard,
    check_prefix, check_propagation, check_self_contained, check_unordered_iteration, comments, includes_header, DEAD_CODE, TORN_TABLE,
)
from dereferences import check_dereferences
from folders import (
    MAX_FOLDER_FILES, PROGRAM, PUBLIC, SIMULATOR, check_direction, check_exemptions, check_folder_cycles, check_folder_size,
    is_test,
)
from names import check_names
from one_home import check_dead_files, check_error_texts, check_table_readers
from prose import MIN_INTRODUCTION_LINES, check_introduction, check_phrases, check_thread_safety
from reference import check_documented
from round_trips import check_round_trips

# check(source, tree) yields (line, what was found); `tree` is tree.Tree: other sources, and the
# compiler.
Rule = namedtuple("Rule", "id applies check instead")

# check(tree) yields (path, line, what was found).
TreeRule = namedtuple("TreeRule", "id check instead")

OURS = ("core/", "backends/", "sim/")

# Every prefix that a scope below names; one that matches no file is a finding.
_prefixes = set(SIMULATOR + PROGRAM + FOLDERS)


def inside(*prefixes):
    _prefixes.update(prefixes)
    return lambda path: path.startswith(prefixes)


def outside(*prefixes):
    _prefixes.update(prefixes)
    return lambda path: not path.startswith(prefixes)


def only(scope, exempt):
    """Applies below `scope`, but not below `exempt`."""
    _prefixes.update(scope, exempt)
    return lambda path: path.startswith(scope) and not path.startswith(exempt)


def but_not_tests(applies):
    return lambda path: applies(path) and not is_test(path)


def but_not_in(applies, exempt):
    _prefixes.update(exempt)
    return lambda path: applies(path) and not path.startswith(exempt)


def but_not_scripts(applies):
    return lambda path: applies(path) and not path.endswith(".lua")


def ending(*endings):
    return lambda path: path.endswith(endings)


def cpp(applies):
    return lambda path: path.endswith((".h", ".cc")) and applies(path)


def is_header(path):
    return path.endswith(".h") and path.startswith(OURS + ("tests/", "bench/"))


def is_library_header(path):
    return path.endswith(".h") and path.startswith((PUBLIC, *OURS)) and not is_test(path)


def is_test_program(path):
    return path.endswith(("_test.cc", "_for_test.h")) and path.startswith(OURS + ("tests/", "scenarios/"))


# Not ours, or examples of what is wrong.
UNCITED = ("third_party/", "tools/linter/")

# The rules of single files.
FILE_RULES = [
    Rule("include-prefix", cpp(inside(PUBLIC, *FOLDERS)), check_prefix,
         'write #include "redouble/<path below the root>", as users of the library do'),
    Rule("include-direction", cpp(inside(PUBLIC, *FOLDERS)), check_direction,
         "keep to the arrows: systems -> core/store -> core/base; backends -> core/store; the simulator -> core and "
         "backends/memory; the program -> the simulator; what needs more belongs to tests/ or sim/cli/; include/ and "
         "the folders `testing` are installed, tests/ is not"),
    Rule("include-asio", cpp(only(OURS, ("backends/redis/net/", "sim/server/"))),
         includes_header(r"boost/asio"),
         "put the socket into backends/redis/net/ (or sim/server/) and the logic into a sans-I/O machine"),
    Rule("include-hiredis", cpp(inside(*OURS)), includes_header(r"hiredis"), "use core/store/resp/"),
    Rule("include-lua", cpp(only(OURS, ("backends/memory/scripting/",))),
         includes_header(r"(?:lua5\.1/)?(?:lua|lauxlib|lualib|luaconf)\.h"),
         "use backends/memory/scripting/"),
    Rule("include-platform",
         cpp(but_not_tests(only(("core/", "backends/memory/"), ("core/base/time/system_clock", "core/base/posix/")))),
         includes_header(r"(?:thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|poll\.h"
                         r"|pthread\.h|sys/(?:socket|select|poll|epoll|eventfd|timerfd|un)\.h|netinet/.*|arpa/.*"
                         r"|netdb\.h|absl/synchronization/.*)$"),
         "use base::Task and base::Clock; there are no threads or sockets here"),
    Rule("header-self-contained", is_header, check_self_contained,
         "include what it uses, and include it first in its .cc, so that compiling that proves it"),
    Rule("header-guard", is_header, check_guard, "name the guard after the path"),
    Rule("abi-namespace", cpp(inside(PUBLIC, *FOLDERS)), check_abi_namespace,
         "open `namespace redouble::inline v<major>_<minor>::<name>`: two versions in one program stay apart"),
    Rule("wall-clock",
         cpp(outside("core/base/time/system_clock", "backends/redis/net/", "bench/", "tools/", "third_party/")),
         calls(r"std::chrono::system_clock|(?:::)?gettimeofday\s*\(|(?:::)?clock_gettime\s*\(|absl::Now\s*\("
               r"|absl::GetCurrentTimeNanos\s*\(|(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&\s*\w+)?\s*\)"),
         "take a base::Clock and call Now()"),
    Rule("steady-clock", cpp(only(OURS, ("core/base/time/system_clock", "backends/redis/", "sim/cli/", "sim/server/"))),
         calls(r"std::chrono::(?:steady_clock|high_resolution_clock)"),
         "take a base::Clock and call Now()"),
    Rule("sleep", cpp(only(OURS + ("tests/",), ("core/base/time/system_clock", "backends/redis/net/"))),
         calls(r"absl::SleepFor\s*\(|std::this_thread::sleep_\w+|(?:::)?u?sleep\s*\(|(?:::)?nanosleep\s*\("),
         "await base::Clock::SleepUntil(), or wait for the event itself"),
    Rule("randomness", cpp(outside("backends/redis/net/", "bench/", "tools/", "third_party/")),
         calls(r"(?:std::|::)?s?rand\s*\(|std::random_device|absl::(?:Insecure)?BitGen\b|std::random_shuffle"),
         "take a base::Rng, which is seeded"),
    Rule("conditional-await", cpp(outside("third_party/")), calls(r"\?[^;?{}]*\bco_await\b"),
         "use `if`: g++ 12 destroys a result twice when a conditional expression awaits"),
    Rule("unordered-iteration", cpp(inside(*OURS)), check_unordered_iteration,
         "iterate over absl::btree_map or std::vector, or sort first: a hash order differs in every process"),
    # Examples of other repositories use Abseil alone.
    Rule("propagated-error", cpp(only(OURS + ("tests/", "bench/"), ("tests/examples/", "tests/consumer/"))),
         check_propagation, "write REDOUBLE_RETURN_IF_ERROR(status) or REDOUBLE_ASSIGN_OR_RETURN(T value, ...); in "
         "coroutines the forms with CO_"),
    # Examples are as short as a reader writes them.
    Rule("unchecked-dereference", cpp(but_not_in(is_test_program, ("tests/examples/",))), check_dereferences,
         "ASSERT_OK_AND_ASSIGN(const T value, ...), or ASSERT_THAT(result, IsOk()) first; result.value() outside of a "
         "test's body"),
    Rule("function-length", cpp(outside("third_party/")), check_function_length,
         f"split it: {MAX_FUNCTION_LINES} lines at most, mostly under 25"),
    Rule("file-length", cpp(outside("third_party/")), check_file_length,
         f"split it: {MAX_FILE_LINES} lines at most, mostly under 300"),
    Rule("todo", cpp(outside()), comments(r"\b(?:TODO|FIXME|XXX|HACK)\b"),
         "do it, or open an issue; the code says what is, not what might be"),
    Rule("dead-code", cpp(outside()), comments(DEAD_CODE),
         "delete it; the history keeps it (indent an example by four)"),
    Rule("comment-table", cpp(outside()), comments(TORN_TABLE),
         "make it a list, or its rows fit the line: the formatter has taken the table for running text"),
    Rule("banner", cpp(outside()), comments(r"^//\s*[-=*#/~]{4,}"), "let a sentence say what follows"),
    Rule("table-readers", ending(".inc"), check_table_readers,
         "list in the comment that opens the table, after `Readers:`, the files that include it"),
    Rule("thread-safety", is_library_header, check_thread_safety,
         "say in the comment that opens the header who may call it: a `Thread-safety:` line"),
    Rule("introduction", is_library_header, check_introduction,
         f"open the header with {MIN_INTRODUCTION_LINES} lines at least: what it is, when to use it, an example"),
    Rule("cited-path", outside(*UNCITED), check_paths,
         "cite what is in the repository: a path from the root, a link from the page"),
    Rule("cited-section", outside(*UNCITED), check_sections,
         "cite a heading of the page: `docs/systems/gateway.md 4.2` or `R10`"),
    # A changelog names what is gone, and a page about migration what other libraries have.
    Rule("cited-name", outside(*UNCITED, "CHANGELOG.md", "docs/migrate/"), check_names,
         "name what the code has, or add an outside function to tools/linter/names.py"),
    # The comments of a Lua script are part of its text, and so of its SHA-1, which other programs know.
    Rule("plain-english", but_not_scripts(outside(*UNCITED)), check_phrases,
         "subject, verb, object; Redis's own words (tools/linter/prose.py has the table)"),
]

# The rules of the tree as a whole.
TREE_RULES = [
    TreeRule("folder-cycle", check_folder_cycles,
             "no two folders include each other: move what both need below both"),
    TreeRule("folder-size", check_folder_size,
             f"{MAX_FOLDER_FILES} at most: make a folder of the files that belong together"),
    TreeRule("dead-file", check_dead_files, "delete it, or let a BUILD file, an #include or a page name it"),
    TreeRule("one-home", check_error_texts, "write the text once, where both can include it"),
    TreeRule("undocumented-name", check_documented,
             "say what it is in a comment above it; it is part of the interface in include/"),
    TreeRule("round-trips", check_round_trips,
             "measure it in a row of the table, or say below the table why it has no row"),
    TreeRule("stale-exemption", check_exemptions(lambda: _prefixes), "mend the path, or drop it from the rule"),
]

# Rules that are not asked yet, except by `lint.py --all`: the tree does not follow them so far.
OFF = set()

RULES = FILE_RULES + TREE_RULES
