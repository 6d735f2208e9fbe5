"""StatefulSets: ordinals, order, identity and claims."""

from __future__ import annotations

import pytest

from tests.unit.controllers.manifests import Json, inventory, names, pod, queued, row, workload
from topospread.api.inventory import ABSENT
from topospread.controllers.planner import plan

TEMPLATE: Json = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def replica(ordinal: int, node_name: str = "n", **fields: object) -> Json:
    labels = {"app": "db", "controller-revision-hash": "db-1"}
    return pod(f"db-{ordinal}", "StatefulSet/db", node_name, labels=labels, **fields)


def after(result, name: str = "db") -> dict[str, str]:
    return {each.name: each.after.name if each.after else "" for each in queued(result, name)}


def test_identity():
    result = plan(inventory(workload("StatefulSet", "db", replicas=2)))
    first, second = result.queue
    assert (first.name, first.pod.name) == ("db-0", "db-0")
    revision = first.pod.labels["controller-revision-hash"]
    assert revision.startswith("db-")
    assert second.pod.labels == {
        "app": "db",
        "controller-revision-hash": revision,
        "statefulset.kubernetes.io/pod-name": "db-1",
        "apps.kubernetes.io/pod-index": "1",
    }
    owner = second.pod.metadata.controller
    assert (owner.api_version, owner.kind, owner.name) == ("apps/v1", "StatefulSet", "db")


def test_index_label_came_with_1_28():
    (first,) = plan(inventory(workload("StatefulSet", "db")), kube_version="1.27").queue
    assert "apps.kubernetes.io/pod-index" not in first.pod.labels


def test_in_order_each_waits_for_the_one_before():
    assert after(plan(inventory(workload("StatefulSet", "db", replicas=3)))) == {
        "db-0": "",
        "db-1": "db-0",
        "db-2": "db-1",
    }


def test_parallel_waits_for_nothing():
    result = plan(inventory(workload("StatefulSet", "db", replicas=3, podManagementPolicy="Parallel")))
    assert after(result) == {"db-0": "", "db-1": "", "db-2": ""}


def test_ordinals_start_where_they_are_told():
    result = plan(inventory(workload("StatefulSet", "db", replicas=2, ordinals={"start": 5})))
    assert names(result) == ["db-5", "db-6"]


def test_gaps_are_filled_and_pods_that_wait_are_waited_for():
    result = plan(inventory(workload("StatefulSet", "db", replicas=5), replica(0), replica(2, "")))
    assert set(after(result).items()) == {("db-1", ""), ("db-2", ""), ("db-3", "db-2"), ("db-4", "db-3")}
    assert [each.name for each in row(result, "db").existing] == ["db-0"]


@pytest.mark.parametrize("ordinals", [None, {"start": 1}])
def test_pods_out_of_range_go_from_the_top(ordinals):
    item = workload("StatefulSet", "db", replicas=2, ordinals=ordinals)
    result = plan(inventory(item, *(replica(i) for i in (3, 0, 2, 1, 4))))
    gone = ["db-4", "db-3", "db-2"] if ordinals is None else ["db-4", "db-3", "db-0"]
    assert [each.name for each in result.removed] == gone


def test_scaled_down():
    result = plan(inventory(workload("StatefulSet", "db", replicas=3), *map(replica, range(3))), scale={"sts/db": 1})
    assert [each.name for each in result.removed] == ["db-2", "db-1"]
    assert [each.name for each in result.bound] == ["db-0"]


def test_terminating_ordinal_is_not_made_again_yet():
    leaving = replica(1, deletionTimestamp="2026-01-01T00:00:00Z")
    result = plan(inventory(workload("StatefulSet", "db", replicas=3), replica(0), leaving))
    assert names(result) == ["db-2"]
    assert [each.name for each in row(result, "db").terminating] == ["db-1"]
    assert row(result, "db").notes == [
        "the controller recreates terminating pods once they are gone; not simulated: db-1"
    ]


def test_finished_ordinal_is_made_again():
    result = plan(inventory(workload("StatefulSet", "db", replicas=1), replica(0, phase="Failed")))
    assert names(result) == ["db-0"]


class TestRevision:
    def test_new_pods_are_of_the_revision_that_their_like_have(self):
        result = plan(inventory(workload("StatefulSet", "db", replicas=2), replica(0)))
        assert result.queue[0].pod.labels["controller-revision-hash"] == "db-1"

    def test_of_the_one_that_the_status_names(self):
        item = workload("StatefulSet", "db", replicas=2) | {"status": {"updateRevision": "db-2"}}
        result = plan(inventory(item, replica(0)))
        assert result.queue[0].pod.labels["controller-revision-hash"] == "db-2"

    def test_of_a_new_one_when_the_template_changed(self):
        result = plan(
            inventory(workload("StatefulSet", "db", replicas=2, pod={"nodeSelector": {"a": "b"}}), replica(0))
        )
        assert result.queue[0].pod.labels["controller-revision-hash"] != "db-1"
        assert row(result, "db").notes == [
            "the template changed: its existing pod stays of the old revision; the rollout itself is not simulated"
        ]

    def test_selectors_read_it_and_the_ordinals_labels(self):
        constraint = {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "db"}},
            "matchLabelKeys": ["controller-revision-hash", "apps.kubernetes.io/pod-index"],
        }
        item = workload("StatefulSet", "db", replicas=2, pod={"topologySpreadConstraints": [constraint]})
        for each in plan(inventory(item)).queue:
            (made,) = each.pod.spec.topology_spread_constraints
            found = {part.key: part.values for part in made.label_selector.match_expressions}
            assert found == {key: [each.pod.labels[key]] for key in constraint["matchLabelKeys"]}


class TestClaims:
    def test_missing_ones_are_assumed(self):
        item = workload("StatefulSet", "db", replicas=2, volumeClaimTemplates=[TEMPLATE])
        given = inventory(item)
        given.unread = {"StorageClass": ABSENT}
        result = plan(given)
        assert result.assumed_claims == {("default", "data-db-0"), ("default", "data-db-1")}
        assert [each.name for each in result.inventory.persistent_volume_claims] == ["data-db-0", "data-db-1"]
        (volume,) = result.queue[1].pod.spec.volumes
        assert (volume.name, volume.persistent_volume_claim.claim_name) == ("data", "data-db-1")
        assert row(result, "db").notes == ["2 claims do not exist yet: assumed to get an existing or a new volume"]

    def test_of_a_class_that_does_not_exist_no_volume_is_announced(self):
        given = inventory(workload("StatefulSet", "db", replicas=2, volumeClaimTemplates=[TEMPLATE]))
        given.unread.clear()  # as in a cluster that was read: it has no StorageClass
        assert row(plan(given), "db").notes == []

    def test_those_there_are_used(self):
        claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0", "namespace": "default"}}
        item = workload("StatefulSet", "db", volumeClaimTemplates=[TEMPLATE])
        result = plan(inventory(item, claim))
        assert result.assumed_claims == set()
        assert len(result.inventory.persistent_volume_claims) == 1
        assert row(result, "db").notes == []

    def test_a_claim_template_takes_the_place_of_a_volume_of_its_name(self):
        volumes = [{"name": "data"}, {"name": "tmp"}]
        item = workload("StatefulSet", "db", volumeClaimTemplates=[TEMPLATE], pod={"volumes": volumes})
        made = plan(inventory(item)).queue[0].pod.spec.volumes
        assert [(each.name, each.persistent_volume_claim is not None) for each in made] == [
            ("data", True),
            ("tmp", False),
        ]

    def test_pods_that_wait_get_theirs_too(self):
        item = workload("StatefulSet", "db", volumeClaimTemplates=[TEMPLATE])
        assert plan(inventory(item, replica(0, ""))).assumed_claims == {("default", "data-db-0")}
