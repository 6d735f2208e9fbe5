"""Missing parts of a snapshot."""

import json

import pytest

from tests.unit.sources.test_load import FACTS, NODE, SNAPSHOT, deployment, pod
from topospread.sources.collection import applied
from topospread.sources.load import load

CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "x"}, "provisioner": "x"}
SOFT = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def owned_by(kind: str, name: str) -> list[dict]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "x", "controller": True}]


class TestSnapshots:
    @pytest.mark.parametrize(
        ("kind", "word"),
        [
            ("ReplicaSet", "replicasets"),
            ("StatefulSet", "statefulsets"),
            ("ReplicationController", "replicationcontrollers"),
        ],
    )
    def test_owners_that_are_missing_are_warned_about(self, write, kind, word):
        pods = [pod(f"p{i}", "a", ownerReferences=owned_by(kind, "web-1")) for i in range(2)]
        warnings = load([write("a.yaml", NODE, *pods)]).warnings
        assert warnings[0].startswith(
            f"2 pods belong to 1 {kind} not in the input (default/web-1): cluster-level default"
        )
        assert f"add {word} to `kubectl get`" in warnings[0]
        assert len(warnings) == 1

    @pytest.mark.parametrize(
        ("kind", "own", "warned"),
        [("Job", [], True), (None, [], True), (None, [SOFT], False), ("DaemonSet", [], False), ("Node", [], False)],
    )
    def test_services_are_missed_for_pods_that_only_they_can_select(self, write, kind, own, warned):
        more = {"ownerReferences": owned_by(kind, "web-1")} if kind else {"uid": "x"}
        stored = pod("p", "a", **more)
        stored["spec"]["topologySpreadConstraints"] = own
        warnings = load([write("a.yaml", NODE, stored)]).warnings
        assert [each.startswith("no Services are given: ") for each in warnings] == [True] * warned

    def test_owners_that_are_there_are_not(self, write):
        template = deployment()["spec"]["template"]
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web-1", "uid": "x"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
        }
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
        path = write("a.yaml", NODE, pod("p", "a", ownerReferences=owned_by("ReplicaSet", "web-1")), owner, service)
        assert load([path]).warnings == []

    @pytest.mark.parametrize("kind", ["DaemonSet", "Job"])
    def test_other_owners_give_no_constraints(self, write, kind):
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
        path = write("a.yaml", NODE, pod("p", "a", ownerReferences=owned_by(kind, "web-1")), service)
        assert load([path]).warnings == []

    def test_hand_written_pods_need_no_services(self, write):
        assert load([write("a.yaml", NODE, pod("p", "a"))]).warnings == []


@pytest.mark.parametrize(
    ("cluster", "objects", "known"),
    [
        (None, [NODE], False),
        (None, [NODE, CLASS], True),
        ("nodes=2", [], True),
        ("nodes=2,storage-class=none", [], True),
        (None, [SNAPSHOT], True),
        (None, [{**SNAPSHOT, "topospread": {**FACTS, "simulated": True}}], False),
    ],
)
def test_storage_classes_are_known_of_a_cluster_that_was_read_or_where_one_is_there(
    write, tmp_path, cluster, objects, known
):
    (tmp_path / "a.json").write_text("".join(map(json.dumps, objects)))
    inventory = load([str(tmp_path / "a.json")] if objects else [], cluster=cluster)
    assert ("StorageClass" not in inventory.unread) is known
    changed = applied(inventory, load([write("b.yaml", {**NODE, "metadata": {"name": "b"}})]))
    assert ("StorageClass" not in changed.unread) is known


@pytest.mark.parametrize(
    ("facts", "known"),
    [
        (None, False),
        (FACTS | {"counts": {"DeviceClass": 0}}, False),  # `dump --from` counts the kinds of files, too
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "counts": {"DeviceClass": 0}}, True),
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "counts": {"DeviceClass": 0}, "simulated": True}, False),
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "missing": {"DeviceClass": "NotFound"}}, True),
        (FACTS | {"taken": "2026-01-01T00:00:00Z", "counts": {"Node": 1}}, False),
    ],
)
def test_a_kind_without_objects_is_known_if_a_cluster_was_read(tmp_path, facts, known):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**SNAPSHOT, "topospread": facts}))
    assert ("DeviceClass" not in load([str(path)]).unread) is known
