"""The libraries that Debian 12 or 13 installs, under the labels that their own Bazel builds use.

A repository is generated for each row of one table: its packages contain one cc_library per target,
with the link flags of the row and no sources. Headers are used from the system's folders, so they
are system headers: our warnings do not apply to them, and Bazel does not track them. After an
upgrade of a -dev package run `bazel clean` and delete the disk cache that .bazelrc names.

Archives are linked statically if Debian has them, so a binary needs only the C and C++ libraries
and OpenSSL at run time.
"""

# repository: {
#     package: the targets in it ("" is the top package),
#     ...
# }
_TARGETS = {
    "boost": {
        # Header-only parts, but url (_boost_url_archives).
        "": [
            "asio",
            "circular_buffer",
            "container",
            "container_hash",
            "endian",
            "intrusive",
            "multi_index",
            "multiprecision",
            "system",
            "url",
        ],
    },
    "cli11": {"": ["cli11"]},
    "com_github_google_benchmark": {"": [
        "benchmark",
        "benchmark_main",
    ]},
    "com_google_absl": {
        "absl/algorithm": [
            "algorithm",
            "container",
        ],
        "absl/base": [
            "base",
            "config",
            "core_headers",
            "dynamic_annotations",
            "log_severity",
        ],
        "absl/cleanup": ["cleanup"],
        "absl/container": [
            "btree",
            "fixed_array",
            "flat_hash_map",
            "flat_hash_set",
            "inlined_vector",
            "node_hash_map",
            "node_hash_set",
        ],
        "absl/debugging": [
            "failure_signal_handler",
            "leak_check",
            "stacktrace",
            "symbolize",
        ],
        "absl/flags": [
            "flag",
            "parse",
            "usage",
        ],
        "absl/functional": [
            "any_invocable",
            "bind_front",
            "function_ref",
        ],
        "absl/hash": [
            "hash",
            "hash_testing",
        ],
        "absl/memory": ["memory"],
        "absl/meta": ["type_traits"],
        "absl/numeric": [
            "bits",
            "int128",
        ],
        "absl/random": [
            "bit_gen_ref",
            "distributions",
            "random",
            "seed_sequences",
        ],
        "absl/status": [
            "status",
            "statusor",
        ],
        "absl/strings": [
            "cord",
            "str_format",
            "strings",
        ],
        "absl/synchronization": ["synchronization"],
        "absl/time": ["time"],
        "absl/types": [
            "any",
            "compare",
            "optional",
            "span",
            "variant",
        ],
        "absl/utility": ["utility"],
    },
    "com_google_googletest": {"": [
        "gtest",
        "gtest_main",
    ]},
    "hiredis": {"": ["hiredis"]},
    "lua": {"": ["lua"]},
    "nlohmann_json": {"": ["json"]},
    "openssl": {"": [
        "crypto",
        "ssl",
    ]},
    "rapidcheck": {"": [
        "gtest",
        "rapidcheck",
    ]},
}

# The link flags of the targets of a repository; a target named in _MAINS links that first. "absl_*"
# means all of Abseil's archives (the linker uses only the needed objects).
_LINKOPTS = {
    "boost": ["-pthread"],
    "com_github_google_benchmark": [
        "-lbenchmark",
        "-pthread",
    ],
    "com_google_absl": [
        "absl_*",
        "-pthread",
    ],
    "com_google_googletest": [
        "-l:libgmock.a",
        "-l:libgtest.a",
        "-pthread",
    ],
    "hiredis": ["-l:libhiredis.a"],
    "lua": [
        "-ldl",
        "-lm",
    ],
    "openssl": [
        "-lssl",
        "-lcrypto",
    ],
    "rapidcheck": ["-l:librapidcheck.a"],
}

_MAINS = {
    "benchmark_main": "-l:libbenchmark_main.a",
    "gtest_main": "-l:libgtest_main.a",
}

# Lua is copied, so that no other Lua of a program replaces it (embed_lua.sh): its headers, and its
# archives. Debian's C++ build has the same API as the C build, but an error unwinds the C++ frames it
# passes instead of jumping over them.
_LUA_HEADERS = "/usr/include/lua5.1"
_LUA_ARCHIVES = [
    "liblua5.1-c++.a",
    "liblua5.1-cjson.a",
    "liblua5.1-bitop.a",
]

_BUILD = """package(default_visibility = ["//visibility:public"])
"""

_CC_LIBRARY = """
cc_library(
    name = "{name}",
    srcs = glob(["*.o"]),
    hdrs = glob(["include/*.h*"]),
    includes = ["include"],
    defines = {defines},
    linkopts = {linkopts},
)
"""

def _compiler(repository_ctx):
    """The C compiler: one for another processor if REDOUBLE_TRIPLE names that."""
    triple = repository_ctx.os.environ.get("REDOUBLE_TRIPLE")
    return triple + "-gcc" if triple else repository_ctx.os.environ.get("CC", "cc")

def _archive_folder(repository_ctx):
    """The folder of the archives for the processor that the compiler compiles for."""
    compiler = _compiler(repository_ctx)
    result = repository_ctx.execute([compiler, "-dumpmachine"])
    if result.return_code != 0:
        fail("%s -dumpmachine: %s" % (compiler, result.stderr))
    return "/usr/lib/%s-linux-gnu" % result.stdout.split("-")[0]

def _own_archives(repository_ctx):
    """The folder of archives that tools/libcxx made for another C++ library than Debian's, or None."""
    library = repository_ctx.os.environ.get("REDOUBLE_STDLIB")
    return "%s/.cache/redouble/%s/lib" % (repository_ctx.os.environ["HOME"], library) if library else None

def _absl_archives(repository_ctx):
    """Every archive of Abseil, as one group, because they refer to each other in both directions."""
    path = repository_ctx.path(_own_archives(repository_ctx) or _archive_folder(repository_ctx))
    names = sorted([
        entry.basename
        for entry in (path.readdir() if path.exists else [])
        if entry.basename.startswith("libabsl_") and entry.basename.endswith(".a")
    ])
    if not names:
        fail("Abseil's archives are not in %s; run tools/setup" % path)
    return ["-Wl,--start-group"] + ["-l:" + name for name in names] + ["-Wl,--end-group"]

def _boost_url_archives(repository_ctx):
    """Boost.URL's archive; before 1.82 backends/redis/boost_url.cc compiles the library instead."""
    for line in repository_ctx.read("/usr/include/boost/version.hpp").split("\n"):
        if line.startswith("#define BOOST_VERSION "):
            return ["-l:libboost_url.a"] if int(line.split(" ")[2]) >= 108200 else []
    fail("/usr/include/boost/version.hpp names no version; run tools/setup")

# Since 2023 Abseil's containers have another layout if their headers are compiled with the address sanitizer,
# unless this is defined. The system's archives are compiled without.
_LAYOUT_WITHOUT_SANITIZER = "NDEBUG_SANITIZER"

def _defines(repository_ctx):
    """Makes the headers fit the archives."""
    if repository_ctx.name != "com_google_absl":
        return []
    header = repository_ctx.path("/usr/include/absl/container/internal/raw_hash_set.h")
    if not header.exists or _LAYOUT_WITHOUT_SANITIZER not in repository_ctx.read(header):
        return []
    return [_LAYOUT_WITHOUT_SANITIZER]

def _linkopts(repository_ctx, target):
    folder = _own_archives(repository_ctx)
    linkopts = ["-L" + folder] if folder else []
    if target in _MAINS:
        linkopts.append(_MAINS[target])
    if repository_ctx.name == "boost" and target == "url":
        linkopts += _boost_url_archives(repository_ctx)
    for option in _LINKOPTS.get(repository_ctx.name, []):
        linkopts += _absl_archives(repository_ctx) if option == "absl_*" else [option]
    return linkopts

def _embed_lua(repository_ctx):
    """Makes lua.o and include/."""
    files = [_LUA_HEADERS, "."]
    folder = _archive_folder(repository_ctx)
    for name in _LUA_ARCHIVES:
        path = "%s/%s" % (folder, name)
        if not repository_ctx.path(path).exists:
            fail("%s is not installed; run tools/setup" % path)
        files.append(path)
    script = repository_ctx.path(Label("//third_party:embed_lua.sh"))
    repository_ctx.path(Label("//third_party:lua_numbers.c"))  # The script reads it.
    result = repository_ctx.execute(
        ["bash", script] + files,
        environment = {"CC": _compiler(repository_ctx)},
    )
    if result.return_code != 0:
        fail("embed_lua.sh: " + result.stderr)

def _system_library_impl(repository_ctx):
    if repository_ctx.name == "lua":
        _embed_lua(repository_ctx)
    for package, targets in _TARGETS[repository_ctx.name].items():
        content = _BUILD
        for target in targets:
            content += _CC_LIBRARY.format(
                name = target,
                defines = repr(_defines(repository_ctx)),
                linkopts = repr(_linkopts(repository_ctx, target)),
            )
        repository_ctx.file((package + "/" if package else "") + "BUILD.bazel", content)

_system_library = repository_rule(
    implementation = _system_library_impl,
    configure = True,
    environ = [
        "CC",
        "HOME",
        "REDOUBLE_STDLIB",
        "REDOUBLE_TRIPLE",
    ],
    local = True,
)

def system_libraries():
    """Declares every repository of the table that is not declared yet."""
    for name in _TARGETS:
        if not native.existing_rule(name):
            _system_library(name = name)
