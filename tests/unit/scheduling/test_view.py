"""The classes that a view listens to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.scheduling.test_view_cache import ZONE, replica, scheduler_of, spread


def near(labels: dict[str, str]) -> dict[str, Any]:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": labels}}
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    return {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}


@pytest.mark.parametrize(("says", "heard"), [(spread, 0), (near, 1)])
@pytest.mark.parametrize("count", [20, 150])
def test_a_view_listens_to_classes_that_the_cluster_does_not_count(says: Any, heard: int, count: int) -> None:
    scheduler = scheduler_of(6)
    pods = [replica(f"app-{i}", says({"app": f"app-{i}"})) for i in range(count)]
    for turn in range(2):
        for i, pod in enumerate(pods):
            assert scheduler.schedule(pod, f"app-{i}-{turn}").node is not None

    views = [scheduler.view(scheduler.cluster.shared_class(pod)) for pod in pods]

    assert scheduler.work.built == count
    assert sum(view.heard for view in views) == heard * count, "with affinity, the class of its own pods each"
    assert len(scheduler.cluster.selections) <= count


def test_classes_that_went_are_not_listened_to_for_good() -> None:
    scheduler = scheduler_of(3)
    cluster, web, heard = scheduler.cluster, replica("web", near({"app": "web"})), []
    for revision in range(2_000):
        cluster.bind("default/old", cluster.pod_class(replica("web", {}, hash=str(revision))), 0)
        heard.append(scheduler.view(cluster.shared_class(web)).heard)
        cluster.unbind("default/old")

    # The cluster keeps up to 512 classes without pods. A view drops classes at 5/4 of those that it found last.
    assert 60 < max(heard) < 64 + 512 * 5 // 4
