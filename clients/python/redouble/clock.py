"""The clock of a server: key expiry, TIME, stream ids, idle times and blocking timeouts follow it."""

from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)


class Clock:
    """Time stands still until one of these functions moves it. Times are in UTC, with milliseconds.

    Raises ReplyError when the server follows the machine's clock, and when time would go backwards.
    """

    def __init__(self, sim):
        self._sim = sim

    def now_ms(self):
        """Milliseconds since the Unix epoch."""
        return self._sim("CLOCK", "GET")

    def now(self):
        return _from_ms(self.now_ms())

    def advance(self, by=None, **units):
        """Moves time forward by a timedelta, by a text such as "1500ms" or "72h", or by units of timedelta.

            clock.advance(timedelta(minutes=5))
            clock.advance("1500ms")
            clock.advance(minutes=5)

        Returns the new time. A number without a unit is refused, because Redis has seconds and milliseconds.
        """
        if units:
            if by is not None:
                raise TypeError("advance() takes a duration or units, not both")
            by = timedelta(**units)
        if isinstance(by, timedelta):
            by = f"{_whole_ms(by)}ms"
        elif not isinstance(by, str) or by.lstrip("-").isdigit():
            raise TypeError(f'advance({by!r}): a timedelta, a text such as "1500ms", or units such as seconds=30')
        return _from_ms(self._sim("CLOCK", "ADVANCE", by))

    def set(self, time):
        """Moves time forward to an aware datetime, or an RFC 3339 text such as "2026-05-09T14:03:02Z"."""
        if isinstance(time, datetime):
            if time.tzinfo is None:
                raise ValueError(f"set({time!r}): the datetime needs a time zone")
            time = _whole_ms(time - _EPOCH)
        elif not isinstance(time, str):
            raise TypeError(f"set({time!r}): an aware datetime, or an RFC 3339 text")
        return _from_ms(self._sim("CLOCK", "SET", time))

    def next(self):
        """Moves time to the next expiry or blocking timeout and returns it; None if there is none."""
        ms = self._sim("CLOCK", "NEXT")
        return None if ms is None else _from_ms(ms)


def _from_ms(ms):
    return _EPOCH + ms * _MILLISECOND


def _whole_ms(duration):
    ms, rest = divmod(duration, _MILLISECOND)
    if rest:
        raise ValueError(f"{duration}: Redis counts in whole milliseconds")
    return ms
