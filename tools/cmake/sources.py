"""Writes cmake/sources.cmake from the BUILD files: one call of redouble_component per library.

What a component is, follows from the public targets of the top BUILD file (redouble_public) and from
the folders: core/<name>, backends/<name> and <name> belong to the target <name>, the rest to the rows
of _OTHER_FOLDERS. A component installs the headers that the public headers include, in any depth.
"""

import os
import re

from build_files import BuildFileError, Label, Workspace

# Folders whose component has another name.
_OTHER_FOLDERS = {
    # Clients without input and output: the simulator runs them too.
    "backends/redis": "redis_core",
    "backends/redis/net": "redis",
    "backends/redis/spawn": "redis",
    "backends/testing": "testing",
    "core/base": "store",
    "core/python": "store",
    "core/store": "store",
    "sim/cli": "program",
    # These know the systems; the simulator does not.
    "sim/migrate": "program",
    "sim/operations/gateway": "program",
    "sim/operations/korvet": "program",
    "sim/operations/orchestrator": "program",
    "sim/operations/relayna": "program",
    "sim/operations/studio": "program",
    "sim/operations/threescale": "program",
    "sim/server": "program",
    "sim/storm": "program",
}

# Public targets that are a second header of another component.
_SECOND_HEADERS = {"redis_asio": "redis", "sim_cluster": "sim", "version": "store"}

# Targets that are a library of their own for CMake; else each repository is one.
_LIBRARY_OF_TARGET = {("boost", "url"): "boost_url"}

# A library, and the first folder of its headers in #include lines.
_EXTERNAL_INCLUDES = {
    "boost": ("boost",),
    "boost_url": (),
    "cli11": ("CLI",),
    "com_google_absl": ("absl",),
    "com_google_googletest": ("gtest", "gmock"),
    "lua": ("lua.h", "lua.hpp", "lauxlib.h", "lualib.h"),
    "nlohmann_json": ("nlohmann",),
    "openssl": ("openssl",),
    "rapidcheck": ("rapidcheck", "rapidcheck.h"),
}

# The program, the library of its main function and the source of that one. The rest of the program is
# the component `program`, which programs of one's own link.
_PROGRAM = "//:redouble"
_PROGRAM_LIBRARY = ("sim/cli", "main")
_PROGRAM_MAIN = "sim/cli/main.cc"

# Labels of Abseil whose CMake target is not named as the last part of the label.
_ABSEIL_NAMES = {
    "absl/algorithm:container": "algorithm_container",
    "absl/random:bit_gen_ref": "random_bit_gen_ref",
    "absl/random:distributions": "random_distributions",
    "absl/random:random": "random_random",
}

_INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
_MAKE_VARIABLE = re.compile(r"\$(?:\$|@|<|\((SRCS|CC)\)|\(location ([^)]+)\))")


class Component:
    """What is built into one library, and what it needs."""

    def __init__(self, name):
        self.name = name
        self.sources = set()
        self.headers = set()  # All headers; those to install are found by their includes.
        self.umbrellas = set()
        self.components = set()
        self.abseil = set()
        self.externals = set()
        self.installed = set()


class Sources:
    """All components of a workspace, in the order of their dependencies."""

    def __init__(self, root):
        self.root = root
        self._workspace = Workspace(root)
        self._components = {}
        self._generated = {}  # output path: (sources, command)
        self._visited = set()
        self._owner = {}
        self._collect()
        self._find_installed()

    def components(self):
        """The components, each after those that it depends on."""
        order = []

        def visit(name, path):
            if name in path:
                raise BuildFileError("components need each other: %s" % " -> ".join(path + [name]))
            component = self._components[name]
            if component in order:
                return
            for dependency in sorted(component.components):
                visit(dependency, path + [name])
            order.append(component)

        for name in sorted(self._components):
            visit(name, [])
        return order

    def generated(self):
        """(output, sources, shell command) of the generated files, each after its sources."""
        return [(output, *self._generated[output]) for output in self._generated]

    def public_externals(self, component):
        """The repositories whose headers the installed headers include."""
        first = set()
        for header in component.installed:
            first |= {include.partition("/")[0] for include in self._includes(header)}
        return sorted(
            name for name in component.externals if first & set(_EXTERNAL_INCLUDES[name])
        )

    def _collect(self):
        top = Workspace(self.root)
        top.rule(Label("//:store", ""))
        for name, rule in top.packages[""].items():
            if rule.kind == "cc_library" and rule.get("visibility") == ["//visibility:public"]:
                self._visit(Label("//:" + name, ""))
        self._visit(Label(_PROGRAM, ""))

    def _component_of(self, rule):
        if rule.package == "":
            if rule.kind == "cc_binary":
                return "main"
            return _SECOND_HEADERS.get(rule.name, rule.name)
        if (rule.package, rule.name) == _PROGRAM_LIBRARY:
            return "main"
        if rule.get("testonly"):
            needs_rapidcheck = any(text.startswith("@rapidcheck") for text in rule.get("deps"))
            return "rapidcheck" if needs_rapidcheck else "testing"
        parts = rule.package.split("/")
        for length in range(len(parts), 0, -1):
            folder = "/".join(parts[:length])
            if folder in _OTHER_FOLDERS:
                return _OTHER_FOLDERS[folder]
        return parts[1] if parts[0] in ("core", "backends") else parts[0]

    def _visit(self, label):
        rule = self._workspace.rule(label)
        if rule is None:
            raise BuildFileError("no target //%s:%s" % (label.package, label.name))
        name = self._component_of(rule)
        if (rule.package, rule.name) in self._visited:
            return name
        self._visited.add((rule.package, rule.name))
        component = self._components.setdefault(name, Component(name))
        for attribute in ("srcs", "hdrs"):
            for text in rule.get(attribute):
                self._add_files(component, Label(text, rule.package), rule.package == "")
        for text in rule.get("deps"):
            self._add_dependency(component, Label(text, rule.package))
        return name

    def _add_dependency(self, component, label):
        if not label.repository:
            other = self._visit(label)
            if other != component.name:
                component.components.add(other)
            return
        library = _LIBRARY_OF_TARGET.get((label.repository, label.name), label.repository)
        if library not in _EXTERNAL_INCLUDES:
            raise BuildFileError("no row for the repository @%s" % label.repository)
        component.externals.add(library)
        if label.repository == "com_google_absl":
            text = "%s:%s" % (label.package, label.name)
            component.abseil.add(_ABSEIL_NAMES.get(text, label.name))

    def _add_files(self, component, label, is_umbrella):
        rule = self._workspace.rule(label)
        if rule is not None and rule.kind == "filegroup":
            for text in rule.get("srcs"):
                self._add_files(component, Label(text, rule.package), is_umbrella)
            return
        path = self._workspace.path(label)
        if not self._workspace.is_file(label):
            self._generate(label)
        self._owner[path] = component.name
        if path.endswith((".h", ".inc")):
            (component.umbrellas if is_umbrella else component.headers).add(path)
        else:
            component.sources.add(path)

    def _generate(self, label):
        """Notes how a file is made; the sources of its genrule are noted before it."""
        path = self._workspace.path(label)
        rule = self._workspace.producer(label)
        if rule is None:
            raise BuildFileError("neither a file nor generated: %s" % path)
        if path in self._generated:
            return
        sources = []
        for text in rule.get("srcs"):
            source = Label(text, rule.package)
            if not self._workspace.is_file(source):
                self._generate(source)
            sources.append(self._workspace.path(source))

        def shell_path(source):
            return '"$GENERATED/%s"' % source if source in self._generated else source

        def expand(match):
            text = match.group(0)
            if text == "$$":
                return "$"
            if text == "$@":
                return '"$OUTPUT"'
            if text == "$<":
                return shell_path(sources[0])
            if match.group(1) == "SRCS":
                return " ".join(shell_path(source) for source in sources)
            if match.group(1) == "CC":
                return '"$CC"'
            return shell_path(self._workspace.path(Label(match.group(2), rule.package)))

        self._generated[path] = (sources, _MAKE_VARIABLE.sub(expand, rule.attributes["cmd"]))

    def _includes(self, path):
        if path in self._generated:
            return []
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return _INCLUDE.findall(file.read())

    def _find_installed(self):
        """Each header that the public headers reach is installed by the component that owns it."""
        waiting = [path for each in self._components.values() for path in sorted(each.umbrellas)]
        seen = set(waiting)
        while waiting:
            path = waiting.pop()
            if path not in self._owner:
                raise BuildFileError("a public header includes %s, of no public target" % path)
            self._components[self._owner[path]].installed.add(path)
            for include in self._includes(path):
                if not include.startswith("redouble/"):
                    continue
                inner = include.partition("/")[2]
                if os.path.exists(os.path.join(self.root, "include", include)):
                    inner = "include/" + include
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)


def _list(keyword, values):
    return ["  %s" % keyword] + ["    %s" % value for value in values] if values else []


def render(sources):
    """The text of cmake/sources.cmake."""
    lines = ["# Written by tools/cmake_sources from the BUILD files. Do not edit."]
    for output, inputs, command in sources.generated():
        lines += ["", "redouble_generate(", "  %s" % output] + _list("SOURCES", inputs)
        lines += ["  COMMAND [==[", command.strip("\n"), "]==])"]
    generated = {output for output, _, _ in sources.generated()}
    for component in sources.components():
        public = sources.public_externals(component)
        main = [path for path in component.sources if path == _PROGRAM_MAIN]
        lines += ["", "redouble_component(", "  %s" % component.name]
        lines += _list("SOURCES", sorted(component.sources - set(main)))
        lines += _list("MAIN", main)
        lines += _list("GENERATED_HEADERS", sorted(component.headers & generated))
        lines += _list("INSTALLED_HEADERS", sorted(component.installed))
        lines += _list("COMPONENTS", sorted(component.components))
        lines += _list("ABSEIL", sorted(component.abseil))
        externals = [name for name in sorted(component.externals) if name != "com_google_absl"]
        lines += _list("PUBLIC_LIBRARIES", [name for name in externals if name in public])
        lines += _list("PRIVATE_LIBRARIES", [name for name in externals if name not in public])
        lines[-1] += ")"
    return "\n".join(lines) + "\n"
