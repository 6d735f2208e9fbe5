"""Jobs and CronJobs."""

from __future__ import annotations

import pytest

from tests.unit.api.validation.builders import refusals, workload

MISMATCH = "`selector` does not match template `labels`"


@pytest.mark.parametrize("kind", ["Job", "CronJob"])
def test_jobs_ask_for_the_contrary(kind):
    path = "spec.template" if kind == "Job" else "spec.jobTemplate.spec.template"
    assert refusals(workload(kind, {"restartPolicy": "Always"})) == [
        f'{path}.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    ]


@pytest.mark.parametrize("schedule", ["*/5 0,12 1-15/2 jan-jun MON", "@hourly", "@every 1h30m", "0 0 ? * 0"])
def test_good_schedules(schedule):
    assert refusals(workload("CronJob", schedule=schedule)) == []


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("@never", "unrecognized descriptor: @never"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
    ],
)
def test_bad_schedules(schedule, problem):
    assert refusals(workload("CronJob", schedule=schedule)) == [
        f'spec.schedule: Invalid value: "{schedule}": {problem}'
    ]


def test_a_job_generates_its_selector_and_refuses_another():
    made = workload("Job", selector={"matchLabels": {"a": "b"}})
    found = refusals(made)
    assert len(found) == 2
    assert found[0].startswith(
        'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":'
    )
    assert found[1].endswith(MISMATCH)
    labels = {"app": "web"}
    assert refusals(workload("Job", manualSelector=True, selector={"matchLabels": labels})) == []
    assert refusals(workload("Job", manualSelector=True)) != []
    made = workload("Job")
    made["spec"]["template"]["metadata"]["labels"]["job-name"] = "other"
    assert [message.rpartition(": ")[2] for message in refusals(made)] == ["must be 'w'"]


def test_an_indexed_jobs_name_has_room_for_the_index():
    made = workload("Job", completionMode="Indexed", completions=10)
    made["metadata"]["name"] = "j" * 62
    assert [message.split(": ")[0] for message in refusals(made)] == ["metadata.name"]


def test_the_job_of_a_cron_job_has_no_selector():
    made = workload("CronJob")
    made["spec"]["jobTemplate"]["spec"] |= {"selector": {}, "manualSelector": True}
    made["metadata"]["name"] = "c" * 53
    assert refusals(made) == [
        f'metadata.name: Invalid value: "{"c" * 53}": must be no more than 52 characters',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
        "spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated",
    ]


@pytest.mark.parametrize(
    ("kind", "spec", "refused"),
    [
        ("Job", {"parallelism": -1}, "parallelism: Invalid value: -1: must be greater than or equal to 0"),
        (
            *("Job", {"completionMode": "x"}),
            'completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"',
        ),
        ("Job", {"completionMode": "Indexed"}, ""),
        (
            *("Job", {"completionMode": "Indexed", "parallelism": 2}),
            "completions: Required value: when completion mode is Indexed",
        ),
        (
            *("Job", {"backoffLimitPerIndex": 1}),
            "backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
        (
            "Job",
            {"completionMode": "Indexed", "completions": 100001, "backoffLimitPerIndex": 1, "parallelism": 20000},
            "maxFailedIndexes: Required value: must be specified when completions is above 100000; parallelism: "
            "Invalid value: 20000: must be less than or equal to 10000 when completions are above 100000 and "
            "used with backoff limit per index",
        ),
        (
            *("Job", {"podReplacementPolicy": "x"}),
            'podReplacementPolicy: Unsupported value: "x": supported values: "Failed", "TerminatingOrFailed"',
        ),
        ("CronJob", {"schedule": ""}, "schedule: Required value"),
        (
            *("CronJob", {"concurrencyPolicy": "x"}),
            'concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"',
        ),
        ("CronJob", {"timeZone": ""}, 'timeZone: Invalid value: "": timeZone must be nil or non-empty string'),
        ("CronJob", {"timeZone": "a//b"}, 'timeZone: Invalid value: "a//b": unknown time zone a//b'),
        (
            *("CronJob", {"schedule": "TZ=UTC 0 * * * *"}),
            'schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone '
            "field instead",
        ),
    ],
)
def test_a_wrong_field_is_refused_at_its_place(kind, spec, refused):
    assert "; ".join(each.removeprefix("spec.") for each in refusals(workload(kind, **spec))) == refused
