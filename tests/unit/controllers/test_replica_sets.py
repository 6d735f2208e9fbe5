"""Deployments, ReplicaSets and ReplicationControllers."""

from __future__ import annotations

import re

import msgspec
import pytest

from tests.unit.controllers.manifests import Json, container, inventory, names, node, pod, queued, ready, row, workload
from topospread.controllers.planner import plan
from topospread.errors import InvalidError, UsageError

HASH = "pod-template-hash"


def replica_set(deployment: Json, template_hash: str, *, revision: str = "1", **spec: object) -> Json:
    """A ReplicaSet of a Deployment, as its controller makes it; ``pod``: what differs in its pods' spec."""
    name = deployment["metadata"]["name"]
    made = workload("ReplicaSet", f"{name}-{template_hash}", **spec)
    labels = {"app": name, HASH: template_hash}
    made["spec"]["selector"]["matchLabels"] = labels
    made["spec"]["template"]["metadata"]["labels"] = labels
    made["metadata"] |= {
        "labels": labels,
        "annotations": {"deployment.kubernetes.io/revision": revision},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "controller": True}],
    }
    return made


def pods_of(replica_set: Json, count: int, first: int = 0, **fields: object) -> list[Json]:
    name, labels = replica_set["metadata"]["name"], replica_set["metadata"]["labels"]
    return [
        pod(f"{name}-{i}", f"ReplicaSet/{name}", f"node-{i}", labels=labels, **fields)
        for i in range(first, first + count)
    ]


class TestNewDeployment:
    def test_pods_belong_to_a_replica_set_that_is_made_up(self):
        result = plan(inventory(workload("Deployment", "web", replicas=3)))
        (made,) = result.inventory.replica_sets
        template_hash = made.labels[HASH]
        assert re.fullmatch("[bcdf-hj-np-tv-xz24-9]+", template_hash)
        assert made.name == f"web-{template_hash}"
        assert made.spec.selector.match_labels == {"app": "web", HASH: template_hash}
        assert made.metadata.controller.kind == "Deployment"
        assert made.spec.replicas == 3
        for each in queued(result):
            assert re.fullmatch(f"web-{template_hash}-[bcdf-hj-np-tv-xz24-9]{{5}}", each.name)
            assert each.pod.labels == {"app": "web", HASH: template_hash}
            owner = each.pod.metadata.controller
            assert (owner.api_version, owner.kind, owner.name) == ("apps/v1", "ReplicaSet", made.name)
            assert owner.uid == made.metadata.uid != ""
        assert "the Deployment controller will give them another" in " ".join(result.notes)

    def test_replicas_share_one_pod(self):
        result = plan(inventory(workload("Deployment", "web", replicas=50)))
        assert len({id(each.pod) for each in result.queue}) == 1
        assert len(set(names(result))) == 50

    def test_one_replica_unless_said_otherwise(self):
        assert len(plan(inventory(workload("Deployment", "web"))).queue) == 1
        assert plan(inventory(workload("Deployment", "web", replicas=0))).queue == []

    def test_same_names_each_time(self):
        first, second = (names(plan(inventory(workload("Deployment", "web", replicas=5)))) for _ in range(2))
        assert first == second

    def test_hash_depends_on_the_template_alone(self):
        def hash_of(**spec: object) -> str:
            return plan(inventory(workload("Deployment", "web", **spec))).inventory.replica_sets[0].labels[HASH]

        assert hash_of(replicas=1) == hash_of(replicas=9)
        assert hash_of() != hash_of(pod={"nodeSelector": {"disk": "ssd"}})

    def test_paused_makes_no_pods(self):
        result = plan(inventory(workload("Deployment", "web", replicas=3, paused=True)))
        assert result.queue == []
        assert result.inventory.replica_sets == []
        assert row(result, "web").notes == ["it is paused and has no ReplicaSet yet: its pods are not created"]

    @pytest.mark.parametrize(
        ("replicas", "words"),
        [
            (-1, "Invalid value: -1: must be greater than or equal to 0"),
            (2**31 - 1, "2147483647 pods are more than can be simulated (150000, or 1000 for each node)"),
        ],
    )
    def test_numbers_nobody_means(self, replicas, words):
        with pytest.raises(InvalidError) as caught:
            plan(inventory(workload("Deployment", "web", replicas=replicas)))
        assert caught.value.message == words
        assert str(caught.value.place) == "app.yaml: document 1: Deployment default/web: spec.replicas"

    def test_the_replicas_of_all_workloads_have_one_bound(self):
        with pytest.raises(InvalidError) as caught:
            plan(inventory(*(workload("Deployment", name, replicas=100_000) for name in ("web", "db"))))
        assert caught.value.message == (
            "100000 pods and 100000 of earlier workloads are more than can be simulated (150000, or 1000 for each node)"
        )
        assert str(caught.value.place) == "app.yaml: document 1: Deployment default/db: spec.replicas"

    def test_the_bound_grows_with_the_nodes(self):
        nodes = [node(f"node-{number}") for number in range(151)]
        assert len(plan(inventory(*nodes, workload("Deployment", "web", replicas=150_500))).queue) == 150_500


class TestDeploymentWithPods:
    def test_pods_of_its_replica_set_count_as_replicas(self):
        web = workload("Deployment", "web", replicas=5)
        current = replica_set(web, "abc")
        result = plan(inventory(web, current, *pods_of(current, 3)))
        assert [each.name for each in row(result, "web").existing] == ["web-abc-0", "web-abc-1", "web-abc-2"]
        assert len(names(result, "web")) == 2
        assert all(each.startswith("web-abc-") for each in names(result))
        assert [each.name for each in result.inventory.replica_sets] == ["web-abc"]
        assert [each.name for each in result.workloads] == ["web"]
        assert row(result, "web").notes == []

    def test_template_written_otherwise_is_the_same_revision(self):
        resources = {"requests": {"cpu": "500m"}}
        web = workload("Deployment", "web", replicas=2, pod={"containers": [container(requests={"cpu": 0.5})]})
        stored = {
            "containers": [container(**resources)],
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
        }
        current = replica_set(web, "abc", pod=stored)
        result = plan(inventory(web, current, *pods_of(current, 1)))
        assert names(result)[0].startswith("web-abc-")

    def test_changed_template_makes_only_what_is_missing(self):
        web = workload("Deployment", "web", replicas=5, pod={"nodeSelector": {"disk": "ssd"}})
        old = replica_set(web, "abc")
        result = plan(inventory(web, old, *pods_of(old, 3)))
        made = result.inventory.replica_sets[1]
        assert len(queued(result)) == 2
        assert {each.pod.labels[HASH] for each in queued(result)} == {made.labels[HASH]} != {"abc"}
        assert len(row(result, "web").existing) == 3
        assert row(result, "web").notes == [
            "the template changed: 3 existing pods stay of the old revision; the rollout itself is not simulated"
        ]

    def test_rollout_under_way_is_left_as_it_is(self):
        web = workload("Deployment", "web", replicas=4, pod={"nodeSelector": {"disk": "ssd"}})
        old = replica_set(web, "old")
        new = replica_set(web, "new", revision="2", pod={"nodeSelector": {"disk": "ssd"}})
        result = plan(inventory(web, old, new, *pods_of(old, 3), *pods_of(new, 2)))
        assert (result.queue, result.removed) == ([], [])
        assert len(row(result, "web").existing) == 5
        assert row(result, "web").notes == [
            "a rollout is under way: 3 existing pods stay of the old revision; the rollout itself is not simulated"
        ]

    def test_of_replica_sets_that_look_alike_the_highest_revision_is_meant(self):
        web = workload("Deployment", "web", replicas=2)
        sets = [replica_set(web, f"h{i}", revision=str(i)) for i in (9, 10, 8)]
        result = plan(inventory(web, *sets, *pods_of(sets[1], 1)))
        assert names(result)[0].startswith("web-h10-")

    def test_replica_set_that_was_not_read_is_known_by_its_pods(self):
        web = workload("Deployment", "web", replicas=3)
        current = replica_set(web, "abc")
        result = plan(inventory(web, *pods_of(current, 2)))
        (made,) = result.inventory.replica_sets
        assert made.name == "web-abc"
        assert [each.startswith("web-abc-") for each in names(result)] == [True]
        assert len(row(result, "web").existing) == 2
        assert result.notes == [
            "ReplicaSet default/web-abc is not in the input: its pods are assumed to be of Deployment web"
        ]

    def test_pods_of_another_owner_are_not_counted(self):
        web = workload("Deployment", "web", replicas=2)
        stranger = pod("web-x", "ReplicaSet/rollout-5", "node-1", labels={"app": "web", HASH: "5"})
        result = plan(inventory(web, stranger))
        assert len(names(result, "web")) == 2
        assert (row(result, "rollout-5").kind, row(result, "rollout-5").replicas) == ("ReplicaSet", 1)
        assert row(result, "rollout-5").template is None

    def test_terminating_pods_are_replaced_and_stay_bound(self):
        web = workload("Deployment", "web", replicas=2)
        current = replica_set(web, "abc")
        leaving = pods_of(current, 1, 7, deletionTimestamp="2026-01-01T00:00:00Z")
        result = plan(inventory(web, current, *pods_of(current, 1), *leaving))
        assert len(result.queue) == 1
        assert [each.name for each in row(result, "web").terminating] == ["web-abc-7"]
        assert {each.name for each in result.bound} == {"web-abc-0", "web-abc-7"}

    def test_finished_pods_are_nothing(self):
        web = workload("Deployment", "web", replicas=2)
        current = replica_set(web, "abc")
        done = [*pods_of(current, 1, 5, phase="Failed"), *pods_of(current, 1, 6, phase="Succeeded")]
        result = plan(inventory(web, current, *done))
        assert len(result.queue) == 2
        assert result.bound == []

    def test_pending_pods_wait_under_their_own_names(self):
        web = workload("Deployment", "web", replicas=3)
        current = replica_set(web, "abc")
        waiting = pods_of(current, 2, creationTimestamp="2026-01-01T00:00:00Z")
        for each in waiting:
            del each["spec"]["nodeName"]
        result = plan(inventory(web, current, *waiting))
        assert names(result)[:2] == ["web-abc-0", "web-abc-1"]
        assert [each.created for each in result.queue] == ["2026-01-01T00:00:00Z"] * 2 + [""]

    def test_deployment_applied_again_without_its_uid_keeps_its_pods(self):
        web = workload("Deployment", "web", replicas=2)
        current = replica_set(web, "abc")
        current["metadata"]["uid"] = "rs-uid"
        current["metadata"]["ownerReferences"][0]["uid"] = "deployment-uid"
        mine = pods_of(current, 1)
        mine[0]["metadata"]["ownerReferences"][0]["uid"] = "rs-uid"
        result = plan(inventory(web, current, *mine))
        assert len(row(result, "web").existing) == 1
        assert result.inventory.deployments[0].metadata.uid == "deployment-uid"

    def test_pods_of_a_deleted_namesake_are_not_its_own(self):
        web = workload("Deployment", "web", replicas=2)
        current = replica_set(web, "abc")
        current["metadata"]["uid"] = "new-uid"
        mine = pods_of(current, 1)
        mine[0]["metadata"]["ownerReferences"][0]["uid"] = "old-uid"
        result = plan(inventory(web, current, *mine))
        assert len(names(result, "web")) == 2

    def test_paused_scales_the_replica_set_in_use(self):
        web = workload("Deployment", "web", replicas=3, paused=True, pod={"nodeSelector": {"disk": "ssd"}})
        old = replica_set(web, "abc")
        result = plan(inventory(web, old, *pods_of(old, 1)))
        assert [each.startswith("web-abc-") for each in names(result)] == [True, True]

    def test_deployment_that_is_being_deleted_makes_nothing(self):
        web = workload("Deployment", "web", replicas=3)
        web["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        current = replica_set(web, "abc")
        result = plan(inventory(web, current, *pods_of(current, 1)))
        assert (result.queue, row(result, "web").replicas) == ([], 1)


class TestScale:
    def test_up(self):
        assert len(plan(inventory(workload("Deployment", "web")), scale={"deploy/web": 30}).queue) == 30

    def test_down_removes_what_its_controller_would(self):
        web = workload("Deployment", "web", replicas=4)
        current = replica_set(web, "abc")
        pods = pods_of(current, 4, status=ready(), creationTimestamp="2026-01-01T00:00:00Z")
        pods[2]["status"]["conditions"] = []
        pods[1]["spec"]["nodeName"] = "node-0"
        result = plan(inventory(web, current, *pods), scale={"deploy/web": 2})
        assert [each.name for each in result.removed] == ["web-abc-2", "web-abc-0"]
        assert {each.name for each in result.bound} == {"web-abc-1", "web-abc-3"}
        assert [each.name for each in row(result, "web").existing] == ["web-abc-1", "web-abc-3"]

    def test_fewer_replicas_in_the_manifest_are_the_same(self):
        web = workload("Deployment", "web", replicas=1)
        current = replica_set(web, "abc")
        result = plan(inventory(web, current, *pods_of(current, 3)))
        assert len(result.removed) == 2

    def test_several_revisions_give_in_proportion(self):
        web = workload("Deployment", "web", replicas=12, pod={"nodeSelector": {"disk": "ssd"}})
        old = replica_set(web, "old")
        new = replica_set(web, "new", revision="2", pod={"nodeSelector": {"disk": "ssd"}})
        result = plan(inventory(web, old, new, *pods_of(old, 8), *pods_of(new, 4)), scale={"deploy/web": 6})
        removed = [each.name.split("-")[1] for each in result.removed]
        assert (removed.count("old"), removed.count("new")) == (4, 2)

    @pytest.mark.parametrize("replicas", range(9))
    def test_as_many_as_asked_for_stay(self, replicas):
        web = workload("Deployment", "web", replicas=8)
        sets = [replica_set(web, f"h{i}", revision=str(i), pod={"nodeSelector": {"x": str(i)}}) for i in range(4)]
        pods = [each for i, one in enumerate(sets) for each in pods_of(one, (1, 1, 1, 5)[i])]
        result = plan(inventory(web, *sets, *pods), scale={"deploy/web": replicas})
        assert len(result.bound) == replicas

    def test_replica_set_of_a_deployment_cannot_be_scaled(self):
        web = workload("Deployment", "web")
        with pytest.raises(UsageError, match="scale deployment/web instead"):
            plan(inventory(web, replica_set(web, "abc")), scale={"rs/web-abc": 3})


class TestReplicaSet:
    @pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
    def test_missing_pods(self, kind):
        mine = pod("web-a", f"{kind}/web", "n", labels={"app": "web"})
        result = plan(inventory(workload(kind, "web", replicas=3), mine))
        assert len(names(result)) == 2
        assert all(re.fullmatch("web-[a-z0-9]{5}", each) for each in names(result))
        owner = result.queue[0].pod.metadata.controller
        assert (owner.api_version, owner.kind) == ("v1" if kind == "ReplicationController" else "apps/v1", kind)

    @pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
    def test_scaled_down(self, kind):
        pods = [pod(f"web-{i}", f"{kind}/web", "n", labels={"app": "web"}) for i in range(3)]
        short = {"ReplicaSet": "rs", "ReplicationController": "rc"}[kind]
        result = plan(inventory(workload(kind, "web", replicas=3), *pods), scale={f"{short}/web": 1})
        assert len(result.removed) == 2

    def test_replication_controller_without_a_selector_selects_its_template(self):
        web = workload("ReplicationController", "web", replicas=2)
        del web["spec"]["selector"]
        result = plan(inventory(web, pod("web-a", "ReplicationController/web", "n", labels={"app": "web"})))
        assert len(result.queue) == 1
        # Default spread constraints look for it in the object.
        assert [each.spec.selector for each in result.inventory.replication_controllers] == [{"app": "web"}]

    def test_old_revisions_of_a_deployment_that_was_not_read_are_no_workloads(self):
        web = workload("Deployment", "web")
        old = replica_set(web, "abc", replicas=0)
        assert plan(inventory(old)).workloads == []

    def test_pod_that_a_selector_lost_is_replaced(self):
        lost = pod("web-a", "ReplicaSet/web", "n", labels={"app": "quarantine"})
        result = plan(inventory(workload("ReplicaSet", "web", replicas=1), lost))
        assert len(names(result, "web")) == 1
        assert [each.name for each in result.bound] == ["web-a"]


def test_input_stays_as_it_is():
    web = workload("Deployment", "web", replicas=3, pod={"containers": [container(limits={"cpu": "1"})]})
    given = inventory(web, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}})
    before = msgspec.to_builtins(list(given.objects()))
    plan(given, scale={"deploy/web": 5})
    assert msgspec.to_builtins(list(given.objects())) == before
    assert given.replica_sets == []
