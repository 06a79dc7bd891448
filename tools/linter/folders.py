"""Checks of folders: the arrows between them, their sizes, and the folders that the rules name.

The check of one file takes (source, tree) and yields (line, what); the check of a tree takes the tree
and yields (path, line, what).
"""

import posixpath

from cpp_rules import FOLDERS

MAX_FOLDER_FILES = 31

_COUNTED = (".h", ".cc", ".inc", ".c", ".lua", ".py", "BUILD.bazel")

# The simulator and the program that is built on it.
SIMULATOR = ("sim/world/", "sim/cluster/", "sim/fault/", "sim/decision/", "sim/explore/", "sim/check/", "sim/trace/", "sim/json/")
PROGRAM = ("sim/storm/", "sim/scenario/", "sim/operations/", "sim/server/", "sim/inspect/", "sim/cli/",
           "sim/migrate/", "sim/recording/", "sim/world_file/")

# The headers that other workspaces include.
PUBLIC = "include/"

# What may include anything.
_TOP = ("tests/", "bench/", "scenarios/")


_OWN_TESTS = ("_test.cc", "_for_test.h")


def is_test(path):
    return path.endswith(_OWN_TESTS) or "/testing/" in path


# Arrows.


def allowed_folders(path):
    """The folders whose headers a file may include, or None when it may include any."""
    own = "/".join(path.split("/")[:2]) + "/"
    test_only = ("backends/testing/",) if is_test(path) else ()
    # The headers of the folders `testing` are installed, and so they include none of ours that are not.
    test_only += ("tests/",) if path.endswith(_OWN_TESTS) else ()
    if path.startswith(PUBLIC):
        return ("core/", "backends/", "sim/")
    if path.startswith("core/"):
        # A system's unit tests run on the embedded engine.
        test_only += ("backends/memory/",) if is_test(path) else ()
        return (own, *_BELOW.get(own, ("core/python/", "core/store/", "core/base/"))) + test_only
    if path.startswith("backends/testing/"):
        return ("backends/", "core/store/", "core/base/") + test_only
    if path.startswith("backends/"):
        return (own, "core/store/", "core/base/") + test_only
    if path.startswith("sim/cluster/"):
        # A world's client of a cluster has the machine of the live one, which does no I/O.
        return SIMULATOR + ("core/", "backends/memory/", "backends/redis/fsm/", "backends/redis/options.h") + test_only
    if path.startswith(SIMULATOR):
        return SIMULATOR + ("core/", "backends/memory/") + test_only
    if path.startswith("sim/"):
        live = ("backends/redis/",) if path.startswith("sim/cli/") else ()
        return ("sim/", "core/", "backends/memory/") + live + test_only
    return None if path.startswith(_TOP) else FOLDERS


_BELOW = {"core/base/": (), "core/python/": ("core/base/",), "core/store/": ("core/base/",)}


def check_direction(source, _):
    allowed = allowed_folders(source.path)
    for include in source.includes():
        if allowed is not None and include.path.startswith(FOLDERS) and not include.path.startswith(allowed):
            yield include.line, f'#include "{include.path}"'


def folder_graph(tree):
    """{folder: {folder: (path, line, included path)}}: one include of each edge, tests left out."""
    graph = {}
    for path, includes in tree.include_graph.items():
        if is_test(path) or not path.startswith(FOLDERS):
            continue
        folder = posixpath.dirname(path)
        for line, included in includes:
            other = posixpath.dirname(included)
            if other != folder:
                graph.setdefault(folder, {}).setdefault(other, (path, line, included))
    return graph


def check_folder_cycles(tree):
    """One finding for each folder that can reach itself, unless a shorter cycle names it already."""
    graph = folder_graph(tree)
    cycles = sorted(filter(None, (_shortest_cycle(graph, folder) for folder in sorted(graph))), key=len)
    named = set()
    for cycle in cycles:
        if not named.issuperset(cycle):
            named.update(cycle)
            edges = [graph[a][b] for a, b in zip(cycle, cycle[1:] + cycle[:1])]
            proof = "; ".join(f"{path}:{line} includes {included}" for path, line, included in edges)
            yield edges[0][0], edges[0][1], " -> ".join(cycle + cycle[:1]) + f" ({proof})"


def _shortest_cycle(graph, start):
    came_from = {start: None}
    waiting = [start]
    for folder in waiting:
        for other in sorted(graph.get(folder, ())):
            if other == start:
                cycle = []
                while folder is not None:
                    cycle.insert(0, folder)
                    folder = came_from[folder]
                return cycle
            if other not in came_from:
                came_from[other] = folder
                waiting.append(other)
    return None


# Sizes.


def check_folder_size(tree):
    files = {}
    for path in tree.files:
        if path.endswith(_COUNTED):
            files.setdefault(posixpath.dirname(path), []).append(path)
    for folder, paths in sorted(files.items()):
        if len(paths) > MAX_FOLDER_FILES:
            yield folder, 1, f"{len(paths)} source files"


# The lint's own exemptions.


def check_exemptions(prefixes):
    """Finds prefixes in the rules that match no file any more, if this is the tree of the rules."""

    def check(tree):
        if "tools/linter/rules.py" in tree.file_set:
            for prefix in sorted(prefixes()):
                if not any(path.startswith(prefix) for path in tree.files):
                    yield "tools/linter/rules.py", 1, f"no file begins with {prefix}"

    return check
