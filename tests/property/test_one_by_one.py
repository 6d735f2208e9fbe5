"""A handful of nodes is asked one by one and many as arrays: the two forms of every formula say the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.property.clusters import nodes, pods
from topospread.api.labels import LabelSelector
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node, NodeStatus
from topospread.api.node_selection import Affinity, PodAffinity, PodAffinityTerm
from topospread.api.pod import Pod, PodSpec
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.dry_run import DryRun
from topospread.scheduling.framework import Framework
from topospread.scheduling.view import Shared, View, one_by_one

VERSIONS = ("1.19", "1.22", "1.25", "1.26", "1.34", "1.37")
FRAMEWORKS = {version: Framework(default_profile(version), gates_for(version)) for version in VERSIONS}


def assert_forms_agree(view: View, data: st.DataObject) -> None:
    """On some nodes of a cluster, in any order, each of which stands for one or several."""
    alive = np.flatnonzero(view.cluster.nodes.alive[: view.cluster.nodes.size]).tolist()
    rows = data.draw(st.lists(st.sampled_from(alive), min_size=1, unique=True), label="rows")
    sizes = [data.draw(st.integers(1, 3), label=f"nodes like {row}") for row in rows]
    array, many = np.array(rows, dtype=np.int64), np.array(sizes, dtype=np.int64)
    for each in view.plugins.filters:
        single = one_by_one([each.filter], [])
        for one in single.filters if single is not None else ():
            assert one.filter_each(rows) == each.filter.filter(array).tolist(), each.plugin
    for score in view.plugins.scores:
        single = one_by_one([], [score])
        for _, other in single.scores if single is not None else ():
            raw = score.score.score(array, many)
            assert other.score_each(rows, sizes) == raw.tolist(), score.plugin
            assert other.normalize_each(raw.tolist()) == other.normalize(raw, array).tolist(), score.plugin


@given(
    some=st.lists(nodes(), min_size=1, max_size=8, unique_by=lambda node: node.name),
    there=st.lists(pods(), max_size=6),
    pod=pods(),
    version=st.sampled_from(VERSIONS),
    data=st.data(),
)
def test_node_by_node_is_as_arrays(
    some: list[Node], there: list[Pod], pod: Pod, version: str, data: st.DataObject
) -> None:
    cluster = Cluster()
    for node in some:
        cluster.add_node(node)
    rows = sorted(cluster.nodes.row_of.values())
    for number, each in enumerate(there):
        cluster.bind(f"default/{number}", cluster.shared_class(each), data.draw(st.sampled_from(rows)))
    view = View(cluster, FRAMEWORKS[version], cluster.shared_class(pod), Shared())
    assert_forms_agree(view, data)
    with DryRun(view, data.draw(st.sampled_from(rows))) as dry_run:
        dry_run.add("default/tried", cluster.shared_class(data.draw(pods())))
        view.catch_up()
        assert_forms_agree(view, data)


def test_what_pre_filter_skips_stays_skipped_in_both_forms() -> None:
    """A pod that no one kept away is not looked at by InterPodAffinity, not even beside one that would keep it away."""
    cluster = Cluster()
    cluster.add_node(Node(metadata=ObjectMeta(name="n", labels={"zone": "a"}), status=NodeStatus(allocatable={})))
    plain = Pod(metadata=ObjectMeta(name="plain", namespace="d", labels={"app": "a"}), spec=PodSpec())
    term = PodAffinityTerm(topology_key="zone", label_selector=LabelSelector(match_labels={"app": "a"}))
    apart = Affinity(pod_anti_affinity=PodAffinity(required_during_scheduling_ignored_during_execution=[term]))
    other = Pod(metadata=ObjectMeta(name="other", namespace="d"), spec=PodSpec(affinity=apart))
    view = View(cluster, FRAMEWORKS["1.37"], cluster.shared_class(plain), Shared())
    (affinity,) = (each.filter for each in view.plugins.filters if each.plugin == "InterPodAffinity")
    single = one_by_one([affinity], [])
    assert single is not None
    with DryRun(view, 0) as dry_run:
        dry_run.add("d/other", cluster.shared_class(other))
        view.catch_up()
        assert affinity.filter(np.array([0])).tolist() == single.filters[0].filter_each([0]) == [0]
    cluster.bind("d/other", cluster.shared_class(other), 0)
    view.catch_up()
    assert affinity.filter(np.array([0])).tolist() == single.filters[0].filter_each([0]) != [0]
