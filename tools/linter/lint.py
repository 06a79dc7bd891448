"""Checks the project's files against rules.py. Usage: lint.py [--all] ROOT [FILE...]

Prints `file:line: rule: what was found -- what to use instead`, and exits with 1 when there is anything to say.
FILEs are relative to ROOT; without them every file below ROOT is checked, and the tree as a whole.
--all asks the rules that are still OFF, too.
"""

import re
import sys

from cpp_source import CppSource
from rules import FILE_RULES, OFF, TREE_RULES
from tree import Tree

_EXCUSE = re.compile(r"lint: ([\w-]+)(?:: (\S.*))?")
_IDLE_EXCUSE = "`lint: %s` excuses nothing here, or gives no reason -- delete it"
_TREE_RULE_IDS = {rule.id for rule in TREE_RULES}
_MARKED_EXCUSE = re.compile(r"^\s*(?:#|--|<!--) lint: ([\w-]+)(?:: (\S.*))?")


def excuses(source):
    """{(line, rule id): whether a reason is given}"""
    found = {}
    pattern = _EXCUSE if isinstance(source, CppSource) else _MARKED_EXCUSE
    for comment in source.comments:
        match = pattern.search(comment.text)
        if match:
            found[(comment.line, match.group(1))] = match.group(2) is not None
    return found


def lint(source, tree, rules=None):
    """Every finding in one file, as (line, rule id, text), by line."""
    findings = []
    excused = excuses(source)
    used = set()
    for rule in rules or FILE_RULES:
        if not rule.applies(source.path):
            continue
        for line, what in rule.check(source, tree):
            excuse = next((key for key in ((line, rule.id), (line - 1, rule.id)) if key in excused), None)
            if excuse and excused[excuse]:
                used.add(excuse)
            else:
                findings.append((line, rule.id, f"{what} -- {rule.instead}"))
    for line, rule_id in excused.keys() - used:
        if rule_id not in _TREE_RULE_IDS | OFF:
            findings.append((line, "excuse", _IDLE_EXCUSE % rule_id))
    return sorted(findings)


def lint_tree(tree, rules=None):
    """Every finding in the tree as a whole, as (path, line, rule id, text)."""
    excused = {(source.path, *key): reason for source in tree.sources() for key, reason in excuses(source).items()
               if key[1] in _TREE_RULE_IDS}
    used = set()
    for rule in rules or TREE_RULES:
        for path, line, what in rule.check(tree):
            keys = ((path, line, rule.id), (path, line - 1, rule.id))
            excuse = next((key for key in keys if excused.get(key)), None)
            if excuse:
                used.add(excuse)
            else:
                yield path, line, rule.id, f"{what} -- {rule.instead}"
    for path, line, rule_id in sorted(excused.keys() - used):
        yield path, line, "excuse", _IDLE_EXCUSE % rule_id


def main(arguments):
    rules = FILE_RULES if "--all" in arguments else [rule for rule in FILE_RULES if rule.id not in OFF]
    arguments = [argument for argument in arguments if argument != "--all"]
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    tree = Tree(arguments[0])
    paths = arguments[1:] or tree.paths()
    findings = 0
    for path in paths:
        source = tree.source(path)
        if source is None:
            print(f"{path}: no such file", file=sys.stderr)
            return 2
        for line, rule_id, text in lint(source, tree, rules):
            findings += 1
            print(f"{path}:{line}: {rule_id}: {text}")
    for path, line, rule_id, text in lint_tree(tree) if len(arguments) == 1 else ():
        findings += 1
        print(f"{path}:{line}: {rule_id}: {text}")
    print(f"lint: {len(paths)} files, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
