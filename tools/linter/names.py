"""The check of functions, types and members that prose names: each is in the code of the tree.

`Name()`, and in a comment of C++ `TwoWords`, has to be an identifier of some C++, Lua or Python code; of
`Class::Name`, the class, and the name in a file that defines the class or in one that this file includes
(where its bases are).
"""

import re

from text_source import Page

# The first word of names that are not ours.
OUTSIDE_NAMESPACES = {"std", "absl", "boost", "asio", "testing", "nlohmann", "rc", "benchmark",
                      "CLI", "hiredis", "f64", "Redis"}

# What prose names of other people: Redis's own C code, exceptions of the documented systems, products, Abseil's
# constructors of errors.
OUTSIDE_NAMES = {
    "isoformat", "mstime",
    "AttributeError", "KeyError",
    "CapabilityRefreshError", "DuplicateServiceError", "OutboundUrlPolicyError", "PydanticSerializationError",
    "RecursionError", "RuntimeError", "ServiceNotFoundError", "UnicodeEncodeError", "CommandError",
    "GoogleTest", "HyperLogLogs", "McIlroy", "McKinley", "MessagePack", "MiBs", "MurmurHash2", "OpenTelemetry", "RapidCheck",
    "AlreadyExists", "DataLoss", "DeadlineExceeded", "FailedPrecondition", "InvalidArgument", "NotFound",
    "OutOfRange", "PermissionDenied", "ResourceExhausted", "Unavailable", "Unimplemented",
}

_QUALIFIED = re.compile(r"(?<![\w:])((?:[A-Za-z_]\w*::)+)(~?[A-Za-z_]\w*)(?!\w|::)")
_CALL = re.compile(r"(?<![\w:])([A-Za-z_]\w*)\(\)")
_CALL_IN_CODE_FONT = re.compile(r"(?<![\w:])([A-Z]\w*[a-z]\w*)\(")
_CODE_SPAN = re.compile(r"`([^`]+)`")
_MEMBER_CALL = re.compile(r"(?:\.|->)([A-Z]\w*)\(")
_TWO_WORDS = re.compile(r"(?<![\w\"'/.])([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?![\w\"'])")
_EXAMPLE = re.compile(r"^(?://|#|--)?\s{3,}")
_DEFINITION = re.compile(
    r"\b(?:(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[\w+\]\]\s*)?(\w+)(?:\s+final)?\s*(?:<[^;{}]*>)?"
    r"\s*(?:\{|:(?!:))"
    r"|using\s+(\w+)\s*=)"
)
_WORD = re.compile(r"[A-Za-z_]\w*")


class Names:
    """The identifiers of a tree."""

    def __init__(self, tree):
        self._tree = tree
        self._by_file = {}
        self._definitions = {}
        for source in tree.sources():
            raw = " ".join(each.text for each in source.literals if each.raw)
            self._by_file[source.path] = set(_WORD.findall(source.code)) | set(_WORD.findall(raw))
            for match in _DEFINITION.finditer(source.code):
                self._definitions.setdefault(match.group(1) or match.group(2), set()).add(source.path)
        self._all = set().union(*self._by_file.values())
        rows = set().union(*(names for path, names in self._by_file.items() if path.endswith(".inc")))
        self._enumerators = {"k" + name for name in rows if name[0].isupper()}
        self._all |= self._enumerators

    def has(self, name):
        return name in self._all or name in OUTSIDE_NAMES

    def has_member(self, scopes, name):
        """Whether the innermost of `scopes` is a class with such a member, or a namespace and the name is known."""
        if not all(self.has(each) for each in [*scopes, name]):
            return False
        files = self._definitions.get(scopes[-1])
        if not files or name in self._enumerators:
            return True
        graph = self._tree.include_graph
        near = files | {other for path in files for _, other in graph.get(path, ())}
        near |= {path[: -len(".h")] + ".cc" for path in files if path.endswith(".h")}
        return any(name in self._by_file.get(path, ()) for path in near)


def check_names(source, tree):
    names = tree.derive(Names)
    for line, text, in_code_font in _prose(source):
        for match in _QUALIFIED.finditer(text):
            scopes = match.group(1).split("::")[:-1]
            if scopes[0] not in OUTSIDE_NAMESPACES and not names.has_member(scopes, match.group(2).lstrip("~")):
                yield line, match.group(0)
        if _EXAMPLE.match(text):
            # An example may call and define what its reader has; what it calls of an object is ours.
            calls = set(_MEMBER_CALL.findall(text))
        else:
            # Pages name the classes of the documented systems, too.
            calls = set(_CALL.findall(text)) | set(() if in_code_font else _TWO_WORDS.findall(text))
        for span in [text] if in_code_font else _CODE_SPAN.findall(text):
            calls |= set(_CALL_IN_CODE_FONT.findall(span))
        for name in sorted(calls):
            if not names.has(name):
                yield line, name


def _prose(source):
    """(line, text, whether it is in code font): comments whole, of pages what is in code font."""
    if not isinstance(source, Page):
        for comment in source.comments:
            yield comment.line, comment.text, False
        return
    outside_fences = {line for line, _ in source.text_lines}
    for line, text in source.comments:
        if line in outside_fences:
            for span in _CODE_SPAN.findall(text):
                yield line, span, True
