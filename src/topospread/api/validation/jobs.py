"""Jobs and CronJobs as the API server checks them when they are created.

Source: pkg/apis/batch/validation/validation.go, with the selector and labels that pkg/registry/batch/job/strategy.go
adds (Kubernetes 1.37). Not checked: podFailurePolicy, successPolicy and managedBy, which do not affect placement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from . import names
from .defaults import default_template
from .field import FieldError, Named, Options, invalid, not_supported, one_of, printed, required
from .metadata import check_metadata
from .pod import check_pod_template
from .rules import check_fields
from .selectors import check_label_selector, labels_as_printed, selector_as_printed
from .workloads import compiled_selector, own_labels_from

# Cron schedules and time zones of CronJobs as the API server checks them.
# Source: validateScheduleFormat and validateTimeZone in pkg/apis/batch/validation/validation.go, and the parser of
# github.com/robfig/cron v3. Whether a time zone exists and whether ``@every`` names a duration is not checked.

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
    """An error of the cron parser, with its message."""


def check_schedule(path: str, schedule: str) -> Iterator[FieldError]:
    """Check ``spec.schedule`` of a CronJob."""
    if "TZ" in schedule:
        yield invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        return
    try:
        _parse(schedule)
    except _ScheduleError as problem:
        yield invalid(path, schedule, str(problem))


def check_time_zone(path: str, zone: str) -> Iterator[FieldError]:
    """Check ``spec.timeZone`` of a CronJob."""
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


Json = dict[str, Any]

UID: Final = "00000000-0000-0000-0000-000000000000"
"""Placeholder for the uid that the API server will assign."""

_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_MANY: Final = 100_000
_MANY_AT_ONCE: Final = 10_000


def default_job(job: Json) -> None:
    """Set defaults of a Job, including the labels and selector of its pods."""
    spec = job.setdefault("spec", {})
    metadata = job.setdefault("metadata", {})
    metadata["generation"] = 1
    uid = metadata.setdefault("uid", UID)
    template = spec.setdefault("template", {})
    default_template(template)
    own_labels_from(template, metadata)
    if spec.get("manualSelector"):
        return
    labels = template["metadata"].setdefault("labels", {})
    for keys, value in ((_NAME_LABELS, metadata.get("name", "")), (_UID_LABELS, uid)):
        for key in keys:
            labels.setdefault(key, value)
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {}).setdefault(_UID_LABELS[1], uid)


def default_cron_job(cron_job: Json) -> None:
    """Set defaults of a CronJob."""
    spec = cron_job.setdefault("spec", {})
    cron_job.setdefault("metadata", {})["generation"] = 1
    job_spec = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
    default_template(job_spec.setdefault("template", {}))


def check_job(job: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a Job."""
    spec, metadata = job["spec"], job["metadata"]
    yield from check_metadata(metadata, names.subdomain)
    if not spec.get("manualSelector"):
        yield from _check_generated_selector(spec, metadata)
    yield from _check_job_spec("spec", spec, options=options)
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    yield from check_label_selector("spec.selector", selector)
    compiled, labels = compiled_selector(selector), spec["template"]["metadata"].get("labels")
    if compiled is not None and not compiled.matches(labels or {}):
        detail = "`selector` does not match template `labels`"
        yield invalid("spec.template.metadata.labels", labels_as_printed(labels), detail)
    completions = spec.get("completions", 0 if "parallelism" in spec else 1)
    if spec.get("completionMode") == "Indexed" and completions > 0:
        last = f"{metadata.get('name', '')}-{completions - 1}"
        if names.dns_label(last):
            detail = f"will not able to create pod with invalid DNS label: {last}"
            yield invalid("metadata.name", metadata.get("name", ""), detail)


def _check_generated_selector(spec: Json, metadata: Json) -> Iterator[FieldError]:
    """Check that labels and selector have the labels that the API server generates."""
    labels = spec["template"]["metadata"].get("labels", {})
    name, uid = metadata.get("name", ""), metadata["uid"]
    expected: dict[str, str] = {key: name for key in _NAME_LABELS}  # noqa: C420 - fromkeys may hold None, says mypy
    expected.update((key, uid) for key in _UID_LABELS)
    for key, value in expected.items():
        if labels[key] != value:
            yield invalid(f"spec.template.metadata.labels[{key}]", labels_as_printed(labels), f"must be '{value}'")
    compiled = compiled_selector(spec["selector"])
    if compiled is not None and not compiled.matches(expected):
        yield invalid("spec.selector", selector_as_printed(spec["selector"]), "`selector` not auto-generated")


def check_cron_job(cron_job: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a CronJob."""
    spec, metadata = cron_job["spec"], cron_job["metadata"]
    yield from check_metadata(metadata, names.subdomain)
    name = metadata.get("name", "")
    if len(name.encode()) > 52:
        yield invalid("metadata.name", name, "must be no more than 52 characters")
    if not spec.get("schedule"):
        yield required("spec.schedule")
    else:
        yield from check_schedule("spec.schedule", spec["schedule"])
    if "timeZone" in spec:
        yield from check_time_zone("spec.timeZone", spec["timeZone"])
    yield from check_fields("spec", "CronJobSpec", spec)
    job_spec = spec["jobTemplate"]["spec"]
    yield from _check_job_spec("spec.jobTemplate.spec", job_spec, options=options)
    if "selector" in job_spec:
        shown = selector_as_printed(job_spec["selector"])
        yield invalid("spec.jobTemplate.spec.selector", shown, "`selector` will be auto-generated")
    if job_spec.get("manualSelector"):
        yield not_supported("spec.jobTemplate.spec.manualSelector", True, ("nil", "false"))


def _check_job_spec(path: str, spec: Json, *, options: Options) -> Iterator[FieldError]:
    yield from check_fields(path, "JobSpec", spec)
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    mode = spec.get("completionMode")
    if mode == "Indexed":
        yield from _check_indexed(path, spec)
    elif mode in (None, "NonIndexed"):
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec:
                yield invalid(f"{path}.{field}", spec[field], "requires indexed completion mode")
    else:
        yield not_supported(f"{path}.completionMode", Named(mode), ("NonIndexed", "Indexed"))
    if "podReplacementPolicy" in spec:
        known = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
        yield from one_of(f"{path}.podReplacementPolicy", spec["podReplacementPolicy"], known)
    yield from check_pod_template(f"{path}.template", spec["template"], options=options)
    restarts, field = spec["template"]["spec"]["restartPolicy"], f"{path}.template.spec.restartPolicy"
    if restarts == "Always":
        yield required(field, 'valid values: "OnFailure", "Never"')
    elif restarts not in ("OnFailure", "Never"):
        yield not_supported(field, Named(restarts), ("OnFailure", "Never"))
    elif restarts != "Never" and "podFailurePolicy" in spec:
        yield invalid(field, Named(restarts), 'only "Never" is supported when podFailurePolicy is specified')


def _check_indexed(path: str, spec: Json) -> Iterator[FieldError]:
    # A Job without completions and parallelism gets 1 for both; a job template gets no such default.
    bare = "completions" not in spec and "parallelism" not in spec and path == "spec"
    completions = 1 if bare else spec.get("completions")
    parallelism, failed = spec.get("parallelism", 0), spec.get("maxFailedIndexes")
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > _MANY:
        detail = f"must be less than or equal to {_MANY} when completion mode is Indexed"
        yield invalid(f"{path}.parallelism", parallelism, detail)
    if failed is not None:
        if completions is not None and failed > completions:
            yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
        if failed > _MANY:
            yield invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MANY}")
    if completions is None or completions <= _MANY or "backoffLimitPerIndex" not in spec:
        return
    if failed is None:
        yield required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_MANY}")
    detail = (
        f"must be less than or equal to {_MANY_AT_ONCE} when completions are above {_MANY} and used with backoff "
        "limit per index"
    )
    for field, value in (("parallelism", parallelism), ("maxFailedIndexes", failed or 0)):
        if value > _MANY_AT_ONCE:
            yield invalid(f"{path}.{field}", value, detail)
