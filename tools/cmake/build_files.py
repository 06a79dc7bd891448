"""Reads BUILD files. Starlark is a subset of Python, so they are executed with rules that record.

Only what the project's BUILD files use is defined; anything else is a NameError that names it.
"""

import os

_RULES = (
    "cc_binary",
    "cc_library",
    "cc_test",
    "filegroup",
    "genrule",
    "py_binary",
    "py_library",
    "py_test",
    "sh_binary",
    "sh_test",
)
_IGNORED_CALLS = ("exports_files", "package", "licenses", "register_toolchains", "toolchain")


class BuildFileError(Exception):
    """A label that names nothing, or a BUILD file that uses what this module does not define."""


class Rule:
    """One target: its kind ("cc_library"), its package and the attributes as they were written."""

    def __init__(self, kind, package, attributes):
        self.kind = kind
        self.package = package
        self.name = attributes["name"]
        self.attributes = attributes

    def get(self, attribute):
        return self.attributes.get(attribute, [])


class Label:
    """A label split into repository ("" is this one), package and name."""

    def __init__(self, text, package):
        self.repository, _, rest = text.rpartition("//") if "//" in text else ("", "", text)
        if "//" not in text and text.startswith("@"):
            self.repository, rest = text, ":" + text[1:]
        if "//" in text:
            self.package, colon, name = rest.partition(":")
            self.name = name if colon else self.package.rpartition("/")[2]
            if not colon and not self.package:
                self.name = self.repository[1:]
        else:
            self.package = "" if self.repository else package
            self.name = rest[1:] if rest.startswith(":") else rest
        self.repository = self.repository.lstrip("@")


class _Native:
    """Starlark's `native`: the rules, and questions about the package that is read."""

    def __init__(self, reader):
        self._reader = reader
        for kind in _RULES:
            setattr(self, kind, reader.recorder(kind))
        self.glob = reader.glob

    def package_name(self):
        return self._reader.package

    def repository_name(self):
        return "@"

    def existing_rules(self):
        rules = self._reader.packages[self._reader.package]
        return {
            name: {"kind": rule.kind, "tags": rule.get("tags")} for name, rule in rules.items()
        }


class Workspace:
    """The packages below a root folder, read when a label first names them."""

    def __init__(self, root):
        self.root = root
        self.package = None
        self.packages = {}
        self._bzl = {}
        self._native = _Native(self)

    def recorder(self, kind):
        def record(**attributes):
            rule = Rule(kind, self.package, attributes)
            self.packages[self.package][rule.name] = rule

        return record

    def rule(self, label):
        """The rule of a label of this workspace; None if the label names a file."""
        return self._read(label.package).get(label.name)

    def producer(self, label):
        """The genrule that has the file `label` among its outputs, or None."""
        for rule in self._read(label.package).values():
            if rule.kind == "genrule" and label.name in rule.get("outs"):
                return rule
        return None

    def path(self, label):
        """The path of a file, relative to the root."""
        return "/".join(part for part in (label.package, label.name) if part)

    def is_file(self, label):
        return os.path.isfile(os.path.join(self.root, self.path(label)))

    def glob(self, include, exclude=()):
        """The files of the package that match, sorted; subfolders with a BUILD file are left out."""
        files = []
        top = os.path.join(self.root, self.package)
        for folder, subfolders, names in os.walk(top):
            subfolders[:] = [
                name
                for name in subfolders
                if not os.path.exists(os.path.join(folder, name, "BUILD.bazel"))
            ]
            inside = os.path.relpath(folder, top)
            files += [name if inside == "." else inside + "/" + name for name in names]
        return sorted(
            file
            for file in files
            if any(_matches(file, pattern) for pattern in include)
            and not any(_matches(file, pattern) for pattern in exclude)
        )

    def _read(self, package):
        if package not in self.packages:
            path = os.path.join(self.root, package, "BUILD.bazel")
            if not os.path.isfile(path):
                raise BuildFileError("no package //%s" % package)
            outer, self.package = self.package, package
            self.packages[package] = {}
            self._execute(path, package)
            self.package = outer
        return self.packages[package]

    def constants(self, label_text):
        """The globals of a .bzl file, as a dictionary."""
        label = Label(label_text, "")
        path = os.path.join(self.root, self.path(label))
        if path not in self._bzl:
            self._bzl[path] = self._execute(path, label.package)
        return self._bzl[path]

    def _execute(self, path, package):
        scope = {"native": self._native, "glob": self.glob, "True": True, "False": False}
        scope["select"] = lambda branches: branches["//conditions:default"]
        scope.update({kind: self.recorder(kind) for kind in _RULES})
        scope.update({name: lambda *_, **__: None for name in _IGNORED_CALLS})

        def load(label_text, *names):
            label = Label(label_text, package)
            for name in names:
                if label.repository:
                    scope[name] = self.recorder(name)
                else:
                    scope[name] = self.constants("//%s:%s" % (label.package, label.name))[name]

        scope["load"] = load
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec")
        try:
            exec(code, scope)  # pylint: disable=exec-used
        except NameError as error:
            raise BuildFileError("%s: %s; define it in build_files.py" % (path, error)) from error
        return scope


def _matches(file, pattern):
    """Bazel's globs: * stays in one folder, ** is any number of folders."""
    return _parts_match(file.split("/"), pattern.split("/"))


def _parts_match(parts, patterns):
    if not patterns:
        return not parts
    if patterns[0] == "**":
        if len(patterns) == 1:
            return bool(parts)
        return any(_parts_match(parts[start:], patterns[1:]) for start in range(len(parts)))
    if not parts or not _part_matches(parts[0], patterns[0]):
        return False
    return _parts_match(parts[1:], patterns[1:])


def _part_matches(part, pattern):
    first, star, rest = pattern.partition("*")
    if not star:
        return part == pattern
    if not part.startswith(first):
        return False
    return any(_part_matches(part[start:], rest) for start in range(len(first), len(part) + 1))
