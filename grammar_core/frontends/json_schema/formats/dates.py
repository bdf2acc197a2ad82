"""Dates, times and durations of RFC 3339."""

from __future__ import annotations

from collections.abc import Iterator

_MONTHS_OF_31 = r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
_MONTHS_OF_30 = r"(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_FEBRUARY = r"02-(?:0[1-9]|1[0-9]|2[0-8])"
_MULTIPLE_OF_4 = "(?:[02468][048]|[13579][26])"
_NONZERO_MULTIPLE_OF_4 = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9]{{2}}{_NONZERO_MULTIPLE_OF_4}|{_MULTIPLE_OF_4}00)"

DATE = rf"(?:[0-9]{{4}}-(?:{_MONTHS_OF_31}|{_MONTHS_OF_30}|{_FEBRUARY})|{_LEAP_YEAR}-02-29)"

_MINUTES_OF_A_DAY = 24 * 60
# Every zone of the years that have leap seconds is whole quarters of an hour from UTC.
_QUARTER = 15
_FRACTION = r"(?:\.[0-9]+)?"
_HOUR, _MINUTE = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_TIME_OF_DAY = f"{_HOUR}:{_MINUTE}:{_MINUTE}"
_OFFSET = f"(?:[Zz]|[+-]{_HOUR}:{_MINUTE})"


def _leap_seconds() -> Iterator[str]:
    """The second that is inserted before midnight UTC, in every zone."""
    last = _MINUTES_OF_A_DAY - 1
    yield f"23:59:60{_FRACTION}[Zz]"
    for local in range(_QUARTER - 1, _MINUTES_OF_A_DAY, _QUARTER):
        ahead, behind = (local - last) % _MINUTES_OF_A_DAY, (last - local) % _MINUTES_OF_A_DAY
        yield rf"{_clock(local)}:60{_FRACTION}(?:\+{_clock(ahead)}|-{_clock(behind)})"


def _clock(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours:02}:{rest:02}"


TIME = f"(?:{_TIME_OF_DAY}{_FRACTION}{_OFFSET}|{'|'.join(_leap_seconds())})"
DATE_TIME = f"{DATE}[Tt]{TIME}"

_SECONDS = "[0-9]+S"
_MINUTES = f"[0-9]+M(?:{_SECONDS})?"
_HOURS = f"[0-9]+H(?:{_MINUTES})?"
_DURATION_OF_TIME = f"T(?:{_HOURS}|{_MINUTES}|{_SECONDS})"
_DAYS = "[0-9]+D"
_MONTHS = f"[0-9]+M(?:{_DAYS})?"
_YEARS = f"[0-9]+Y(?:{_MONTHS})?"
DURATION = f"P(?:(?:{_DAYS}|{_MONTHS}|{_YEARS})(?:{_DURATION_OF_TIME})?|{_DURATION_OF_TIME}|[0-9]+W)"
