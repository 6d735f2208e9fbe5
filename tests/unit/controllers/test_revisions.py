"""Revisions: templates that are equal after defaults are one, and pods show the revision that they are of."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.pod import Pod, PodTemplateSpec
from topospread.controllers.planned import Workload
from topospread.controllers.revisions import (
    REVISION_HASH_LABEL,
    TEMPLATE_HASH_LABEL,
    canonical,
    note_old_pods,
    note_other_revisions,
    revision_hash,
    shown_revision,
)

Json = dict[str, Any]
LABELS = {"app": "web"}


def template(container: Json | None = None, labels: Json | None = None, **spec: Any) -> PodTemplateSpec:
    given = {"containers": [{"name": "c", "image": "i"} | (container or {})]} | spec
    return msgspec.convert({"metadata": {"labels": labels or LABELS}, "spec": given}, PodTemplateSpec)


@pytest.mark.parametrize(
    "other",
    [
        template(labels=LABELS | {TEMPLATE_HASH_LABEL: "1"}),
        template(restartPolicy="Always", schedulerName="default-scheduler"),
        template({"resources": {}, "ports": []}, tolerations=[], hostNetwork=False),
    ],
)
def test_one_revision(other: PodTemplateSpec) -> None:
    assert canonical(other) == canonical(template())
    assert revision_hash(other) == revision_hash(template())


@pytest.mark.parametrize(
    "other",
    [
        template({"image": "j"}),
        template(labels={"app": "api"}),
        template(schedulerName="other"),
        template(restartPolicy="Never"),
        template(hostNetwork=True),
        template(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]),
    ],
)
def test_another_revision(other: PodTemplateSpec) -> None:
    assert canonical(other) != canonical(template())


def test_amounts_ports_and_empty_selectors_are_compared_as_the_api_server_has_them() -> None:
    def cpu(amount: str) -> bytes:
        return canonical(template({"resources": {"requests": {"cpu": amount}}}))

    assert cpu("1") == cpu("1000m") != cpu("2")
    assert cpu("what") != cpu("1")
    port = {"ports": [{"containerPort": 80}]}
    assert canonical(template(port)) == canonical(template({"ports": [{"containerPort": 80, "protocol": "TCP"}]}))
    hosted = template({"ports": [{"containerPort": 80, "hostPort": 80}]}, hostNetwork=True)
    assert canonical(template(port, hostNetwork=True)) == canonical(hosted)
    assert canonical(template({"ports": [{"containerPort": 80, "hostPort": 80}]})) != canonical(template(port))
    constraint = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
    empty, missing = (
        canonical(template(topologySpreadConstraints=[constraint | more])) for more in ({"labelSelector": {}}, {})
    )
    assert empty != missing


def pod(revision: str = "", created: str = "2026-01-01T00:00:00Z", labels: Json | None = None, **spec: Any) -> Pod:
    given = {"containers": [{"name": "c", "image": "i"}]} | spec
    labels = (labels or LABELS) | ({REVISION_HASH_LABEL: revision} if revision else {})
    return msgspec.convert({"metadata": {"labels": labels, "creationTimestamp": created}, "spec": given}, Pod)


def containers(**more: Any) -> list[Json]:
    return [{"name": "c", "image": "i"} | more]


@pytest.mark.parametrize(
    "other",
    [
        pod("2", labels={"app": "api"}),
        pod("2", containers=containers(image="j")),
        pod("2", containers=containers(name="d")),
        pod("2", containers=containers(resources={"requests": {"cpu": "1"}})),
        pod("2", hostNetwork=True),
        pod("2", priorityClassName="high"),
        pod("2", topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]),
    ],
)
def test_a_pod_that_differs_shows_another_revision(other: Pod) -> None:
    assert shown_revision(pod(), [other]) is None
    assert shown_revision(pod(), [other, pod("1")]) == "1"


def test_the_youngest_pod_that_is_alike_shows_the_revision() -> None:
    young = pod("2", "2026-02-01T00:00:00Z", containers=[*containers(), {"name": "injected"}], nodeSelector={"a": "b"})
    assert shown_revision(pod(), [pod("1"), young, pod("3")]) == "2"
    assert shown_revision(pod(), [pod()]) is None
    assert shown_revision(pod(nodeSelector={"a": "b"}), [pod("1")]) is None
    assert shown_revision(pod(initContainers=containers()), [pod("1")]) is None


def test_the_newest_revision_that_a_status_names_may_be_old() -> None:
    assert shown_revision(pod(), [pod("1")], "1") == "1"
    assert shown_revision(pod(), [pod("1")], "2") == "2"
    assert shown_revision(pod(), [pod("1", hostNetwork=True)], "1") is None
    assert shown_revision(pod(), [], "1") == "1"


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        ([pod("1")], ""),
        ([pod("2")], "the template changed: its existing pod stays"),
        ([pod("1"), pod("2")], "a rollout is under way: its existing pod stays"),
        ([pod("1"), pod("2"), pod("1", hostNetwork=True)], "a rollout is under way: 2 existing pods stay"),
        ([pod("2"), pod("3")], "the template changed: 2 existing pods stay"),
        ([pod()], ""),
    ],
)
def test_old_pods_are_noted(pods: list[Pod], said: str) -> None:
    row = Workload("StatefulSet", "ns", "web", 3, template=pod("1"))
    note_other_revisions(row, pods)
    assert row.notes == ([f"{said} of the old revision; the rollout itself is not simulated"] if said else [])


def test_a_workload_without_a_template_has_no_notes() -> None:
    row = Workload("ReplicaSet", "ns", "web", 3)
    note_other_revisions(row, [pod("2")])
    note_old_pods(row, 0, changed=True)
    assert row.notes == []
