"""The tests that //tests/live runs on other kinds of Redis, and //tests/serve on `redouble serve`."""

def live_tests(tests = None, packages = []):
    """All tests of the package so far that are tagged "live", with their data, as one target.

    Call it at the end of a package's BUILD file, so that it includes tests that are added later.

    Args:
      tests: These tests instead, if some tests of the package do not run on every kind of Redis.
      packages: Subfolders whose live tests are included: ["notify", "report"].
    """
    tests = tests or [
        name
        for name, rule in native.existing_rules().items()
        if rule["kind"] == "cc_test" and "live" in rule["tags"]
    ]
    tests = tests + ["//%s/%s:live_tests" % (native.package_name(), package) for package in packages]
    native.filegroup(
        name = "live_tests",
        testonly = True,
        srcs = tests,
        data = tests,
        visibility = ["//:__subpackages__"],
    )
