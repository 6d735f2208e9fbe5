"""The whole plan: order, bare pods, other schedulers, gates, adoption, and what is completed."""

from __future__ import annotations

import pytest

from tests.unit.controllers.manifests import Json, inventory, names, node, pod, row, workload
from topospread.controllers.planner import plan
from topospread.errors import InvalidError

GATES: Json = {"schedulingGates": [{"name": "example.com/quota"}]}
VOLUME: Json = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}


class TestPods:
    def test_bare_ones(self):
        there = [pod("on", node_name="n"), pod("static", "Node/n", "n"), pod("over", phase="Succeeded")]
        result = plan(inventory(pod("waits"), *there))
        assert [(each.kind, each.name, each.replicas) for each in result.workloads] == [("Pod", "waits", 1)]
        assert [each.name for each in result.bound] == ["on", "static"]
        assert row(result, "waits").template is result.queue[0].pod

    def test_terminating_ones_are_not_placed(self):
        result = plan(inventory(pod("leaving", deletionTimestamp="2026-01-01T00:00:00Z")))
        assert (result.queue, result.workloads) == ([], [])

    def test_those_of_owners_that_were_not_read(self):
        mine = [pod(f"x-{i}", "Rollout/x", node_name="n" * (i > 0)) for i in range(3)]
        result = plan(inventory(*mine))
        assert (row(result, "x").kind, row(result, "x").replicas) == ("Rollout", 3)
        assert names(result, "x") == ["x-0"]
        assert [each.name for each in row(result, "x").existing] == ["x-1", "x-2"]

    def test_kinds_of_other_groups_own_nothing_here(self):
        mine = pod("x-1", "ReplicaSet/web", "n", labels={"app": "web"})
        mine["metadata"]["ownerReferences"][0]["apiVersion"] = "example.com/v1"
        result = plan(inventory(workload("ReplicaSet", "web", replicas=1), mine))
        assert len(names(result)) == 1

    def test_nominated_nodes_are_kept(self):
        result = plan(inventory(pod("p", status={"nominatedNodeName": "n1"})))
        assert result.queue[0].pod.nominated_node_name == "n1"

    def test_refused_ones_have_their_place(self):
        with pytest.raises(InvalidError) as caught:
            plan(inventory(pod("a"), pod("p", priorityClassName="gone")))
        assert str(caught.value) == (
            "app.yaml: document 1: Pod default/p: spec.priorityClassName: "
            'pods "p" is forbidden: no PriorityClass with name gone was found'
        )

    def test_templates_refused_have_their_place(self):
        with pytest.raises(InvalidError) as caught:
            plan(inventory(workload("Deployment", "web", pod={"priorityClassName": "gone"})))
        assert caught.value.place.field == "spec.template.spec.priorityClassName"

    @pytest.mark.parametrize(
        ("kind", "event"),
        [
            ("ReplicaSet", 'FailedCreate: Error creating: pods "web-…" is forbidden: '),
            ("DaemonSet", 'FailedCreate: Error creating: pods "web-…" is forbidden: '),
            (
                "StatefulSet",
                'FailedCreate: Create Pod web-… in StatefulSet web failed error: pods "web-…" is forbidden: ',
            ),
        ],
    )
    def test_refused_templates_are_reported_in_the_words_of_the_controllers_event(self, kind, event):
        with pytest.raises(InvalidError) as caught:
            plan(inventory(node("n"), workload(kind, "web", pod={"priorityClassName": "gone"})))
        assert caught.value.message == event + "no PriorityClass with name gone was found"

    def test_templates_are_not_refused_when_all_replicas_are_there(self):
        mine = pod("web-1", "ReplicaSet/web", "n", labels={"app": "web"})
        item = workload("ReplicaSet", "web", replicas=1, pod={"priorityClassName": "gone"})
        assert plan(inventory(item, mine)).queue == []


def test_pods_of_other_schedulers_are_queued_as_any() -> None:
    """The framework says that it does not judge them."""
    foreign = workload("Deployment", "web", replicas=3, pod={"schedulerName": "volcano"})
    result = plan(inventory(foreign, pod("p", schedulerName="other"), pod("q", node_name="n", schedulerName="other")))
    assert len(result.queue) == 4
    assert [each.name for each in result.bound] == ["q"]
    assert row(result, "web").notes == []


class TestGates:
    def test_wait(self):
        result = plan(inventory(workload("Deployment", "web", replicas=3, pod=GATES), pod("p", **GATES)))
        assert result.queue == []
        assert len({each.name for each in result.gated}) == 4
        assert row(result, "web").notes == ["its pods wait for their scheduling gates to be removed: example.com/quota"]

    def test_hold_up_the_ordinals_after_them(self):
        result = plan(inventory(workload("StatefulSet", "db", replicas=2, pod=GATES)))
        assert [each.after.name if each.after else "" for each in result.gated] == ["", "db-0"]


class TestAdoption:
    def test_orphans_that_a_selector_matches(self):
        orphan = pod("web-x", node_name="n", labels={"app": "web"})
        result = plan(inventory(workload("ReplicaSet", "web", replicas=3), orphan))
        assert [each.name for each in row(result, "web").existing] == ["web-x"]
        assert len(names(result)) == 2
        assert result.notes == [
            "1 pod without a controller is adopted by ReplicaSet default/web, whose selector matches"
        ]

    def test_not_by_deployments_whose_pods_carry_a_hash(self):
        orphan = pod("web-x", node_name="n", labels={"app": "web"})
        assert len(plan(inventory(workload("Deployment", "web", replicas=3), orphan)).queue) == 3

    def test_by_stateful_sets_of_their_name_only(self):
        there = [pod(name, node_name="n", labels={"app": "db"}) for name in ("db-0", "other-1")]
        assert names(plan(inventory(workload("StatefulSet", "db", replicas=2), *there))) == ["db-1"]

    def test_not_across_namespaces_nor_when_on_their_way_out(self):
        orphans = [
            pod("a", node_name="n", labels={"app": "web"}, namespace="other"),
            pod("b", node_name="n", labels={"app": "web"}, deletionTimestamp="2026-01-01T00:00:00Z"),
            pod("c", node_name="n", labels={"app": "web"}, phase="Failed"),
        ]
        assert len(plan(inventory(workload("ReplicaSet", "web", replicas=3), *orphans)).queue) == 3

    def test_by_expressions(self):
        item = workload("ReplicaSet", "web", replicas=2)
        item["spec"]["selector"] = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
        assert len(plan(inventory(item, pod("a", node_name="n", labels={"app": "x"}))).queue) == 1

    def test_replica_sets_by_deployments(self):
        orphan = workload("ReplicaSet", "web-abc", replicas=1)
        orphan["metadata"]["labels"] = {"app": "web"}
        orphan["spec"]["selector"]["matchLabels"] = {"app": "web"}
        orphan["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
        mine = pod("web-abc-1", "ReplicaSet/web-abc", "n", labels={"app": "web"})
        result = plan(inventory(workload("Deployment", "web", replicas=3), orphan, mine))
        assert [each.name for each in result.workloads] == ["web"]
        assert [each.startswith("web-abc-") for each in names(result)] == [True, True]


class TestCompletion:
    def test_namespaces_that_are_used_exist_and_carry_their_name(self):
        shop = {"kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "a"}}}
        result = plan(inventory(shop, pod("p", namespace="blog"), workload("Deployment", "web")))
        assert {each.name: each.labels for each in result.inventory.namespaces} == {
            "shop": {"team": "a", "kubernetes.io/metadata.name": "shop"},
            "default": {"kubernetes.io/metadata.name": "default"},
            "blog": {"kubernetes.io/metadata.name": "blog"},
        }

    def test_generated_names(self):
        unnamed = {"kind": "Pod", "metadata": {"generateName": "task-"}, "spec": {}}
        job = workload("Job", "x")
        job["metadata"] = {"generateName": "sum-"}
        result = plan(inventory(pod("first"), unnamed, unnamed, job, pod("last")))
        made = [each.name for each in result.workloads]
        assert [made[0], made[-1]] == ["first", "last"]
        assert sorted(each[:-5] for each in made[1:-1]) == ["sum-", "task-", "task-"]
        assert len(set(made)) == 5

    def test_objects_need_a_name(self):
        with pytest.raises(InvalidError, match="name or generateName is required"):
            plan(inventory({"kind": "Pod", "metadata": {}, "spec": {}}))

    def test_workloads_need_a_selector(self):
        item = workload("Deployment", "web")
        del item["spec"]["selector"]
        with pytest.raises(InvalidError) as caught:
            plan(inventory(item))
        assert (caught.value.message, caught.value.place.field) == ("spec.selector: Required value", "spec.selector")

    def test_selectors_have_to_compile(self):
        item = workload("Deployment", "web")
        item["spec"]["selector"] = {"matchExpressions": [{"key": "a", "operator": "Is"}]}
        with pytest.raises(InvalidError, match='"Is" is not a valid label selector operator'):
            plan(inventory(item))

    def test_replication_controllers_need_a_template(self):
        item = workload("ReplicationController", "web")
        del item["spec"]["template"]
        with pytest.raises(InvalidError, match=r"spec\.template: Required value"):
            plan(inventory(item))


class TestEphemeralVolumes:
    def test_each_pod_has_its_own_claim(self):
        result = plan(inventory(workload("Deployment", "web", replicas=2, pod={"volumes": [VOLUME]})))
        assert {each.pod.name for each in result.queue} == set(names(result))
        claims = {each.name: each for each in result.inventory.persistent_volume_claims}
        assert set(claims) == {f"{name}-scratch" for name in names(result)}
        assert result.assumed_claims == {("default", name) for name in claims}
        for each in result.queue:
            owner = claims[f"{each.name}-scratch"].metadata.controller
            assert (owner.kind, owner.name, owner.uid) == ("Pod", each.name, each.pod.metadata.uid)

    def test_the_claim_of_a_pod_that_waits_may_be_there(self):
        claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "p-scratch"}}
        result = plan(inventory(pod("p", volumes=[VOLUME]), claim))
        assert (result.assumed_claims, len(result.inventory.persistent_volume_claims)) == (set(), 1)


def storage_class(name: str, created: str, default: str = "true") -> Json:
    annotations = {"storageclass.kubernetes.io/is-default-class": default}
    metadata = {"name": name, "creationTimestamp": created, "annotations": annotations}
    return {"kind": "StorageClass", "metadata": metadata, "provisioner": "p"}


@pytest.mark.parametrize(("given", "made"), [(None, "young-a"), ("own", "own"), ("", "")])
def test_claims_are_of_the_youngest_default_class(given, made):
    classes = [
        storage_class("old", "2026-01-01T00:00:00Z"),
        storage_class("young-b", "2026-01-02T00:00:00Z"),
        storage_class("young-a", "2026-01-02T00:00:00Z"),
        storage_class("youngest", "2026-01-03T00:00:00Z", "false"),
    ]
    template = {"metadata": {"name": "data"}, "spec": {} if given is None else {"storageClassName": given}}
    result = plan(inventory(*classes, workload("StatefulSet", "db", volumeClaimTemplates=[template])))
    (claim,) = result.inventory.persistent_volume_claims
    assert claim.spec.storage_class_name == made
    assert bool(result.assumed_claims) == (made != "")
