"""NodeDeclaredFeatures: what pods need and nodes declare."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import Json, cluster, node, pod, prepare, rejections
from topospread.cluster import Cluster
from topospread.plugins.interface import UNRESOLVABLE
from topospread.plugins.node_declared_features import REASON, REASON_1_35, NodeDeclaredFeatures

RESTART, USERS, MOUNTS = (
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions",
)
NEEDS_RESTART = {"containers": [{"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]}
NEEDS_USERS = {"hostNetwork": True, "hostUsers": False}
NEEDS_MOUNTS = {"initContainers": [{"name": "c", "volumeMounts": [{"name": "v", "bindMountOptions": ["noexec"]}]}]}


def declaring(*features: str) -> Cluster:
    made = cluster({"bare": {}})
    made.add_node(node("n", {}, declaredFeatures=list(features)))
    return made


@pytest.mark.parametrize(("needs", "feature"), [(NEEDS_RESTART, RESTART), (NEEDS_USERS, USERS), (NEEDS_MOUNTS, MOUNTS)])
def test_a_pod_goes_where_what_it_needs_is_declared(needs: Json, feature: str) -> None:
    assert rejections(NodeDeclaredFeatures(), pod(**needs), declaring(feature)) == {"bare": (REASON,)}
    assert set(rejections(NodeDeclaredFeatures(), pod(**needs), declaring("Other"))) == {"bare", "n"}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"hostNetwork": True},
        {"hostNetwork": True, "hostUsers": True},
        {"hostUsers": False},
        {"containers": [{"name": "c", "restartPolicyRules": [{"action": "Restart"}]}]},
        {"containers": [{"name": "c", "volumeMounts": [{"name": "v", "bindMountOptions": []}]}]},
    ],
)
def test_has_no_say_about_pods_that_need_nothing(spec: Json) -> None:
    assert prepare(NodeDeclaredFeatures(), pod(**spec), declaring()).filter is None


def test_all_that_is_needed_has_to_be_there() -> None:
    both = {**NEEDS_RESTART, **NEEDS_USERS}
    assert "n" in rejections(NodeDeclaredFeatures(), pod(**both), declaring(USERS))
    assert "n" not in rejections(NodeDeclaredFeatures(), pod(**both), declaring(RESTART, USERS))


def test_a_list_out_of_order_hides_what_stands_behind() -> None:
    """kube-scheduler walks through two sorted lists."""
    assert "n" in rejections(NodeDeclaredFeatures(), pod(**NEEDS_RESTART), declaring(USERS, RESTART))


def test_1_35_names_what_is_missing_and_takes_any_order() -> None:
    found = rejections(NodeDeclaredFeatures(35), pod(**NEEDS_RESTART), declaring("Z", RESTART))
    assert found == {"bare": (REASON_1_35 + RESTART,)}


def test_features_enter_with_their_version() -> None:
    assert prepare(NodeDeclaredFeatures(35), pod(**NEEDS_USERS), declaring()).filter is None
    assert prepare(NodeDeclaredFeatures(36), pod(**NEEDS_MOUNTS), declaring()).filter is None


def test_evictions_do_not_help() -> None:
    prepared = prepare(NodeDeclaredFeatures(), pod(**NEEDS_USERS), declaring())
    assert prepared.filter is not None
    assert prepared.filter.status(1).code == UNRESOLVABLE


def test_pods_that_differ_in_what_they_need_are_of_different_classes() -> None:
    made = declaring()
    assert made.pod_class(pod(**NEEDS_USERS)) is not made.pod_class(pod(hostNetwork=True))


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [(None, [], True), ([], [RESTART], True), ([RESTART], [], True), ([RESTART], [RESTART], False), ([], [], False)],
)
def test_a_node_helps_once_it_declares_other_features(old: list[str] | None, new: list[str], helps: bool) -> None:
    on_node, _ = NodeDeclaredFeatures().events_to_register(declaring())
    before, after = (None if each is None else node("n", {}, declaredFeatures=each) for each in (old, new))
    assert on_node.hint(pod(), before, after) == helps


def test_the_pod_helps_itself_once_it_needs_other_features() -> None:
    _, on_pod = NodeDeclaredFeatures().events_to_register(declaring())
    assert on_pod.hint(pod(), pod(**NEEDS_USERS), pod())
    assert not on_pod.hint(pod(), pod(), pod())
    assert not on_pod.hint(pod(), pod(**NEEDS_USERS), pod(**NEEDS_USERS))
