"""The clock and the faults of the fixtures."""

from datetime import datetime, timedelta, timezone

import pytest
import redis as redis_py

from redouble import Fault, ReplyError

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_stands_still(redouble, redouble_clock):
    assert redouble_clock.now() == START
    assert redouble_clock.now_ms() == 1_767_225_600_000
    assert redouble.command("TIME") == ["1767225600", "0"]
    assert redouble_clock.now() == START


@pytest.mark.parametrize("by", [timedelta(seconds=1, milliseconds=500), "1500ms", "1.5s"])
def test_advances_by_a_duration(redouble_clock, by):
    assert redouble_clock.advance(by) == START + timedelta(milliseconds=1500)


def test_advances_by_units(redouble_clock):
    assert redouble_clock.advance(days=1, seconds=2) == START + timedelta(days=1, seconds=2)


@pytest.mark.parametrize("by", [1500, 1.5, "1500", None])
def test_a_number_without_a_unit_is_refused(redouble_clock, by):
    with pytest.raises(TypeError, match='a timedelta, a text such as "1500ms"'):
        redouble_clock.advance(by)


def test_a_duration_and_units_are_refused(redouble_clock):
    with pytest.raises(TypeError, match="not both"):
        redouble_clock.advance("1s", seconds=1)


def test_microseconds_are_refused(redouble_clock):
    with pytest.raises(ValueError, match="whole milliseconds"):
        redouble_clock.advance(microseconds=1)


def test_does_not_go_backwards(redouble_clock):
    with pytest.raises(ReplyError, match="the clock only goes forward"):
        redouble_clock.advance(seconds=-1)
    with pytest.raises(ReplyError, match="duration is neither milliseconds nor like 1500ms"):
        redouble_clock.advance("soon")


@pytest.mark.parametrize("time", [datetime(2026, 5, 9, 16, 3, 2, tzinfo=timezone(timedelta(hours=2))),
                                  "2026-05-09T14:03:02Z"])
def test_is_set_to_a_time(redouble_clock, time):
    assert redouble_clock.set(time) == datetime(2026, 5, 9, 14, 3, 2, tzinfo=timezone.utc)


def test_a_time_without_a_zone_is_refused(redouble_clock):
    with pytest.raises(ValueError, match="needs a time zone"):
        redouble_clock.set(datetime(2026, 5, 9))
    with pytest.raises(TypeError, match="an aware datetime"):
        redouble_clock.set(1_778_335_382_000)


def test_moves_to_the_next_event(redouble, redouble_clock):
    assert redouble_clock.next() is None
    redouble.command("SET", "k", "v", "EX", 30)
    assert redouble_clock.next() == START + timedelta(seconds=30, milliseconds=1)
    assert redouble.dump() == {}


def test_an_error_reply_is_injected(redouble, redouble_faults):
    redis = redouble.client()
    redouble_faults.error_reply("set", "OOM command not allowed", count=2)
    assert redouble_faults.pending() == [Fault("error_reply", "set", "OOM command not allowed", 2)]
    for _ in range(2):
        with pytest.raises(redis_py.ResponseError, match="command not allowed"):
            redis.set("k", "v")
    assert redis.set("k", "v")


def test_a_request_or_a_reply_is_lost(redouble, redouble_faults):
    redis = redouble.client()
    for drop, executed in ((redouble_faults.drop_request, 0), (redouble_faults.drop_reply, 1)):
        drop("RPUSH")
        with pytest.raises(redis_py.ConnectionError):
            redis.rpush("jobs", "one")
        assert redis.llen("jobs") == executed


def test_faults_are_cleared(redouble_faults):
    redouble_faults.drop_reply("GET", count=3)
    assert redouble_faults.pending() == [Fault("drop_reply", "GET", None, 3)]
    redouble_faults.clear()
    assert redouble_faults.pending() == []
