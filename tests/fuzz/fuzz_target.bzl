"""What a fuzz target consists of."""

load("//tools:build_defs.bzl", "redouble_binary", "redouble_library", "redouble_test")

def fuzz_target(name, deps):
    """The program that clang's libFuzzer runs, and a test that runs its corpus in every build.

    The program is NAME, from NAME.cc, and needs --config=fuzz. The corpus is the folder NAME_corpus,
    and the test is NAME_corpus_test.
    """
    redouble_binary(
        name = name,
        testonly = True,
        srcs = [name + ".cc"],
        copts = ["-fsanitize=fuzzer"],
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )
    redouble_library(
        name = name + "_input",
        testonly = True,
        srcs = [name + ".cc"],
        alwayslink = True,
        deps = deps,
    )
    redouble_test(
        name = name + "_corpus_test",
        srcs = ["corpus_test.cc"],
        data = native.glob([name + "_corpus/*"]),
        env = {"CORPUS": "%s/%s_corpus" % (native.package_name(), name)},
        deps = [":%s_input" % name],
    )
