"""When a pod that preempts may be tried again."""

from __future__ import annotations

from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod
from topospread.live.preempting import Preempting


def test_a_pod_waits_until_its_last_victim_is_going() -> None:
    there = {"default/last"}
    preempting = Preempting(lambda key: key in there)
    pod, other = Pod(metadata=ObjectMeta(uid="1")), Pod(metadata=ObjectMeta(uid="2"))
    preempting.begin("1")
    assert not preempting.pre_enqueue(pod)
    assert preempting.pre_enqueue(other)
    preempting.last_victim("1", "default/last")
    assert not preempting.pre_enqueue(pod)
    there.clear()
    assert preempting.pre_enqueue(pod)
    there.add("default/last")
    preempting.end("1")
    assert preempting.pre_enqueue(pod)
