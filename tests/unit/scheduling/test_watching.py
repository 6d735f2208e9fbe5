"""A watching scheduler places like any other, and keeps the verdicts of the watched pods."""

from __future__ import annotations

from tests.unit.plugins.storage_builders import cluster, node, pod
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.framework import Framework
from topospread.scheduling.watching import WatchingScheduler


def test_only_watched_pods_leave_a_verdict_from_before_they_are_bound() -> None:
    made = cluster({})
    for name in ("n0", "n1"):
        made.add_node(node(name, {}, allocatable={"pods": "1"}))
    frameworks = {"default-scheduler": Framework(default_profile(), gates_for())}
    scheduler = WatchingScheduler(made, frameworks, watched=["ns/second", "ns/shared-2"])

    placed = [scheduler.schedule(pod(name=name)).node for name in ("first", "second")]

    assert sorted(map(str, placed)) == ["n0", "n1"]
    assert scheduler.verdicts.keys() == {"ns/second"}
    assert scheduler.verdicts["ns/second"].feasible == (placed[1],)
    scheduler.schedule(pod(name=""), "shared-2")
    assert scheduler.verdicts["ns/shared-2"].feasible == ()
