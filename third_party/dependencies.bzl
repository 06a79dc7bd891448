"""The repositories that Redouble builds with, for this workspace and for those that link Redouble.

In the WORKSPACE of another project:

    local_repository(
        name = "redouble",
        path = "/path/to/redouble",
    )

    load("@redouble//third_party:dependencies.bzl", "redouble_dependencies")

    redouble_dependencies()

Nothing is fetched: the rules and libraries are the ones that Debian 12 or 13 packages (tools/setup installs
them). The names are the upstream ones. A repository that the WORKSPACE has declared before is left
alone, so each can be replaced by an http_archive of the real thing.
"""

load(":system_libraries.bzl", "system_libraries")

# The rules that Debian packages, by repository.
_PACKAGED_RULES = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "platforms": "/usr/share/bazel/platforms",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

# The packaged rules_cc is too new for Bazel 4.2, and the coverage tools are not packaged at all: both
# are small stand-ins, in this folder.
_STAND_INS = [
    "remote_coverage_tools",
    "rules_cc",
]

def _stand_in_impl(repository_ctx):
    folder = repository_ctx.path(repository_ctx.attr.workspace_file).dirname
    for entry in folder.readdir():
        repository_ctx.symlink(entry, entry.basename)

_stand_in = repository_rule(
    implementation = _stand_in_impl,
    attrs = {"workspace_file": attr.label(mandatory = True)},
    local = True,
)

def redouble_dependencies(rules = True):
    """Declares the repositories that are not declared yet.

    Args:
      rules: False for a Bazel that fetches its own rules (rules_cc, rules_java, ...); then only the
          libraries are declared.
    """
    if rules:
        for name, path in _PACKAGED_RULES.items():
            if not native.existing_rule(name):
                native.local_repository(name = name, path = path)
        for name in _STAND_INS:
            if not native.existing_rule(name):
                _stand_in(name = name, workspace_file = "@redouble//third_party:%s/WORKSPACE" % name)
    system_libraries()
    native.register_toolchains("@redouble//third_party/python:toolchain")
