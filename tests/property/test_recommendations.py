"""What a rule recommends, in its right example or by its fix, never places worse than what it replaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.lint.fixing import mend
from topospread.lint.reading import Question
from topospread.lint.rule import Rule
from topospread.lint.rules import BY_ID, RULES
from topospread.lint.run import run
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
LABELS = "label=disk=ssd"
"""What examples select nodes by."""


class Came(NamedTuple):
    """How a workload came out, the larger the worse; zones before nodes, as more fails with a zone.

    Attributes:
        pending: pods without a node.
        zones, nodes: the largest count of a domain minus the smallest.
    """

    pending: int
    zones: int
    nodes: int


class Placed(NamedTuple):
    """What came of manifests on a cluster.

    Attributes:
        workloads: name → replicas, and how it came out.
        hard: the keys of the hard constraints that the manifests have, defaults of a configuration included.
        held_back: workloads that only hard constraints hold back.
    """

    workloads: dict[str, tuple[int, Came]]
    hard: set[str]
    held_back: set[str]


def placed(manifests: str, cluster: str) -> Placed:
    question = Question(paths=["-"], cluster=cluster)
    what = run(question, BytesIO(manifests.encode())).given
    loaded = next((each.loaded for each in what.configurations if each.loaded is not None), None)
    found = simulate(what.inventory, options=SimulationOptions(config=loaded))
    nodes = {node.name: node.labels for node in what.nodes}
    fixed = {each.pods.item.name: each.pods.spec.node_name for each in what.manifests if each.pods}
    came = {}
    for each in found.workloads:
        name = f"{each.kind}/{each.name}"
        where = [pod.node for pod in found.placements if pod.workload == name and pod.node]
        where += [fixed.get(each.name) or "node-1"] * (each.placed - len(where))
        skews = [skew(Counter(nodes[node].get(key) for node in where), nodes.values(), key) for key in (ZONE, HOSTNAME)]
        came[name] = each.replicas, Came(each.pending, *skews)
    return Placed(came, set(hard_keys(manifests)), set(held_back(found)))


def skew(counts: Counter[str | None], labels: Iterable[Mapping[str, str]], key: str) -> int:
    there = {each[key] for each in labels if key in each}
    return max((counts[domain] for domain in there), default=0) - min((counts[domain] for domain in there), default=0)


def hard_keys(manifests: str) -> list[str]:
    return re.findall(r"topologyKey: (\S+)\n\s+whenUnsatisfiable: DoNotSchedule", manifests)


def held_back(found: Simulation) -> list[str]:
    return [
        group.workload
        for group in found.pending
        if group.verdict is not None and any(each.plugin == "PodTopologySpread" for each in group.verdict.rejections)
    ]


def worse(before: Placed, after: Placed) -> list[str]:
    """The workloads that come out worse, but for pods that wait for what their author had asked for already."""
    found = []
    for name, (replicas, came) in after.workloads.items():
        asked_before = name in after.held_back and after.hard <= before.hard
        there = before.workloads.get(name)
        if there is not None and there[0] == replicas and came > there[1] and not asked_before:
            found.append(f"{name}: {there[1]} before, {came} after")
    return found


@st.composite
def clusters(draw: st.DrawFn) -> str:
    """Some nodes, in up to four zones or in none; a zone or a node of several may be closed."""
    zones = draw(st.sampled_from([0, 1, 2, 3, 4]))
    counts = draw(st.lists(st.integers(1, 5), min_size=max(zones, 1), max_size=max(zones, 1)))
    spec = f"zones={zones},nodes={'+'.join(map(str, counts))}" if zones else f"nodes={counts[0]}"
    where = ["node-1"] * (sum(counts) > 1) + ["zone-a"] * (zones > 1)
    how = [f for each in where for f in (f",cordon={each}", f",taint={each}:dedicated=batch:NoSchedule")]
    return f"{spec}{draw(st.sampled_from(['', *how]))},{LABELS}"


def offered(rule: Rule) -> list[str]:
    """What a rule recommends in place of its wrong example."""
    wrong = rule.wrong
    _, mended = mend(Question(paths=["-"], cluster=wrong.cluster or None), BytesIO(wrong.manifests.encode()))
    return [rule.right.manifests, *(each.after for each in mended)]


OFFERED = {rule.id: offered(rule) for rule in RULES}


@drawn(30)
@given(st.sampled_from([rule.id for rule in RULES]), clusters())
def test_what_a_rule_recommends_is_never_placed_worse(rule: str, cluster: str) -> None:
    before = placed(BY_ID[rule].wrong.manifests, cluster)
    assert [worse(before, placed(after, cluster)) for after in OFFERED[rule]] == [[]] * len(OFFERED[rule])


OWN = sorted({(rule.id, each.cluster) for rule in RULES for each in (rule.wrong, rule.right) if each.cluster})
FIXED = ["zones=3,nodes=9", "zones=3,nodes=9,cordon=node-3", "zones=2,nodes=3+1", "nodes=4", "zones=4,nodes=4,cpu=1"]


@pytest.mark.parametrize(("rule", "cluster"), [*OWN, *((rule.id, each) for rule in RULES for each in FIXED)])
def test_nor_on_the_clusters_that_examples_have(rule: str, cluster: str) -> None:
    before = placed(BY_ID[rule].wrong.manifests, f"{cluster},{LABELS}")
    for after in OFFERED[rule]:
        assert worse(before, placed(after, f"{cluster},{LABELS}")) == []
