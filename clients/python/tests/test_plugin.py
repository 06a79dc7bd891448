"""The fixtures in a test session of their own."""

import os


def run(pytester, *arguments):
    return pytester.runpytest_subprocess("-p", "redouble.pytest_plugin", "-p", "no:cacheprovider", *arguments)


def test_one_server_serves_the_session_and_each_test_starts_anew(pytester):
    pytester.makepyfile("""
        ports = set()

        def check(redouble, clock):
            ports.add(redouble.port)
            assert redouble.client().dbsize() == 0
            assert clock.now().year == 2026
            redouble.client().set("k", "v")
            clock.advance(days=400)

        def test_first(redouble, redouble_clock):
            check(redouble, redouble_clock)

        def test_second(redouble, redouble_clock):
            check(redouble, redouble_clock)
            assert len(ports) == 1
    """)
    run(pytester).assert_outcomes(passed=2)


def test_a_failure_shows_the_time_and_the_keys(pytester):
    pytester.makepyfile("""
        import pytest

        @pytest.fixture
        def redis(redouble):
            return redouble.client()

        def test_k(redis, redouble_clock):
            redis.set("k", "a value to see")
            redouble_clock.advance("1500ms")
            assert redis.get("k") is None
    """)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- redouble -*", "2026-01-01T00:00:01.500000+00:00", "*a value to see*"])


def test_a_failure_without_a_manual_clock_says_why_nothing_is_shown(pytester):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="session")
        def redouble_options():
            return {"clock": "system"}
    """)
    pytester.makepyfile("""
        def test_k(redouble):
            assert redouble.client().dbsize() == 1
    """)
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- redouble -*", "<Redouble redis://127.0.0.1:*"])


def test_a_project_has_options_of_its_own(pytester):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="session")
        def redouble_options():
            return {"start": "2030-01-01T00:00:00Z", "options": ["--maxmemory", "3mb"]}
    """)
    pytester.makepyfile("""
        def test_options(redouble, redouble_clock, redouble_faults):
            assert redouble_clock.now().year == 2030
            assert redouble.client().config_get("maxmemory") == {"maxmemory": "3145728"}
            assert redouble_faults.pending() == []
    """)
    run(pytester).assert_outcomes(passed=1)


def test_the_program_is_an_option(pytester, monkeypatch):
    program = os.environ["REDOUBLE_BIN"]
    monkeypatch.setenv("REDOUBLE_BIN", "/none")
    pytester.makepyfile("def test_ping(redouble): assert redouble.client().ping()")
    run(pytester, "--redouble-bin", program).assert_outcomes(passed=1)
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*REDOUBLE_BIN is /none, which is not a program.", "*--redouble-bin PATH*"])


def test_a_session_without_the_fixtures_starts_no_server(pytester, monkeypatch):
    monkeypatch.setenv("REDOUBLE_BIN", "/none")
    pytester.makepyfile("def test_nothing_of_redis(): assert 1 + 1 == 2")
    run(pytester).assert_outcomes(passed=1)
