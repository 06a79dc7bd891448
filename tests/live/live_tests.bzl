"""Which tests //tests/live runs on other kinds of Redis, too, and //tests/serve against the double."""

def live_tests(tests = None):
    """All tests of the package so far that are tagged "live", with their data, as one target.

    To stand at the end of a package's BUILD file: a test that is added is one of them.

    Args:
      tests: These instead, where some of the package's need what not every Redis is.
    """
    tests = tests or [
        name
        for name, rule in native.existing_rules().items()
        if rule["kind"] == "cc_test" and "live" in rule["tags"]
    ]
    native.filegroup(
        name = "live_tests",
        testonly = True,
        srcs = tests,
        data = tests,
        visibility = [
            "//tests/live:__pkg__",
            "//tests/serve:__pkg__",
        ],
    )
