"""Finds results in tests that are dereferenced before anything has checked them.

`*result` and `result->` of an absl::StatusOr that is an error, or of an empty std::optional, end the
test program, and with it all tests that follow; `result.value()` fails one test. The check knows a
variable by its declared type, or by `auto` before Run(...) or co_await, and looks in the rest of its
block. It does not follow functions and containers.
"""

import re

_DECLARED = re.compile(
    r"(?P<condition>(?:if|while|for) \()?\b(?:const )?"
    r"(?:absl::StatusOr<[^;={}]*>&? (?P<result>\w+)\s*(?:=[^;]*)?;"
    r"|std::optional<[^;={}]*>&? (?P<optional>\w+)\s*=[^;]*\([^;]*;"
    r"|auto&? (?P<auto>\w+)\s*=\s*(?:co_await |(?:base::|this->)?Run\()[^;]*;)")
_VALUE = re.compile(r"\.value\(\)\s*;$")
# A name follows, and whatever follows it shows that it was looked at.
_CHECK = r"(?:\b(?:\w*ASSERT\w*|RC_PRE|assert|REDOUBLE_\w*RETURN_IF_ERROR|if|while) ?\([^;{}]*\b%s\b(?!->)" \
         r"|\b%s\.(?:ok|has_value|value)\(\)|\b%s (?:&&|\|\||\?|==|!=) )"


def check_dereferences(source, _):
    for match in _DECLARED.finditer(source.code):
        if match.group("condition") or _VALUE.search(match.group(0)):
            continue
        name = match.group("result") or match.group("optional") or match.group("auto")
        block = _rest_of_block(source.code, match.end())
        use = _first_dereference(block, name)
        if use is not None and not re.search(_CHECK.replace("%s", name), block[:use]):
            yield source.line_of(match.end() + use), f"{name} is dereferenced, and nothing has checked it"


def _rest_of_block(code, position):
    depth = 0
    for brace in re.compile(r"[{}]").finditer(code, position):
        depth += 1 if brace.group(0) == "{" else -1
        if depth < 0:
            return code[position : brace.start()]
    return code[position:]


def _first_dereference(block, name):
    """Where `name->`, `*name` or `*std::move(name)` is first; a factor is not a dereference."""
    for use in re.finditer(rf"(?<![\w.>])(?:{name}->|\*(?:std::move\()?{name}\b(?!\.|->))", block):
        before = block[: use.start()].rstrip()
        is_factor = use.group(0)[0] == "*" and re.search(r"[\w)\]]$", before) and not re.search(r"\breturn$", before)
        if not is_factor:
            return use.start()
    return None
