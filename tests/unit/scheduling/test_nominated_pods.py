"""A pod has to fit together with the pods for which its node is nominated."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import cluster, node, pod
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.scheduling.nominated_pods import blocked_by_nominated, nominated_beside, rejection_beside
from topospread.scheduling.view import Shared, View

from .test_dry_run import FRAMEWORK


def asking(cpu: str, name: str = "p", priority: int = 5) -> Pod:
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    return pod(name=name, priority=priority, containers=[container])


def nominating(*pods: Pod) -> Cluster:
    """Two nodes with 4 CPUs each; n0 is nominated for the pods."""
    made = cluster({})
    for name in ("n0", "n1"):
        made.add_node(node(name, {}, allocatable={"cpu": "4", "pods": "9"}))
    for each in pods:
        made.nominate(f"ns/{each.name}", made.pod_class(each), "n0")
    return made


@pytest.mark.parametrize(
    ("nominated", "blocked"),
    [
        (asking("2", "other"), [0]),
        (asking("1", "other"), []),
        (asking("2", "other", priority=6), [0]),
        (asking("2", "other", priority=4), []),
        (asking("2", "p"), []),
    ],
    ids=["no room beside it", "room beside it", "more important", "less important", "the pod itself"],
)
def test_pods_of_the_same_or_a_higher_priority_take_their_room(nominated: Pod, blocked: list[int]) -> None:
    made = nominating(nominated)
    view = View(made, FRAMEWORK, made.shared_class(asking("3")), Shared())
    assert blocked_by_nominated("ns/p", view) == blocked
    for row, others in nominated_beside("ns/p", view.pod_class, made).items():
        rejection = rejection_beside(view, row, others)
        assert (rejection and (rejection[0], rejection[1].reasons)) == (
            ("NodeResourcesFit", ("Insufficient cpu",)) if blocked else None
        )
    assert made.nodes.used[0].sum() == 0, "the dry run leaves no trace"
