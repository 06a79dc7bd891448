"""What the recipes of packaging/ and cmake/ repeat is equal to its source: versions and libraries."""

import ast
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
        cls.externals = set()
        for component in sources.Sources(_ROOT).components():
            cls.externals |= component.externals
        cls.names = {_NAMES[name] for name in cls.externals - _NOT_PACKAGED}

    def test_vcpkg_has_the_version_and_the_libraries(self):
        manifest = json.loads(_read("packaging/vcpkg/redouble/vcpkg.json"))
        header = _read("include/redouble/version.h")
        version = re.search(r'REDOUBLE_VERSION_STRING "(.*)"', header).group(1)
        self.assertEqual(manifest["version-semver"], version)
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

    def test_every_library_has_its_rows_in_cmake(self):
        text = _read("cmake/redouble_libraries.cmake")
        for name in sorted(self.externals):
            with self.subTest(name):
                self.assertIn('STREQUAL "%s"' % name, text)
                self.assertIn("set(redouble_debian_%s " % name, text)

    def test_the_page_shows_the_build_files_of_the_consumers(self):
        shown = re.findall(r"<!-- (tests/consumer/\S+) -->\n```\w+\n(.*?)```", _read("docs/linking.md"), re.S)
        self.assertEqual(len(shown), 4)
        for path, text in shown:
            with self.subTest(path):
                self.assertEqual(text, _read(path))

    def test_the_consumers_of_bazel_are_those_of_the_readme(self):
        blocks = re.findall(r"```python\n(.*?)```", _read("README.md"), re.S)
        self.assertIn(_read("tests/consumer/bazel/WORKSPACE.consumer"), blocks)
        self.assertTrue(any(
            "cc_test" in block and block in _read("tests/consumer/bazel/BUILD.consumer") for block in blocks
        ))

    def test_setup_installs_the_packages(self):
        setup = set(re.findall(r'^  "(\S+) ', _read("tools/setup"), re.MULTILINE))
        rows = re.findall(r"^set\(redouble_debian_\w+ (.*)\)$", _read("cmake/redouble_libraries.cmake"), re.M)
        packages = {package for row in rows for package in row.split()}
        self.assertGreaterEqual(len(packages), len(self.externals))
        self.assertLessEqual(packages, setup)


if __name__ == "__main__":
    unittest.main()
