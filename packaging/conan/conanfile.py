"""A Conan 2 recipe. In the root of the tree: conan create packaging/conan --build=missing"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class RedoubleConan(ConanFile):
    """Redouble's libraries, and with the option `program` the program."""

    name = "redouble"
    license = "Apache-2.0"
    description = "An in-process, deterministic Redis 7.0 for tests, and clients for live Redis."
    settings = "os", "compiler", "build_type", "arch"
    package_type = "library"
    options = {"shared": [True, False], "program": [True, False], "testing": [True, False]}
    default_options = {"shared": False, "program": False, "testing": True}

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root(), "include", "redouble", "version.h"))
        self.version = re.search(r'REDOUBLE_VERSION_STRING "(.*)"', header).group(1)

    def export_sources(self):
        for pattern in (
            "CMakeLists.txt",
            "LICENSE",
            "backends/*",
            "cmake/*",
            "core/*",
            "docs/completions/*",
            "docs/redouble.1",
            "include/*",
            "scenarios/*",
            "sim/*",
            "third_party/embed_lua.sh",
            "third_party/lua_numbers.c",
        ):
            copy(self, pattern, self._root(), self.export_sources_folder)

    def requirements(self):
        self.requires("abseil/[>=20220623]", transitive_headers=True)
        self.requires("boost/[>=1.81]", transitive_headers=True)
        self.requires("nlohmann_json/[>=3.11]", transitive_headers=True)
        self.requires("openssl/[>=3.0]")
        if self.options.program:
            self.requires("cli11/[>=2.0]")
        if self.options.testing:
            self.requires("gtest/[>=1.12]", transitive_headers=True)
            self.requires("rapidcheck/[*]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["REDOUBLE_INSTALL"] = True
        toolchain.cache_variables["REDOUBLE_BUILD_PROGRAM"] = bool(self.options.program)
        toolchain.cache_variables["REDOUBLE_BUILD_TESTING_LIBRARIES"] = bool(self.options.testing)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        # The installed redoubleConfig.cmake describes the targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "redouble")]
