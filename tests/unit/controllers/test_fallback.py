"""Constraints that become soft while they count a lost domain."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import HOST, WEB, ZONE, node, pod, spread
from topospread.api.node import Node
from topospread.api.node_selection import Taint
from topospread.controllers.fallback import fallback_seconds, hard_keys, lost_domains, softened
from topospread.controllers.node_lifecycle import with_taints
from topospread.errors import UsageError


@pytest.mark.parametrize(("text", "seconds"), [("after=5m", 300.0), ("after=0s", 0.0), ("after=1500ms", 1.5)])
def test_the_annotation_has_a_duration(text: str, seconds: float) -> None:
    assert fallback_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "5m", "after=", "after=-1s", "before=5m", "after=soon"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write after=DURATION"):
        fallback_seconds(text)


def test_a_domain_is_lost_if_all_its_nodes_are() -> None:
    def silent(name: str, zone: str) -> Node:
        return with_taints(node(name, {ZONE: zone}), [Taint(key="node.kubernetes.io/unreachable", effect="NoExecute")])

    nodes = [silent("a0", "a"), silent("b0", "b"), node("b1", {ZONE: "b", HOST: "b1"}), node("c0", {ZONE: "c"})]
    assert lost_domains(nodes, [ZONE, HOST]) == {(ZONE, "a")}
    assert lost_domains(nodes, [HOST]) == set()


def test_hard_constraints_over_the_keys_become_soft_or_go() -> None:
    soft = spread("ScheduleAnyway", HOST)
    made = pod(labels=WEB, topologySpreadConstraints=[spread(minDomains=3), spread(key="rack"), spread(key=HOST), soft])
    assert hard_keys(made) == [ZONE, "rack", HOST]
    found = softened(made, [ZONE, HOST]).spec.topology_spread_constraints or []
    assert [(each.topology_key, each.when_unsatisfiable, each.min_domains) for each in found] == [
        (ZONE, "ScheduleAnyway", None),
        ("rack", "DoNotSchedule", None),
        (HOST, "ScheduleAnyway", None),
    ]
    assert hard_keys(made) == [ZONE, "rack", HOST], "the given pod stays as it is"
