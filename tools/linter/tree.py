"""The files below a folder, read once, and what rules ask of them all."""

import fnmatch
import functools
import hashlib
import os
import re
import subprocess

from cpp_source import CppSource
from text_source import Page, TextSource

_LUA = "/usr/include/lua5.1"
CACHE = os.path.expanduser("~/.cache/redouble/lint")

CPP = (".h", ".cc", ".inc", ".c")
_TEXT = (".py", ".bzl", ".bazel", ".sh", ".lua", ".cjs", ".mjs", ".cts", ".mts", ".json", ".jsonl")
_DATA = ("tests/data/",)

# Folders that tools write: Bazel, CMake, Python, pip and npm.
_WRITTEN = re.compile(r"\.|bazel-|__pycache__$|build$|node_modules$|.*\.egg-info$")


class Tree:
    """`root` is a folder; compiled headers are remembered below `cache`."""

    def __init__(self, root, cache=None):
        self._root = root
        self._cache = cache or CACHE
        self._sources = {}
        self._derived = {}

    def list_files(self):
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(f for f in folders if not _WRITTEN.match(f))
            for name in sorted(files):
                yield os.path.relpath(os.path.join(folder, name), self._root)

    def read(self, path):
        """The text of a file, or None when there is none."""
        try:
            with open(os.path.join(self._root, path), encoding="utf-8") as file:
                return file.read()
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):
            return None

    @functools.cached_property
    def files(self):
        return list(self.list_files())

    @functools.cached_property
    def file_set(self):
        return frozenset(self.files)

    @functools.cached_property
    def folders(self):
        found = set()
        for path in self.files:
            while "/" in path:
                path = path.rsplit("/", 1)[0]
                found.add(path)
        return frozenset(found)

    @functools.cached_property
    def _stems(self):
        return frozenset(os.path.splitext(path)[0] for path in self.files)

    def paths(self):
        """The files that rules look at, in order."""
        return [path for path in self.files if self.source(path)]

    def sources(self, *endings):
        """Those of `paths` that end so."""
        return [self.source(path) for path in self.paths() if path.endswith(endings or "")]

    def source(self, path):
        """The source of `path`; None when there is no such file, or nothing in it that a rule reads."""
        if path not in self._sources:
            kind = self._kind(path)
            text = self.read(path) if kind else None
            self._sources[path] = None if text is None else kind(path, text)
        return self._sources[path]

    def _kind(self, path):
        if path.endswith(CPP):
            return CppSource
        if path.endswith(".md"):
            return Page
        if path.endswith(_TEXT):
            return None if path.startswith(_DATA) and path.endswith(".json") else TextSource
        return TextSource if re.fullmatch(r"tools/\w+", path) else None

    def exists(self, path):
        """Whether a path that prose names is there: a file with or without extension, a folder, a pattern."""
        path = path.rstrip("/")
        if path in self.file_set or path in self.folders or path in self._stems:
            return True
        if re.search(r"[*{<]", path):
            return any(self._matches(each) for each in _braces(re.sub(r"<[^>]*>", "*", path)))
        folder, _, name = path.rpartition("/")
        return self.has_target(folder, name)

    def _matches(self, pattern):
        names = self.file_set | self.folders | self._stems
        return pattern in names or any(fnmatch.fnmatchcase(name, pattern) for name in names)

    def has_target(self, folder, name):
        """Whether the BUILD file of a folder, or one of its macros, names such a target."""
        text = self.read(f"{folder}/BUILD.bazel" if folder else "BUILD.bazel")
        return text is not None and (re.search(rf'"{re.escape(name)}"|\b{re.escape(name)}\(', text) is not None)

    def derive(self, function):
        """function(self), computed once."""
        if function not in self._derived:
            self._derived[function] = function(self)
        return self._derived[function]

    @functools.cached_property
    def include_graph(self):
        """{C++ file: [(line, C++ file that it includes)]}, our own files only."""
        return {
            source.path: [(i.line, i.path) for i in source.includes() if i.path in self.file_set]
            for source in self.sources(*CPP)
        }

    @property
    def include_folder(self):
        """A folder for -I in which `redouble` is this tree."""
        key = hashlib.sha256(os.path.realpath(self._root).encode()).hexdigest()[:16]
        folder = os.path.join(self._cache, "include", key)
        link = os.path.join(folder, "redouble")
        if not os.path.islink(link):
            os.makedirs(folder, exist_ok=True)
            try:
                os.symlink(os.path.realpath(self._root), link)
            except FileExistsError:
                pass  # Another lint of this tree was faster.
        return folder

    def compile_error(self, path):
        """The compiler's first error when the header is compiled alone, or None.

        That takes a second, so what compiled is remembered, as an empty file named by the digest of
        all that was compiled.
        """
        headers = os.path.join(self._cache, "headers")
        proof = os.path.join(headers, self._digest(path))
        if os.path.exists(proof):
            return None
        command = ["g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-I", self.include_folder, "-I", "include",
                   "-isystem", _LUA, path]
        result = subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)
        if result.returncode == 0:
            os.makedirs(headers, exist_ok=True)
            open(proof, "wb").close()
            return None
        errors = [line for line in result.stderr.splitlines() if "error:" in line]
        return errors[0].strip() if errors else f"g++ exited with {result.returncode}"

    def _digest(self, path):
        """Of a file and every file of ours that it includes, directly or not."""
        reached = {path: None}
        waiting = [path]
        while waiting:
            for include in self.source(waiting.pop()).includes():
                if include.path not in reached and include.prefixed and self.source(include.path):
                    reached[include.path] = None
                    waiting.append(include.path)
        digest = hashlib.sha256(_LUA.encode())
        for each in sorted(reached):
            digest.update(f"\0{each}\n{self._text_digest(each)}".encode())
        return digest.hexdigest()

    @functools.lru_cache(maxsize=None)
    def _text_digest(self, path):
        return hashlib.sha256("\n".join(self.source(path).lines).encode()).hexdigest()


def _braces(pattern):
    """Every reading of a pattern with {a,b} in it."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    parts = [part.strip() for part in match.group(1).split(",")]
    return [each for part in parts for each in _braces(pattern[: match.start()] + part + pattern[match.end() :])]
