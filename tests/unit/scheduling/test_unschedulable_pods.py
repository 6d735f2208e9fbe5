"""A hint runs once for a group of equal pods, and its answer holds for equal events."""

from __future__ import annotations

from topospread.api.pod import Pod
from topospread.cluster.undo import UndoLog
from topospread.scheduling.queued_pod_info import QueuedPodInfo
from topospread.scheduling.requeueing import QueueingStrategy
from topospread.scheduling.unschedulable_pods import Group, UnschedulablePods


class Hints:
    """Helps pods that the plugin ``Fit`` rejected, and counts the calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, group: Group, pod: Pod) -> QueueingStrategy:
        self.calls += 1
        return QueueingStrategy.AFTER_BACKOFF if "Fit" in group.unschedulable else QueueingStrategy.SKIP


def info(name: str, kind: str | None, plugin: str = "Fit") -> QueuedPodInfo:
    return QueuedPodInfo(Pod(), name, "u", 0, kind, unschedulable_plugins=frozenset({plugin}))


def helped(pods: UnschedulablePods, hints: Hints, event: str | None = "event") -> list[str]:
    return [each.key for _, found in pods.helped(hints, event) for each in found]


def filled() -> UnschedulablePods:
    pods = UnschedulablePods(UndoLog())
    for each in (info("b", "web"), info("a", "web"), info("t", "web", "Taint"), info("x", None), info("y", None)):
        pods.put(each)
    return pods


def test_equal_pods_share_a_hint_and_pods_of_unknown_kind_have_their_own() -> None:
    pods, hints = filled(), Hints()
    assert helped(pods, hints) == ["b", "a", "x", "y"]
    assert hints.calls == 4
    assert helped(pods, hints) == ["b", "a", "x", "y"]
    assert hints.calls == 6, "groups keep the answer to an equal event"
    pods.put(info("c", "web"))
    pods.put(info("n", "new"))
    assert helped(pods, hints) == ["b", "a", "c", "n", "x", "y"]
    assert hints.calls == 9, "only the new group is asked"
    assert helped(pods, hints, None) == ["b", "a", "c", "n", "x", "y"]
    pods.forget_answers()
    helped(pods, hints)
    assert hints.calls == 9 + 5 + 5


def test_pods_that_are_deleted_or_change_leave_their_group() -> None:
    pods, hints = filled(), Hints()
    assert pods.delete("b") is not None
    pods.put(info("a", "web", "Taint"))
    assert pods.delete("gone") is None
    assert (helped(pods, hints), [each.key for each in pods.infos]) == (["x", "y"], ["t", "x", "y", "a"])
    assert ("b" in pods, len(pods), pods.groups) == (False, 4, 2)
