"""Cron schedules and time zones of CronJobs as the API server checks them; when they fire is not asked.

Source: validateScheduleFormat and validateTimeZone in pkg/apis/batch/validation/validation.go, and the parser of
github.com/robfig/cron v3. Whether a time zone exists and whether ``@every`` names a duration is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .field import FieldError, Named, invalid, printed

_DESCRIPTORS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_is_zone_part = re.compile("[A-Za-z._0-9+-]{1,14}").fullmatch
_is_number = re.compile("[+-]?[0-9]{1,18}").fullmatch


class _Bounds(NamedTuple):
    low: int
    high: int
    names: dict[str, int]


_FIELDS: Final = (
    _Bounds(0, 59, {}),
    _Bounds(0, 23, {}),
    _Bounds(1, 31, {}),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)


class _ScheduleError(ValueError):
    """The problem of a schedule, in the parser's words."""


def check_schedule(path: str, schedule: str) -> Iterator[FieldError]:
    """``spec.schedule`` of a CronJob that has one."""
    if "TZ" in schedule:
        yield invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        return
    try:
        _parse(schedule)
    except _ScheduleError as problem:
        yield invalid(path, schedule, str(problem))


def check_time_zone(path: str, zone: str) -> Iterator[FieldError]:
    """``spec.timeZone`` of a CronJob that has one."""
    if not zone:
        yield invalid(path, Named(zone), "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _is_zone_part(part):
            yield invalid(path, Named(zone), f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        where = "https://www.iana.org/time-zones"
        yield invalid(path, Named(zone), f"timeZone must be an explicit time zone as defined in {where}")


def _parse(schedule: str) -> None:
    if schedule.startswith("@"):
        if schedule not in _DESCRIPTORS and not schedule.startswith("@every "):
            raise _ScheduleError(f"unrecognized descriptor: {schedule}")
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        raise _ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, bounds in zip(fields, _FIELDS, strict=True):
        for expression in filter(None, field.split(",")):
            _parse_range(expression, bounds)


def _parse_range(expression: str, bounds: _Bounds) -> None:
    parts = expression.split("/")
    ends = parts[0].split("-")
    if ends[0] in ("*", "?"):
        start, end = bounds.low, bounds.high
    else:
        start = end = _number(ends[0], bounds)
        if len(ends) == 2:
            end = _number(ends[1], bounds)
        elif len(ends) > 2:
            raise _ScheduleError(f"too many hyphens: {expression}")
    step = 1
    if len(parts) == 2:
        step = _number(parts[1])
        end = bounds.high if len(ends) == 1 else end
    elif len(parts) > 2:
        raise _ScheduleError(f"too many slashes: {expression}")
    if start < bounds.low:
        raise _ScheduleError(f"beginning of range ({start}) below minimum ({bounds.low}): {expression}")
    if end > bounds.high:
        raise _ScheduleError(f"end of range ({end}) above maximum ({bounds.high}): {expression}")
    if start > end:
        raise _ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if step == 0:
        raise _ScheduleError(f"step of range should be a positive number: {expression}")


def _number(text: str, bounds: _Bounds | None = None) -> int:
    if bounds is not None and text.lower() in bounds.names:
        return bounds.names[text.lower()]
    if not _is_number(text):
        problem = f"strconv.Atoi: parsing {printed(text)}: invalid syntax"
        raise _ScheduleError(f"failed to parse int from {text}: {problem}")
    if int(text) < 0:
        raise _ScheduleError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)
