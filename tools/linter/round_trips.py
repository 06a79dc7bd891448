"""Checks that the tables of round trips name every operation of the systems.

The operations of a system are the public functions that return a Task, of the classes in its facade's header, in the
headers of the system that this one includes, and in those of the system's public header. The section `Round trips` of its page names each of them in backquotes: in a
row of the table, whose numbers a test measures, or below it with the reason why there is no row.
"""

import re

FACADES = {
    "gateway": "core/gateway/app/admission.h",
    "korvet": "core/korvet/broker/broker.h",
    "orchestrator": "core/orchestrator/app/engine.h",
    "relayna": "core/relayna/sdk/sdk.h",
    "studio": "core/studio/app/studio.h",
    "threescale": "core/threescale/backend/backend.h",
}

_SECTION = re.compile(r"^### \S+ Round trips\n(.*?)(?=^#|\Z)", re.M | re.S)
_NAMED = re.compile(r"`(\w+::\w+)`")
_CLASS = re.compile(r"^class (\w+)")
_ACCESS = re.compile(r"^ (public|private|protected):")
_OPERATION = re.compile(r"^  (?:static )?base::Task<.*>\s(\w+)\(")


def check_round_trips(tree):
    for system, facade in FACADES.items():
        page = f"docs/systems/{system}.md"
        text = tree.read(page)
        if text is None:
            continue
        section = _SECTION.search(text)
        if not section:
            yield page, 1, "no section `Round trips`"
            continue
        line = text.count("\n", 0, section.start()) + 1
        named = set(_NAMED.findall(section[1]))
        operations = set()
        public = f"include/redouble/{system}.h"
        for path in dict.fromkeys([facade, *_headers_of(tree, system, facade), *_headers_of(tree, system, public)]):
            operations |= _operations(tree.read(path) or "")
        for operation in sorted(operations - named):
            yield page, line, f"no row with `{operation}`"


def _headers_of(tree, system, facade):
    includes = re.findall(r'^#include "redouble/([^"]+)"', tree.read(facade) or "", re.M)
    return [path for path in includes if path.startswith(f"core/{system}/")]


def _operations(text):
    """What a caller can await, as Class::Function. What implements an interface belongs to the program or to another table."""
    found = set()
    name, is_public = None, False
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _CLASS.match(line) and not line.endswith(";"):
            name, is_public = _CLASS.match(line)[1], False
        elif line.startswith("}"):
            name = None
        elif _ACCESS.match(line):
            is_public = _ACCESS.match(line)[1] == "public"
        elif name and is_public and _OPERATION.match(line):
            declaration = "\n".join(lines[number:]).split(";")[0]
            if not declaration.endswith(" override"):
                found.add(f"{name}::{_OPERATION.match(line)[1]}")
    return found
