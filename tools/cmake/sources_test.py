"""The source lists that small trees of BUILD files give, and the errors of broken ones."""

import os
import tempfile
import unittest

import build_files
import cmake_sources
import sources

_BUILD_DEFS = """
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")

def redouble_library(name, srcs = [], hdrs = [], **kwargs):
    cc_library(name = name, srcs = srcs, hdrs = hdrs, **kwargs)

def redouble_public(name, hdrs, **kwargs):
    cc_library(name = name, hdrs = hdrs, visibility = ["//visibility:public"], **kwargs)
"""

_LOAD = 'load("//tools:build_defs.bzl", "redouble_library", "redouble_public")\n'

_TOP = _LOAD + """
redouble_public(name = "store", hdrs = ["include/redouble/store.h"], deps = ["//core/store"])
redouble_public(name = "memory", hdrs = ["include/redouble/memory.h"], deps = ["//backends/memory:engine"])
cc_binary(name = "redouble", deps = ["//sim/cli:main"])
"""


class SourcesTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = self._folder.name
        self.write("tools/build_defs.bzl", _BUILD_DEFS)
        self.write("BUILD.bazel", _TOP)
        self.write("include/redouble/store.h", '#include "redouble/core/store/store.h"\n')
        self.write("include/redouble/memory.h", '#include "redouble/backends/memory/engine.h"\n')
        self.write("core/store/store.h", "#include <boost/asio.hpp>\n")
        self.write("core/store/store.cc", "")
        self.write("core/store/BUILD.bazel", _LOAD + """
redouble_library(
    name = "store",
    srcs = ["store.cc"],
    hdrs = ["store.h"],
    deps = ["@boost//:asio", "@com_google_absl//absl/container:btree", "@openssl//:ssl"],
)
""")
        self.write("backends/memory/engine.h", '#include "redouble/core/store/store.h"\n')
        self.write("backends/memory/BUILD.bazel", _LOAD + """
redouble_library(
    name = "engine",
    srcs = [":commands", "private.h"],
    hdrs = ["engine.h"],
    deps = ["//core/store", "@lua"],
)
filegroup(name = "commands", srcs = glob(["*/*.cc"], exclude = ["*/*_test.cc"]))
""")
        self.write("backends/memory/private.h", "")
        self.write("backends/memory/lists/push.cc", "")
        self.write("backends/memory/lists/push_test.cc", "")
        self.write("sim/cli/main.cc", "")
        self.write("sim/cli/BUILD.bazel", _LOAD + 'redouble_library(name = "main", srcs = ["main.cc"])\n')

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def component(self, name):
        read = sources.Sources(self.root)
        return read, next(each for each in read.components() if each.name == name)

    def assert_fails(self, message):
        with self.assertRaisesRegex(build_files.BuildFileError, message):
            sources.Sources(self.root).components()

    def test_sources_come_from_filegroups_and_globs_without_tests(self):
        _, memory = self.component("memory")
        self.assertEqual(memory.sources, {"backends/memory/lists/push.cc"})

    def test_headers_that_public_headers_include_are_installed(self):
        _, memory = self.component("memory")
        self.assertEqual(memory.installed, {"backends/memory/engine.h", "include/redouble/memory.h"})

    def test_components_follow_those_that_they_need(self):
        names = [component.name for component in sources.Sources(self.root).components()]
        self.assertEqual(names, ["main", "store", "memory"])

    def test_libraries_of_installed_headers_are_public(self):
        read, store = self.component("store")
        self.assertEqual(read.public_externals(store), ["boost"])
        self.assertEqual(store.externals, {"boost", "com_google_absl", "openssl"})
        self.assertEqual(store.abseil, {"btree"})

    def test_a_library_for_tests_with_rapidcheck_is_a_component_of_its_own(self):
        self.write("BUILD.bazel", _TOP + """
redouble_public(name = "testing", testonly = True, hdrs = [], deps = ["//core/store:fake"])
redouble_public(name = "rapidcheck", testonly = True, hdrs = [], deps = ["//core/store:generators"])
""")
        with open(os.path.join(self.root, "core/store/BUILD.bazel"), "a", encoding="utf-8") as file:
            file.write("""
redouble_library(name = "fake", testonly = True, srcs = ["fake.cc"])
redouble_library(name = "generators", testonly = True, srcs = ["generators.cc"], deps = ["@rapidcheck"])
""")
        self.write("core/store/fake.cc", "")
        self.write("core/store/generators.cc", "")
        self.assertEqual(self.component("testing")[1].sources, {"core/store/fake.cc"})
        self.assertEqual(self.component("rapidcheck")[1].sources, {"core/store/generators.cc"})

    def test_generated_files_keep_their_command(self):
        self.write("sim/cli/BUILD.bazel", _LOAD + """
redouble_library(name = "main", srcs = ["main.cc", "made.h"])
genrule(name = "make", srcs = [":raw.o"], outs = ["made.h"], cmd = "sed s/$$/x/ $< > $@")
genrule(name = "raw", srcs = ["raw.c"], outs = ["raw.o"], cmd = "$(CC) $(SRCS) $(location raw.c) -o $@")
""")
        self.write("sim/cli/raw.c", "")
        self.assertEqual(
            sources.Sources(self.root).generated(),
            [
                ("sim/cli/raw.o", ["sim/cli/raw.c"],
                 '"$CC" sim/cli/raw.c sim/cli/raw.c -o "$OUTPUT"'),
                ("sim/cli/made.h", ["sim/cli/raw.o"],
                 'sed s/$/x/ "$GENERATED/sim/cli/raw.o" > "$OUTPUT"'),
            ],
        )

    def test_check_fails_until_the_file_is_written(self):
        os.mkdir(os.path.join(self.root, "cmake"))
        self.assertEqual(cmake_sources.main([self.root, "--check"]), 1)
        self.assertEqual(cmake_sources.main([self.root]), 0)
        self.assertEqual(cmake_sources.main([self.root, "--check"]), 0)
        self.write("backends/memory/lists/pop.cc", "")
        self.assertEqual(cmake_sources.main([self.root, "--check"]), 1)

    def test_a_missing_target_is_named(self):
        self.write("sim/cli/BUILD.bazel", _LOAD + 'redouble_library(name = "x")\n')
        self.assert_fails("no target //sim/cli:main")

    def test_a_missing_package_is_named(self):
        os.remove(os.path.join(self.root, "sim/cli/BUILD.bazel"))
        self.assert_fails("no package //sim/cli")

    def test_a_missing_file_is_named(self):
        os.remove(os.path.join(self.root, "sim/cli/main.cc"))
        self.assert_fails("neither a file nor generated: sim/cli/main.cc")

    def test_an_unknown_rule_is_named(self):
        self.write("sim/cli/BUILD.bazel", "objc_library(name = 'main')\n")
        self.assert_fails("name 'objc_library' is not defined; define it in build_files.py")

    def test_an_unknown_repository_is_named(self):
        self.write("sim/cli/BUILD.bazel", _LOAD + 'redouble_library(name = "main", deps = ["@zlib"])\n')
        self.assert_fails("no row for the repository @zlib")

    def test_components_that_need_each_other_are_named(self):
        with open(os.path.join(self.root, "core/store/BUILD.bazel"), "a", encoding="utf-8") as file:
            file.write('redouble_library(name = "low", deps = ["//backends/memory:engine"])\n')
        self.write("sim/cli/BUILD.bazel", _LOAD + """
redouble_library(name = "main", srcs = ["main.cc"], deps = ["//core/store:low"])
""")
        self.assert_fails("components need each other: main -> store -> memory -> store")

    def test_a_public_header_of_no_library_is_named(self):
        self.write("include/redouble/memory.h", '#include "redouble/core/base/hidden.h"\n')
        self.assert_fails("a public header includes core/base/hidden.h, of no public target")


if __name__ == "__main__":
    unittest.main()
