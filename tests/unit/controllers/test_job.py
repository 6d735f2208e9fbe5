"""Jobs and runs of CronJobs."""

from __future__ import annotations

import re

import pytest

from tests.unit.controllers.manifests import Json, inventory, names, pod, row, workload
from topospread.controllers.planner import plan
from topospread.errors import UsageError

INDEX = "batch.kubernetes.io/job-completion-index"
UID = "11111111-0000-0000-0000-000000000000"


def job(**spec: object) -> Json:
    item = workload("Job", "sum", **spec)
    item["metadata"]["uid"] = UID
    return item


def part(name: str, node_name: str = "n", index: int | None = None, **fields: object) -> Json:
    labels = {"batch.kubernetes.io/controller-uid": UID}
    annotations = {} if index is None else {INDEX: str(index)}
    return pod(name, "Job/sum", node_name, labels=labels, annotations=annotations, **fields)


def indexes(result) -> list[str]:
    return [each.pod.labels[INDEX] for each in result.queue]


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        ({}, 1),
        ({"parallelism": 3}, 3),
        ({"completions": 5}, 1),
        ({"completions": 5, "parallelism": 3}, 3),
        ({"completions": 2, "parallelism": 3}, 2),
        ({"completions": 2, "parallelism": 2**31 - 1}, 2),
        ({"parallelism": 2**31 - 1, "suspend": True}, 0),
        ({"parallelism": 0}, 0),
        ({"completions": 5, "parallelism": 3, "suspend": True}, 0),
    ],
)
def test_as_many_as_may_run_now(spec, pods):
    result = plan(inventory(job(**spec)))
    assert (len(result.queue), row(result, "sum").replicas) == (pods, pods)


def test_pods_carry_the_jobs_labels():
    (queued,) = plan(inventory(job())).queue
    assert queued.pod.labels == {
        "app": "sum",
        "job-name": "sum",
        "batch.kubernetes.io/job-name": "sum",
        "controller-uid": UID,
        "batch.kubernetes.io/controller-uid": UID,
    }
    owner = queued.pod.metadata.controller
    assert (owner.api_version, owner.kind, owner.uid) == ("batch/v1", "Job", UID)


def test_what_succeeded_is_not_run_again():
    done = [part("a", phase="Succeeded"), part("b", phase="Succeeded")]
    result = plan(inventory(job(completions=4, parallelism=3), *done, part("c")))
    assert len(result.queue) == 1
    status = job(completions=4, parallelism=3) | {"status": {"succeeded": 3}}
    assert len(plan(inventory(status)).queue) == 1


def test_what_succeeded_may_be_named_without_bound():
    endless = {"status": {"completedIndexes": f"0-2147483640,{'9' * 5000}"}}
    result = plan(inventory(job(completions=2**31 - 1, parallelism=3, completionMode="Indexed") | endless))
    assert len(result.queue) == 3


def test_failed_pods_are_replaced():
    assert len(plan(inventory(job(), part("a", phase="Failed"))).queue) == 1


def test_work_queue_starts_nothing_after_the_first_success():
    result = plan(inventory(job(parallelism=3), part("a", phase="Succeeded"), part("b")))
    assert (result.queue, row(result, "sum").replicas) == ([], 1)


@pytest.mark.parametrize(
    "status",
    [{"completionTime": "2026-01-01T00:00:00Z"}, {"conditions": [{"type": "Failed", "status": "True"}]}],
)
def test_over_is_over(status):
    result = plan(inventory(job(completions=3) | {"status": status}))
    assert (result.queue, result.workloads) == ([], [])


def test_suspended_job_loses_its_pods():
    result = plan(inventory(job(suspend=True), part("a"), part("b", "")))
    assert [each.name for each in result.removed] == ["b", "a"]
    assert row(result, "sum").notes == ["it is suspended: it has no pods"]


def test_managed_by_somebody_else():
    result = plan(inventory(job(parallelism=3, managedBy="kueue.x-k8s.io/multikueue"), part("a")))
    assert (result.queue, row(result, "sum").replicas) == ([], 1)


def test_terminating_pods_hold_their_place_if_only_failed_ones_are_replaced():
    leaving = part("a", deletionTimestamp="2026-01-01T00:00:00Z")
    assert len(plan(inventory(job(parallelism=2), leaving)).queue) == 2
    assert len(plan(inventory(job(parallelism=2, podReplacementPolicy="Failed"), leaving)).queue) == 1


class TestIndexed:
    def test_labels_and_names(self):
        result = plan(inventory(job(completionMode="Indexed", completions=3, parallelism=2)))
        assert indexes(result) == ["0", "1"]
        assert all(re.fullmatch(f"sum-{i}-[a-z0-9]{{5}}", name) for i, name in enumerate(names(result)))

    def test_no_label_before_1_28(self):
        result = plan(inventory(job(completionMode="Indexed", completions=1)), kube_version="1.27")
        assert INDEX not in result.queue[0].pod.labels

    def test_first_indexes_that_are_free(self):
        item = job(completionMode="Indexed", completions=9, parallelism=5)
        status = {"completedIndexes": "0,2-3,x", "failedIndexes": "6"}
        result = plan(inventory(item | {"status": status}, part("a", index=1)))
        assert indexes(result) == ["4", "5", "7", "8"]

    def test_repeated_indexes_and_none_go_first(self):
        item = job(completionMode="Indexed", completions=3, parallelism=3)
        there = [part("a", index=0), part("b", "", index=0), part("c"), part("d", index=7)]
        result = plan(inventory(item, *there))
        assert {each.name for each in result.removed} == {"b", "c", "d"}
        assert indexes(result) == ["1", "2"]

    def test_selectors_read_the_index(self):
        term = {"topologyKey": "zone", "labelSelector": {}, "mismatchLabelKeys": [INDEX]}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        item = job(completionMode="Indexed", completions=2, parallelism=2, pod={"affinity": affinity})
        for each in plan(inventory(item)).queue:
            (made,) = each.pod.spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
            (requirement,) = made.label_selector.match_expressions
            assert (requirement.operator, requirement.values) == ("NotIn", [each.pod.labels[INDEX]])

    def test_long_names_are_cut_before_the_index(self):
        item = job(completionMode="Indexed", completions=1)
        item["metadata"]["name"] = "x" * 63
        (name,) = names(plan(inventory(item)))
        assert re.fullmatch("x{55}-0-[a-z0-9]{5}", name)


def test_scale_is_the_parallelism():
    assert len(plan(inventory(job(completions=9)), scale={"job/sum": 4}).queue) == 4
    result = plan(inventory(job(completions=9, parallelism=2), part("a"), part("b", "")), scale={"job/sum": 1})
    assert [each.name for each in result.removed] == ["b"]


CRON_JOB: Json = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly", "namespace": "shop"},
    "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": workload("Job", "x", parallelism=2)["spec"]}},
}


class TestCronJob:
    def test_runs_only_when_asked(self):
        result = plan(inventory(CRON_JOB))
        assert result.workloads == []
        assert result.notes == ["1 CronJob was not run: a run is simulated on request (--run-cron-job)"]

    def test_nothing_is_said_of_those_that_are_there_already(self):
        stored = {**CRON_JOB, "metadata": {**CRON_JOB["metadata"], "resourceVersion": "7"}}
        assert plan(inventory(stored)).notes == []

    @pytest.mark.parametrize("name", ["nightly", "shop/nightly", "cronjob/nightly", "shop/cj/nightly"])
    def test_one_run(self, name):
        result = plan(inventory(CRON_JOB), run_cron_jobs=[name])
        assert len(names(result, "nightly-run")) == 2
        assert [each.name for each in result.inventory.jobs] == ["nightly-run"]
        assert row(result, "nightly-run").kind == "Job"

    @pytest.mark.parametrize("name", ["nigthly", "other/nightly", "a/b/c", ""])
    def test_not_there(self, name):
        with pytest.raises(UsageError):
            plan(inventory(CRON_JOB), run_cron_jobs=[name])
