"""New objects with the defaults of the API server, as policies read them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.controllers.manifests import pod, workload
from topospread.admission.written_objects import completed_fields, overlaid, written
from topospread.cel.values import Unknown

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        *(("web", "Always"), ("web:latest", "Always"), ("web:1", "IfNotPresent"), ("web@sha256:0", "IfNotPresent")),
        *(("host:5000/web", "Always"), ("host:5000/web:1", "IfNotPresent")),
    ],
)
def test_an_image_of_the_latest_tag_is_always_pulled(image: str, policy: str) -> None:
    made = written("Pod", pod("p", containers=[{"name": "c", "image": image}]))
    assert made["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_a_new_pod_has_no_status_of_its_own_and_unknown_metadata() -> None:
    made = written(
        "Pod", pod("p", schedulingGates=[{"name": "g"}], volumes=[{"name": "v"}, {"name": "s", "secret": {}}])
    )
    assert made["status"]["phase"] == "Pending"
    assert isinstance(made["status"]["conditions"], Unknown)
    assert isinstance(made["metadata"]["uid"], Unknown)
    assert made["metadata"]["name"] == "p"
    spec = made["spec"]
    assert (spec["schedulerName"], spec["enableServiceLinks"]) == ("default-scheduler", True)
    assert [each.get("emptyDir", each.get("secret")) for each in spec["volumes"]] == [{}, {"defaultMode": 420}]
    assert isinstance(written("Pod", {"metadata": {"generateName": "p-"}})["metadata"]["name"], Unknown)


@pytest.mark.parametrize(
    ("kind", "given", "found"),
    [
        ("Deployment", {}, {"replicas": 1, "strategy": {"maxUnavailable": "25%", "maxSurge": "25%"}}),
        ("StatefulSet", {"serviceName": "s"}, {"podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10}),
        ("DaemonSet", {}, {"updateStrategy": {"maxUnavailable": 1, "maxSurge": 0}}),
        ("Job", {}, {"completions": 1, "parallelism": 1, "podReplacementPolicy": "TerminatingOrFailed"}),
        ("Job", {"parallelism": 2, "podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
    ],
)
def test_defaults_of_workloads(kind: str, given: Json, found: Json) -> None:
    spec = completed_fields(kind, workload(kind, "web", **given))["spec"]
    assert {name: spec[name].get("rollingUpdate") if "trategy" in name else spec[name] for name in found} == found
    assert "completions" in spec or "parallelism" not in given or spec["parallelism"] == 2


def test_the_uid_of_a_new_job_is_unknown_wherever_it_is() -> None:
    made = written("Job", workload("Job", "once"))
    key = "batch.kubernetes.io/controller-uid"
    for labels in (made["spec"]["selector"]["matchLabels"], made["spec"]["template"]["metadata"]["labels"]):
        assert isinstance(labels[key], Unknown)
    assert made["spec"]["template"]["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "once"


def test_a_field_that_admission_adds_is_written_like_any() -> None:
    assert overlaid("PodSpec", "tolerations", [{"key": "a", "operator": "Exists"}]) == [
        {"key": "a", "operator": "Exists"}
    ]
