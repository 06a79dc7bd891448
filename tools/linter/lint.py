"""Checks the project's C++ files against rules.py. Usage: lint.py ROOT [FILE...]

Prints `file:line: rule: what was found -- what to use instead`, and exits with 1 when there is anything to say.
FILEs are relative to ROOT; without them every .h and .cc below ROOT is checked.
"""

import hashlib
import os
import re
import subprocess
import sys

from cpp_source import CppSource
from rules import RULES

_LUA = "/usr/include/lua5.1"
_CACHE = os.path.expanduser("~/.cache/redouble/headers")
_EXCUSE = re.compile(r"lint: ([\w-]+)(?:: (\S.*))?")


class Tree:
    """The sources below a folder, read once."""

    def __init__(self, root, cache=None):
        self._root = root
        self._cache = cache or _CACHE
        self._sources = {}

    def paths(self):
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "bazel-")))
            for name in sorted(files):
                if name.endswith((".h", ".cc")):
                    yield os.path.relpath(os.path.join(folder, name), self._root)

    def source(self, path):
        """The CppSource of `path`, or None when there is no such file."""
        if path not in self._sources:
            try:
                with open(os.path.join(self._root, path), encoding="utf-8") as file:
                    self._sources[path] = CppSource(path, file.read())
            except FileNotFoundError:
                self._sources[path] = None
        return self._sources[path]

    def compile_error(self, path):
        """The compiler's first error when the header is compiled alone, or None.

        That takes a second, so what compiled is remembered, as an empty file named by the digest of
        all that was compiled.
        """
        proof = os.path.join(self._cache, self._digest(path))
        if os.path.exists(proof):
            return None
        command = ["g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-I", ".", "-isystem", _LUA, path]
        result = subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)
        if result.returncode == 0:
            os.makedirs(self._cache, exist_ok=True)
            open(proof, "wb").close()
            return None
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        return errors[0].strip() if errors else f"g++ exited with {result.returncode}"

    def _digest(self, path):
        """Of a file and every file of ours that it includes, directly or not."""
        reached = [path]
        for each in reached:
            for include in self.source(each).includes():
                if include.path not in reached and self.source(include.path):
                    reached.append(include.path)
        text = "\0".join("\n".join([each] + self.source(each).lines) for each in reached)
        return hashlib.sha256(text.encode()).hexdigest()


def excuses(source):
    """{(line, rule id): whether a reason is given}"""
    found = {}
    for comment in source.comments:
        match = _EXCUSE.search(comment.text)
        if match:
            found[(comment.line, match.group(1))] = match.group(2) is not None
    return found


def lint(source, tree, rules=RULES):
    """Every finding in one file, as (line, rule id, text), by line."""
    findings = []
    excused = excuses(source)
    used = set()
    for rule in rules:
        if not rule.applies(source.path):
            continue
        for line, what in rule.check(source, tree):
            excuse = next((key for key in ((line, rule.id), (line - 1, rule.id)) if key in excused), None)
            if excuse and excused[excuse]:
                used.add(excuse)
            else:
                findings.append((line, rule.id, f"{what} -- {rule.instead}"))
    for line, rule_id in excused.keys() - used:
        findings.append((line, "excuse", f"`lint: {rule_id}` excuses nothing here, or gives no reason -- delete it"))
    return sorted(findings)


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    tree = Tree(arguments[0])
    paths = arguments[1:] or list(tree.paths())
    findings = 0
    for path in paths:
        source = tree.source(path)
        if source is None:
            print(f"{path}: no such file", file=sys.stderr)
            return 2
        for line, rule_id, text in lint(source, tree):
            findings += 1
            print(f"{path}:{line}: {rule_id}: {text}")
    print(f"lint: {len(paths)} files, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
