"""Jobs and CronJobs as the API server checks them when they are created.

Source: pkg/apis/batch/validation/validation.go, with the selector and labels that pkg/registry/batch/job/strategy.go
adds (Kubernetes 1.37). Not checked: podFailurePolicy, successPolicy and managedBy, which do not touch placement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import names
from .defaults import default_template
from .field import FieldError, Named, invalid, not_supported, one_of, required
from .metadata import check_metadata
from .options import Options
from .pod import check_pod_template
from .rules import check_fields
from .schedules import check_schedule, check_time_zone
from .selectors import check_label_selector, labels_as_printed, selector_as_printed
from .workloads import compiled_selector, own_labels_from

Json = dict[str, Any]

UID: Final = "00000000-0000-0000-0000-000000000000"
"""Stands for the uid that the API server is going to give."""

_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_MANY: Final = 100_000
_MANY_AT_ONCE: Final = 10_000


def default_job(job: Json) -> None:
    """Defaults of a Job, and the labels and selector by which it will find its pods."""
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
    """Defaults of a CronJob."""
    spec = cron_job.setdefault("spec", {})
    cron_job.setdefault("metadata", {})["generation"] = 1
    job_spec = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
    default_template(job_spec.setdefault("template", {}))


def check_job(job: Json, *, options: Options) -> Iterator[FieldError]:
    """A Job."""
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
    """Labels given by hand must be those that the API server would have generated."""
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
    """A CronJob."""
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
    # A Job without both runs once; a job template keeps what it has.
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
