"""What the BUILD files of the project are written with: one rule each for libraries, tests and programs.

Headers are included by their path below the project's name, in this tree and in every other:

    #include "redouble/core/store/store.h"

so nothing generic (core/, sim/) lies on the include path of those who link a library.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

ABSEIL_STATUS = [
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
]

# What a test with properties needs beside GoogleTest.
RAPIDCHECK = [
    "@rapidcheck",
    "@rapidcheck//:gtest",
]

_PROJECT = ["//:__subpackages__"]

# In this workspace .bazelrc names the language. In another one the targets do, because Bazel reads
# only the .bazelrc of the workspace where it runs.
def _copts(copts):
    return copts if native.repository_name() == "@" else ["-std=c++20"] + copts

_PRELUDE = "//tools/prelude:"

def _if_prelude(values):
    return select({
        _PRELUDE + "enabled": values,
        "//conditions:default": [],
    })

# The prelude (tools/prelude) fits sources that are compiled with the flags of all others only.
def _prelude_copts(name, copts):
    if copts:
        return _copts(copts)
    return _copts(copts) + _if_prelude(["-include", "$(BINDIR)/tools/prelude/%s.h" % name])

def _prelude_deps(name, copts):
    return [] if copts else _if_prelude([_PRELUDE + name])

# .bazelrc compiles the unit tests of these folders without optimisation.
def _test_prelude():
    return "unit_test" if native.package_name().split("/")[0] in ["core", "backends", "sim"] else "test"

def _is_header(source):
    return source.endswith(".h") or source.endswith(".inc")

def redouble_library(name, srcs = [], hdrs = [], textual_hdrs = [], copts = [], deps = [], visibility = _PROJECT, **kwargs):
    """A cc_library whose headers are included as "redouble/<path>". Visible within the project only.

    Headers in srcs and in textual_hdrs are included the same way; they are listed apart to say that
    they are no part of the library's interface, and that they do not compile alone.
    """
    cc_library(
        name = name,
        srcs = [source for source in srcs if not _is_header(source)],
        hdrs = hdrs + [source for source in srcs if _is_header(source)] + textual_hdrs,
        copts = _prelude_copts("library", copts),
        deps = deps + _prelude_deps("library", copts),
        include_prefix = "redouble",
        strip_include_prefix = "/",
        linkstatic = True,
        visibility = visibility,
        **kwargs
    )

def redouble_public(name, hdrs, **kwargs):
    """A library for other workspaces: a header of include/, included by its path below that folder."""
    cc_library(
        name = name,
        hdrs = hdrs,
        strip_include_prefix = "include",
        visibility = ["//visibility:public"],
        **kwargs
    )

def _with_headers(name, srcs, deps, testonly):
    """The sources without their headers, and the dependencies with a library of these."""
    headers = [source for source in srcs if _is_header(source)]
    if not headers:
        return srcs, deps
    redouble_library(
        name = name + "_headers",
        testonly = testonly,
        hdrs = headers,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    return [source for source in srcs if source not in headers], deps + [":%s_headers" % name]

def redouble_test(name, srcs, size = "small", copts = [], deps = [], **kwargs):
    """A cc_test of GoogleTest, small unless it says otherwise."""
    srcs, deps = _with_headers(name, srcs, deps, True)
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = _prelude_copts(_test_prelude(), copts),
        deps = deps + ["@com_google_googletest//:gtest_main"] + _prelude_deps(_test_prelude(), copts),
        **kwargs
    )

def redouble_binary(name, srcs = [], copts = [], deps = [], testonly = False, visibility = _PROJECT, **kwargs):
    """A cc_binary."""
    srcs, deps = _with_headers(name, srcs, deps, testonly)
    cc_binary(
        name = name,
        testonly = testonly,
        srcs = srcs,
        copts = _prelude_copts("library", copts),
        visibility = visibility,
        deps = deps + _prelude_deps("library", copts),
        **kwargs
    )

_EMBED_SCRIPTS = """
    {
        echo '// Generated from the Lua files of //PACKAGE by redouble_scripts.'
        echo '#ifndef GUARD'
        echo '#define GUARD'
        echo
        echo '#include <string_view>'
        echo
        echo 'namespace NAMESPACE {'
        for file in $(SRCS); do
            echo
            name=$$(basename $$file .lua | awk -F_ '{ for (i = 1; i <= NF; ++i) $$i = toupper(substr($$i, 1, 1)) substr($$i, 2); print "k" $$0 }' OFS=)
            printf 'inline constexpr std::string_view %sText = R"lua(' $$name
            cat $$file
            echo ')lua";'
        done
        echo
        echo '}  // namespace NAMESPACE'
        echo
        echo '#endif  // GUARD'
    } > $@
"""

def redouble_scripts(name, namespace, srcs, visibility = _PROJECT):
    """A library of Lua scripts whose header, <name>.h, is generated: a constant for each script.

    The file reserve_budget.lua becomes, byte for byte,

        inline constexpr std::string_view kReserveBudgetText = ...;

    in `namespace`. A package that keeps its scripts in scripts/ says

        redouble_scripts(
            name = "script_texts",
            srcs = glob(["*.lua"]),
            namespace = "redouble::inline v0_1::gateway",
        )

    and includes the generated header as script_texts.h of that folder. A script must not contain `)lua"`.

    Args:
      name: of the library and, with .h, of the header.
      namespace: of the constants.
      srcs: the scripts, written as glob(["*.lua"]) so that a new script needs no new line.
      visibility: as that of redouble_library.
    """
    guard = "REDOUBLE_%s_%s_H_" % (native.package_name().replace("/", "_").upper(), name.upper())
    native.genrule(
        name = name + "_header",
        srcs = srcs,
        outs = [name + ".h"],
        cmd = _EMBED_SCRIPTS.replace("GUARD", guard).replace("NAMESPACE", namespace).replace("PACKAGE", native.package_name()),
    )
    redouble_library(
        name = name,
        hdrs = [name + ".h"],
        visibility = visibility,
    )
