"""Objects by kind and name: what changes is told to readers, nodes and volume use, and every step can be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from topospread.api.kinds import KINDS
from topospread.api.pod_groups import PodGroup
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeAttachment
from topospread.api.workload import Service
from topospread.cluster.journal import ELSEWHERE, VOLUMES, Journal
from topospread.cluster.objects import ClusterObjects, ObjectKey, Reading
from topospread.cluster.undo import UndoLog
from topospread.cluster.volume_use import CLAIM, VolumeRef, VolumeUse

Json = dict[str, Any]
REF = VolumeRef(CLAIM, "ns", "c")


class Told:
    """Objects of a cluster with the nodes n1 in row 1 and n2 in row 2, and everything that is told of them."""

    def __init__(self) -> None:
        self.journal, self.undo, self.use = Journal(), UndoLog(), VolumeUse()
        self.rows = {"n1": 1, "n2": 2}
        self.objects = ClusterObjects(self.journal, self.undo, self.use, self.rows)
        self.heard: list[Any] = []
        self.use.add([REF], 2)
        self.use.follow(self)

    def on_volume(self, row: int, ref: VolumeRef, used: bool) -> None:
        self.heard.append((row, used))

    def on_csi_node(self, name: str) -> None:
        self.heard.append(name)

    def on_attachment(self, name: str) -> None:
        self.heard.append(f"attachment {name}")

    def told(self, change: Callable[[], object]) -> tuple[object, list[Any], set[Any]]:
        """What a change returns, what followers hear, and the rows that the journal names."""
        self.heard, position = [], self.journal.position
        result = change()
        changes = self.journal.since(position, self) or []  # type: ignore[arg-type]
        return result, self.heard, {(row, what) for row, _, what in changes if (row, None, what) != ELSEWHERE}


def item(kind: str, name: str = "x", **more: Any) -> Any:
    metadata = {"name": name, "namespace": more.pop("namespace", "ns")} | more.pop("metadata", {})
    return msgspec.convert({"metadata": metadata} | more, KINDS[kind].struct)


def claim(volume: str = "", name: str = "c", **more: Any) -> Any:
    return item(
        "PersistentVolumeClaim", name, spec={"volumeName": volume or None, "accessModes": ["ReadWriteOnce"]}, **more
    )


def volume(name: str = "v", **spec: Any) -> Any:
    return item("PersistentVolume", name, namespace="", spec={"capacity": {"storage": "1Gi"}} | spec)


def attachment(node: str, name: str = "a", of: str = "v") -> Any:
    spec = {"attacher": "csi", "nodeName": node, "source": {"persistentVolumeName": of}}
    return item("VolumeAttachment", name, namespace="", spec=spec)


def service(app: str | None, name: str = "x", namespace: str = "ns") -> Any:
    return item("Service", name, namespace=namespace, spec={} if app is None else {"selector": {"app": app}})


def test_an_object_is_put_changed_and_deleted() -> None:
    it = Told()
    objects = it.objects
    assert objects.put(item("StorageClass", "fast", namespace="", provisioner="p"))
    assert not objects.put(item("StorageClass", "fast", namespace="", provisioner="p"))
    version = objects.version
    assert objects.put(item("StorageClass", "fast", namespace="", provisioner="q"))
    assert objects.version > version
    assert objects.storage_classes["fast"].provisioner == "q"
    assert not objects.delete(item("StorageClass", "slow", namespace="", provisioner="p"))
    assert objects.delete(item("StorageClass", "fast", namespace="", provisioner="p"))
    assert objects.storage_classes == {}
    assert not objects.put(
        item("ConfigMap") if "ConfigMap" in KINDS else item("Job", spec={"template": {"spec": {"containers": []}}})
    )


def test_services_that_select_labels_are_found_as_they_change() -> None:
    objects = Told().objects
    objects.add(
        [service("web", "b"), service("web", "a"), service("db"), service(None, "n"), service("web", namespace="other")]
    )

    def found() -> list[str]:
        return [each.name for each in objects.services_selecting("ns", {"app": "web", "x": "y"})]

    assert found() == ["b", "a"]
    objects.put(service("web", "later"))
    assert found() == ["b", "a", "later"]
    objects.delete(service("web", "b"))
    assert found() == ["a", "later"]
    assert [each.name for each in objects.services_selecting("none", {"app": "web"})] == []


def test_what_changes_is_told_to_whom_it_concerns() -> None:
    it = Told()
    put = it.objects.put
    assert it.told(lambda: put(claim("v"))) == (True, [(2, False), (2, True)], {(2, VOLUMES)})
    assert it.told(lambda: put(claim("v", "other"))) == (True, [], set())
    assert it.told(lambda: put(volume())) == (True, [(2, False), (2, True)], {(2, VOLUMES)})
    assert it.told(lambda: put(item("CSINode", "n1", namespace="", spec={"drivers": []}))) == (True, ["n1"], {(1, 0)})
    assert it.told(lambda: put(item("CSINode", "away", namespace="", spec={"drivers": []}))) == (True, ["away"], set())
    assert it.told(lambda: put(attachment("n1"))) == (True, ["attachment a"], {(1, VOLUMES)})
    assert it.told(lambda: put(attachment("n2"))) == (True, ["attachment a"], {(1, VOLUMES), (2, VOLUMES)})
    heard = [(2, False), (2, True), "attachment a"]
    assert it.told(lambda: put(volume(storageClassName="fast"))) == (True, heard, {(2, VOLUMES)})
    assert it.told(lambda: it.objects.delete(attachment("n2"))) == (True, ["attachment a"], {(2, VOLUMES)})
    assert it.told(lambda: put(service("web"))) == (True, [], set())


def test_claims_and_attachments_are_found_by_the_volume_that_they_name() -> None:
    objects = Told().objects
    objects.add([claim("v", "b"), claim("v", "a"), claim("w", "c"), claim("", "d"), attachment("n1")])
    assert objects.naming(PersistentVolumeClaim, "v") == [("ns", "a"), ("ns", "b")]
    assert objects.naming(VolumeAttachment, "v") == ["a"]
    objects.put(claim("w", "a"))
    objects.delete(claim("v", "b"))
    assert objects.naming(PersistentVolumeClaim, "v") == []
    assert objects.naming(PersistentVolumeClaim, "w") == [("ns", "a"), ("ns", "c")]
    assert (PersistentVolumeClaim, "v") not in objects._naming


def test_new_volumes_are_stock_and_bound_ones_are_not() -> None:
    it = Told()
    objects = it.objects
    objects.add([claim(), volume()])
    stocked = objects.stocked
    assert stocked == objects.version
    objects.put(service("web"))
    assert objects.stocked == stocked != objects.version
    objects.assume_claims([("ns", "c")])
    bound = it.told(lambda: objects.bind_claim(claim("v"), volume(claimRef={"namespace": "ns", "name": "c"})))
    assert bound[1:] == ([(2, False), (2, True)] * 2, {(2, VOLUMES)})
    assert (objects.stocked, objects.assumed_claims) == (stocked, set())
    assert objects.persistent_volumes["v"].spec.claim_ref is not None


def test_claims_that_a_controller_would_make_are_looked_up_as_such() -> None:
    it = Told()
    objects, key = it.objects, ("ns", "c")
    assert objects.look_up(ObjectKey(PersistentVolumeClaim, key)) == (None, False)
    objects.assume_claims([key])
    version = objects.version
    objects.assume_claims([key])
    assert objects.look_up(ObjectKey(PersistentVolumeClaim, key)) == (None, True)
    assert (objects.version, version) == (0, 0)
    objects.put(claim(name="d"))
    version = objects.version
    objects.assume_claims([("ns", "d")])
    assert objects.version > version
    assert objects.look_up(ObjectKey(PersistentVolume, "v")) == (None, False)


STEPS: dict[str, Callable[[ClusterObjects], object]] = {
    "put": lambda objects: objects.put(claim("v", "new")),
    "change": lambda objects: objects.put(claim("w")),
    "delete": lambda objects: objects.delete(claim()),
    "bind": lambda objects: objects.bind_claim(claim("v"), volume(claimRef={"namespace": "ns", "name": "c"})),
    "assume": lambda objects: objects.assume_claims([("ns", "c"), ("ns", "e")]),
    "service": lambda objects: (objects.put(service("web", "more")), objects.services_selecting("ns", {"app": "web"})),
    "groups": lambda objects: objects.judge_groups({("ns", "g")}, {("ns", "h"): ValueError()}),
    "volume": lambda objects: objects.put(volume(storageClassName="fast")),
}


@pytest.mark.parametrize("name", STEPS)
def test_every_step_is_undone(name: str) -> None:
    it = Told()
    objects = it.objects
    objects.add([claim(), volume(), service("web")])
    objects.assume_claims([("ns", "z")])

    def state() -> tuple[object, ...]:
        tables = [dict(table) for table in (*objects._by_key.values(), *objects._by_name.values())]
        services = [each.name for each in objects.services_selecting("ns", {"app": "web"})]
        naming = objects.naming(PersistentVolumeClaim, "v"), objects.naming(PersistentVolumeClaim, "w")
        groups = objects.whole_groups, objects.unjudged_groups
        return tables, services, naming, set(objects.assumed_claims), objects.version, dict(objects.changed), groups

    before, stocked = state(), objects.stocked
    length = it.undo.open()
    STEPS[name](objects)
    assert state() != before
    _, heard, _ = it.told(lambda: it.undo.back_to(length))
    it.undo.close()
    after = state()
    assert (*after[:5], after[6]) == (*before[:5], before[6])
    assert {subject: stamp for subject, stamp in objects.changed.items() if stamp} == before[5]
    assert bool(heard) == (name in {"change", "delete", "bind", "assume"}), "whoever uses the claim hears of it"
    assert (objects.stocked == stocked) == (name != "bind"), "a volume that is free again is new to lists of volumes"


def test_a_reading_is_unchanged_until_what_it_read_changes() -> None:
    it = Told()
    objects = it.objects
    objects.add([service("web"), claim(), volume()])
    key = ObjectKey(PersistentVolumeClaim, ("ns", "c"))

    def reading() -> Reading:
        return Reading(objects, [(Service, "ns"), (PodGroup, ""), key])

    read = reading()
    assert read.unchanged()
    objects.put(service("web", namespace="other"))
    objects.put(claim(name="d"))
    assert read.unchanged()
    assert read.unchanged()
    for change in (
        lambda: objects.put(service("db")),
        lambda: objects.judge_groups(set(), {}),
        lambda: objects.put(claim("v")),
        lambda: objects.assume_claims([("ns", "c")]),
        lambda: objects.delete(claim()),
    ):
        read = reading()
        change()
        assert not read.unchanged()
        assert reading().unchanged()


def used(*pods: str, owner: str = "") -> Any:
    results = [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]
    status = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": each, "uid": each} for each in pods],
    }
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner, "controller": True}] if owner else []
    return item("ResourceClaim", f"of-{owner or 'many'}", spec={}, status=status, metadata={"ownerReferences": owners})


def test_devices_are_released_with_their_last_pod() -> None:
    objects = Told().objects
    objects.add([used("a", "b"), used("a", owner="a"), used("b", owner="b")])
    assert objects.devices.dedicated.total() == 3
    objects.release_claims("other", "a")
    objects.release_claims("ns", "a")
    assert [name for _, name in objects.resource_claims] == ["of-many", "of-b"]
    assert objects.devices.users == {("ns", "b"): {("ns", "of-many"), ("ns", "of-b")}}
    objects.delete(used("b", owner="b"))
    objects.release_claims("ns", "b")
    assert objects.resource_claims["ns", "of-many"].status.allocation is None
    assert objects.devices.dedicated.total() == 0
