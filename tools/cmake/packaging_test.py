"""What the recipes of packaging/ and cmake/ repeat is equal to its source: versions and libraries."""

import ast
import fnmatch
import json
import os
import re
import unittest

import sources

_ROOT = os.path.dirname(os.path.realpath("WORKSPACE"))

# The names that vcpkg and Conan give to the repositories of third_party/system_libraries.bzl.
_NAMES = {
    "boost": "boost",
    "boost_url": "boost",
    "cli11": "cli11",
    "com_google_absl": "abseil",
    "com_google_googletest": "gtest",
    "nlohmann_json": "nlohmann-json",
    "openssl": "openssl",
    "rapidcheck": "rapidcheck",
}
_NOT_PACKAGED = {"lua"}  # packaging/README.md


def _read(path):
    with open(os.path.join(_ROOT, path), encoding="utf-8") as file:
        return file.read()


class PackagingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        read = sources.Sources(_ROOT)
        cls.externals = set()
        cls.files = {path for _, inputs, _ in read.generated() for path in inputs}
        for component in read.components():
            cls.externals |= component.externals
            cls.files |= component.sources | component.headers | component.umbrellas
        cls.files -= {output for output, _, _ in read.generated()}
        cls.names = {_NAMES[name] for name in cls.externals - _NOT_PACKAGED}

    def test_every_package_has_the_version_of_the_header(self):
        header = _read("include/redouble/version.h")
        version = re.search(r'REDOUBLE_VERSION_STRING "(.*)"', header).group(1)
        project = re.search(r'(?m)^version = "(.*)"$', _read("clients/python/pyproject.toml")).group(1)
        self.assertEqual(project, version)
        self.assertEqual(json.loads(_read("clients/node/package.json"))["version"], version)
        self.assertEqual(json.loads(_read("packaging/vcpkg/redouble/vcpkg.json"))["version-semver"], version)

    def test_vcpkg_has_the_libraries(self):
        manifest = json.loads(_read("packaging/vcpkg/redouble/vcpkg.json"))
        dependencies = list(manifest["dependencies"])
        for feature in manifest["features"].values():
            dependencies += feature["dependencies"]
        names = {
            re.sub(r"^boost-.*", "boost", name)
            for name in dependencies
            if isinstance(name, str)
        }
        self.assertEqual(names, self.names)

    def test_conan_has_the_libraries_and_compiles(self):
        recipe = _read("packaging/conan/conanfile.py")
        ast.parse(recipe)
        names = {name.replace("_", "-") for name in re.findall(r'requires\("([^/"]*)/', recipe)}
        self.assertEqual(names, self.names)

    def test_conan_exports_what_the_build_reads(self):
        recipe = ast.parse(_read("packaging/conan/conanfile.py"))
        method = next(node for node in ast.walk(recipe) if getattr(node, "name", None) == "export_sources")
        loop = next(node for node in method.body if isinstance(node, ast.For))
        patterns = ast.literal_eval(loop.iter)
        files = {"CMakeLists.txt"} | {"cmake/" + name for name in os.listdir(os.path.join(_ROOT, "cmake"))}
        text = re.sub(r"(?m)#.*$", "", "".join(map(_read, sorted(files))))
        files |= self.files
        # What is installed, and the scripts that CMake runs.
        for word in re.findall(r"[\w.-]+(?:/[\w.-]+)*", text.replace("${PROJECT_SOURCE_DIR}/", "")):
            if os.path.isfile(os.path.join(_ROOT, word)):
                files.add(word)
        for folder in re.findall(r"install\(DIRECTORY (\S+)", text):
            files.update(self._files_below(folder))
        matched = {path: [each for each in patterns if fnmatch.fnmatch(path, each)] for path in files}
        self.assertEqual([path for path in sorted(files) if not matched[path]], [])
        self.assertEqual(set(patterns), {pattern for found in matched.values() for pattern in found})

    @staticmethod
    def _files_below(folder):
        for parent, _, names in os.walk(os.path.join(_ROOT, folder)):
            yield from (os.path.relpath(os.path.join(parent, name), _ROOT) for name in names)

    def test_every_library_has_its_rows_in_cmake(self):
        text = _read("cmake/redouble_libraries.cmake")
        for name in sorted(self.externals):
            with self.subTest(name):
                self.assertIn('STREQUAL "%s"' % name, text)
                self.assertIn("set(redouble_debian_%s " % name, text)

    def test_the_page_shows_the_build_files_of_the_consumers(self):
        shown = re.findall(r"<!-- (tests/consumer/\S+) -->\n```\w+\n(.*?)```", _read("docs/linking.md"), re.S)
        self.assertEqual(len(shown), 6)
        for path, text in shown:
            with self.subTest(path):
                self.assertEqual(text, _read(path))

    def test_the_consumers_of_bazel_are_those_of_the_readme(self):
        blocks = re.findall(r"```python\n(.*?)```", _read("README.md"), re.S)
        self.assertIn(_read("tests/consumer/bazel/WORKSPACE.consumer"), blocks)
        self.assertTrue(any(
            "cc_test" in block and block in _read("tests/consumer/bazel/BUILD.consumer") for block in blocks
        ))

    def test_the_consumers_of_bazel_depend_on_what_they_include(self):
        rules = re.findall(r'srcs = \["(\S+)"\].*?deps = \[(.*?)\]', _read("tests/consumer/bazel/BUILD.consumer"), re.S)
        self.assertEqual(len(rules), 6)
        readme = re.search(r"```cpp\n(.*?)```", _read("README.md"), re.S).group(1)
        for file, deps in rules:
            text = readme if file == "log_in_test.cc" else _read(f"tests/consumer/{file}")
            with self.subTest(file):
                self.assertEqual(set(re.findall(r'#include "redouble/(\w+)\.h"', text)),
                                 set(re.findall(r'"@redouble//:(\w+)"', deps)))

    def test_setup_installs_the_packages(self):
        setup = set(re.findall(r'^  "(\S+) ', _read("tools/setup"), re.MULTILINE))
        rows = re.findall(r"^set\(redouble_debian_\w+ (.*)\)$", _read("cmake/redouble_libraries.cmake"), re.M)
        packages = {package for row in rows for package in row.split()}
        self.assertGreaterEqual(len(packages), len(self.externals))
        self.assertLessEqual(packages, setup)


if __name__ == "__main__":
    unittest.main()
