"""A status says of any cluster what the engine says of it, asked the long way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.property.clusters import nodes, pods
from tests.property.explained import clusters
from topospread.answers.status import status
from topospread.api.inventory import Inventory
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.cluster.cluster import pod_key
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, spread_arithmetic
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare
from topospread.status.members import Members
from topospread.status.refused import Refusals
from topospread.why.target import unbound

FRAMEWORK = Framework(default_profile(), gates_for())


def run_of(inventory: Inventory) -> Run:
    """The cluster as it is: what a scale-down would remove is still there."""
    run = prepare(inventory, SimulationOptions(), with_spreads=False)
    for pod in run.plan.removed:
        run.cluster.add_pod(pod)
    return run


@drawn(25)
@given(given=clusters())
def test_counts_and_skew_are_those_of_the_arithmetic(given: tuple[Inventory, str]) -> None:
    run = run_of(given[0])
    found = {(each.kind, each.namespace, each.name): each for each in status(given[0]).workloads}
    for workload in run.plan.workloads:
        if workload.template is None:
            continue
        newest = [
            each for each in found[workload.kind, workload.namespace, workload.name].constraints if not each.revision
        ]
        expected = arithmetic(run, workload.template)
        assert len(newest) == len(expected)
        for ours, theirs in zip(newest, expected, strict=True):
            assert (ours.topology_key, ours.skew, ours.minimum) == (theirs.topology_key, theirs.skew, theirs.minimum)
            assert {each.name: (each.matching, each.nodes) for each in ours.domains} | dict.fromkeys(
                ours.empty_names
            ) == {each.name: (each.matching, each.nodes) if each.matching else None for each in theirs.domains}
            assert [(each.reason, each.names) for each in ours.left_out] == [
                (each.reason, each.nodes) for each in theirs.left_out
            ]


def arithmetic(run: Run, template: Pod) -> tuple[ConstraintArithmetic, ...]:
    pod_class = run.cluster.shared_class(template)
    plugin = run.scheduler.framework_of(pod_class).plugins["PodTopologySpread"]
    assert isinstance(plugin, PodTopologySpread)
    try:
        return spread_arithmetic(plugin, pod_class, run.cluster)
    except PluginError:
        return ()


@drawn(25)
@given(given=clusters())
def test_a_pod_is_refused_when_the_engine_without_it_refuses_its_node(given: tuple[Inventory, str]) -> None:
    found = status(given[0])
    refused = {(each.namespace, pod.name): pod for each in found.workloads for pod in each.refused}
    expected = {}
    for workload in run_of(given[0]).plan.workloads:
        if workload.kind == "DaemonSet":
            continue
        for pod in workload.existing:
            run = run_of(given[0])
            run.cluster.unbind(pod_key(pod.namespace, pod.name))
            why = run.scheduler.verdict(unbound(pod), pod.name).rejected.get(pod.spec.node_name or "")
            if why is not None:
                expected[pod.namespace, pod.name] = (why.plugin, why.reasons)
    assert {key: (pod.plugin, pod.reasons) for key, pod in refused.items() if key in expected} == expected
    assert set(refused) - set(expected) <= {
        (each.namespace, each.name) for each in found.workloads if each.kind == "Pod"
    }


@drawn(40)
@given(
    given_nodes=st.lists(nodes(), min_size=1, max_size=5),
    templates=st.lists(pods(), min_size=1, max_size=4),
    data=st.data(),
)
def test_pods_that_want_others_near_or_away_are_refused_as_the_engine_refuses_them(
    given_nodes: list[Node], templates: list[Pod], data: st.DataObject
) -> None:
    cluster = Cluster()
    for node in given_nodes:
        cluster.add_node(node)
    rows = sorted(cluster.nodes.row_of.values())
    bound = {f"default/pod-{i}": data.draw(st.sampled_from(templates)) for i in range(data.draw(st.integers(1, 8)))}
    for key, template in bound.items():
        cluster.bind(key, cluster.shared_class(template), data.draw(st.sampled_from(rows)))
    scheduler = Scheduler(cluster, {"default-scheduler": FRAMEWORK})
    members = Members()
    for key in bound:
        row = cluster.placed[key]
        members.on.setdefault(cluster.on_node[row][key], {}).setdefault(row, []).append(key)
    before = [list(pods.items()) for pods in cluster.on_node]

    refused = {each.name: (each.plugin, each.reasons) for each in Refusals(scheduler).of(members)}

    assert [list(pods.items()) for pods in cluster.on_node] == before
    for key, template in bound.items():
        row = cluster.placed[key]
        pod_class = cluster.unbind(key)
        verdict = Scheduler(cluster, {"default-scheduler": FRAMEWORK}).verdict(template, key.partition("/")[2])
        why = verdict.rejected.get(cluster.nodes.names[row])
        cluster.bind(key, pod_class, row)
        assert refused.get(key.partition("/")[2]) == (None if why is None else (why.plugin, why.reasons))


@drawn(25)
@given(given=clusters())
def test_what_domains_lose_adds_up_to_what_workloads_have(given: tuple[Inventory, str]) -> None:
    found = status(given[0])
    for each in found.workloads:
        by_key: dict[str, int] = {}
        for loss in each.losses:
            assert 0 < loss.lost <= loss.of == each.existing
            by_key[loss.topology_key] = by_key.get(loss.topology_key, 0) + loss.lost
        assert all(lost <= each.existing for lost in by_key.values())
    pods = {(each.topology_key, each.name): each.pods for each in found.domains}
    losses: dict[tuple[str, str], int] = {}
    for each in found.workloads:
        for loss in each.losses:
            key = (loss.topology_key, loss.domain)
            losses[key] = losses.get(key, 0) + loss.lost
    assert pods == losses
