"""Which volumes pods use, counted as they come and go."""

from __future__ import annotations

import gc

from tests.unit.plugins.storage_builders import claimed, cluster, place, pod, zonal
from topospread.cluster.volume_use import CLAIM, EPHEMERAL, GCE_DISK, RBD, VolumeRef, VolumeUse, volume_refs
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework


def test_names_what_a_volume_plugin_looks_at() -> None:
    each = pod(
        claimed("data"),
        {"ephemeral": {}},
        {"emptyDir": {}},
        {"rbd": {"image": "i", "pool": "p"}},
        {"image": {"reference": "r"}},
    )
    assert volume_refs(each) == (
        VolumeRef(CLAIM, "ns", "data"),
        VolumeRef(EPHEMERAL, "ns", "p-v1", ("p", "uid-p")),
        VolumeRef(RBD, "", "i", ("p",)),
    )


def test_counts_uses_and_forgets_them() -> None:
    made = cluster(zonal(n0="a", n1="b"))
    data = VolumeRef(CLAIM, "ns", "data")
    place(made, pod(claimed("data"), claimed("data"), name="one"), "n0")
    place(made, pod(claimed("data"), name="two"), "n1")
    assert made.volume_use.users == {data: {0: 2, 1: 1}}
    assert made.volume_use.total(data) == 3
    made.unbind("ns/one")
    assert made.volume_use.users == {data: {1: 1}}
    made.remove_node("n1")
    assert not made.volume_use.users


def test_tells_its_followers_when_a_node_begins_and_ceases_to_use_a_volume() -> None:
    class Diary:
        def __init__(self) -> None:
            self.lines: list[tuple[int, str, bool]] = []

        def on_volume(self, row: int, ref: VolumeRef, used: bool) -> None:
            self.lines.append((row, ref.name, used))

    made, diary = cluster(zonal(n0="a")), Diary()
    made.volume_use.follow(diary)
    for name in ("one", "two"):
        place(made, pod(claimed("data"), name=name), "n0")
    made.unbind("ns/one")
    assert diary.lines == [(0, "data", True)]
    made.volume_use.rename_claim(("ns", "data"))
    made.unbind("ns/two")
    assert diary.lines[1:] == [(0, "data", False), (0, "data", True), (0, "data", False)]


def test_who_follows_and_is_held_by_nobody_else_is_released() -> None:
    made = cluster(zonal(n0="a"))
    for _ in range(5):
        scheduler = Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})
        scheduler.schedule(pod(claimed("data"), name="one"))
        assert len(made.volume_use._followers) == 1
        del scheduler
        gc.collect()
    assert len(made.volume_use._followers) == 0


def test_pods_with_other_claims_are_of_another_class() -> None:
    made = cluster(zonal(n0="a"))
    one, two = pod(claimed("a"), name="one"), pod(claimed("a"), name="two")
    assert made.pod_class(one) is made.pod_class(two)
    assert made.pod_class(pod(claimed("b"))) is not made.pod_class(one)


def test_an_ephemeral_volume_is_its_pods_own() -> None:
    made = cluster(zonal(n0="a"))
    assert made.pod_class(pod({"ephemeral": {}}, name="one")) is not made.pod_class(pod({"ephemeral": {}}, name="two"))


def test_a_claim_that_gets_another_volume_begins_anew_and_changes_of_nodes_are_told() -> None:
    heard: list[object] = []

    class Follower:
        def on_volume(self, row: int, ref: VolumeRef, used: bool) -> None:
            heard.append((row, ref.name, used))

        def on_csi_node(self, name: str) -> None:
            heard.append(name)

        on_attachment = on_csi_node

    use, follower = VolumeUse(), Follower()
    use.follow(follower)
    refs = [VolumeRef(CLAIM, "ns", "c"), VolumeRef(GCE_DISK, "", "c")]
    use.add(refs, 1)
    use.add(refs, 2)
    heard.clear()
    assert use.rename_claim(("ns", "c")) == {1, 2}
    assert heard == [(row, "c", used) for row in (1, 2) for used in (False, True)]
    assert use.rename_claim(("ns", "other")) == set()
    heard.clear()
    use.node_changed("n1")
    use.attachment_changed("a")
    assert heard == ["n1", "a"]
    for row in (1, 2):
        use.remove(refs, row)
    assert (use.users, use.rename_claim(("ns", "c"))) == ({}, set())
