"""The page of a simulation: verdict and cause first, one table of workloads by domain, the rest with -o wide."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace as with_fields

import topospread
from tests.unit.drill import builders
from tests.unit.render.builders import (
    CORDONED,
    CPU,
    HOSTNAME,
    MEMORY,
    SPREAD,
    TAINTED,
    ZONE,
    arithmetic,
    placements,
    simulation,
    spread,
    verdict,
    waiting,
    workload,
)
from topospread.errors import UsageError
from topospread.render.svg import svg
from topospread.render.text import text
from topospread.simulation.result import EvictedPod, Placement, Simulation
from topospread.text import for_terminal

FULL_ZONE = "0/9 nodes are available: 3 Insufficient cpu, 6 node(s) didn't match pod topology spread constraints."


def checkout() -> Simulation:
    """Ten replicas on three zones, of which one is full."""
    zones = arithmetic({"zone-a": 3, "zone-b": 3, "zone-c": 2})
    rejected = {"zone-a": {SPREAD: 3}, "zone-b": {SPREAD: 3}, "zone-c": {CPU: 3}}
    judged = verdict(
        {f"node-{i}": ("PodTopologySpread", SPREAD) for i in range(6)}
        | {f"node-{i}": ("NodeResourcesFit", CPU) for i in range(6, 9)}
    )
    nodes = {f"checkout-{i}": f"node-{i % 4}" for i in range(8)}
    return simulation(
        [workload("checkout", spread(zones, rejected=rejected), placed=8, pending=2)],
        [waiting(2, FULL_ZONE, (zones, rejected), name="checkout", verdict=judged)],
        placements=placements({**nodes, "checkout-8": None, "checkout-9": None}, "Deployment/checkout"),
    )


def test_the_verdict_its_cause_and_one_table() -> None:
    assert checkout().answer().text() == snapshot("""\
no: 2 of 10 pods of shop/checkout are pending (9 nodes)
why: maxSkew 1 over zones admits only zone-c, where node-6, node-7 and node-8
     lack cpu

WORKLOAD       PLACED  zone-a  zone-b  zone-c  SKEW  MAX
shop/checkout    8/10       3       3       2     1    1
""")


def test_wide_adds_the_sums_nodes_and_domains() -> None:
    assert checkout().answer().text(wide=True) == snapshot("""\
no: 2 of 10 pods of shop/checkout are pending (9 nodes)
why: maxSkew 1 over zones admits only zone-c, where node-6, node-7 and node-8
     lack cpu

WORKLOAD       PLACED  zone-a  zone-b  zone-c  SKEW  MAX
shop/checkout    8/10       3       3       2     1    1

Pending: shop/checkout, 2 pods: checkout-0, checkout-1
kube-scheduler: 0/9 nodes are available: 3 Insufficient cpu, 6 node(s) didn't
                match pod topology spread constraints.
zone    PODS + SELF − MINIMUM = SKEW
zone-a  3 + 1 (self) − 2 (minimum: zone-c) = 2 > maxSkew 1
zone-b  3 + 1 (self) − 2 (minimum: zone-c) = 2 > maxSkew 1
zone-c  admitted; its 3 nodes lack cpu

PLACED         NODES
shop/checkout  node-0 ×2, node-1 ×2, node-2 ×2, node-3 ×2

shop/checkout  topology.kubernetes.io/zone · DoNotSchedule · maxSkew 1 · selects
  app=web · skew 1
zone    before  after
zone-a       0      3  ███  3 nodes
zone-b       0      3  ███  3 nodes
zone-c       0      2  ██   3 nodes, all lack cpu
""")


def test_the_picture_has_a_bar_for_each_domain() -> None:
    drawn = svg(checkout().answer().page())
    assert drawn.count('<rect class="bar"') == 3
    assert "no: 2 of 10 pods of shop/checkout are pending (9 nodes)" in drawn


def test_many_domains_are_summed_up() -> None:
    hosts = arithmetic({f"node-{i}": (2 if i < 4 else 1 if i < 140 else 0) for i in range(200)}, key=HOSTNAME, nodes=1)
    cordoned = {f"node-{i}": {CORDONED: 1} for i in range(150, 200)} | {"node-149": {TAINTED: 1}}
    rejected = {each.name: {SPREAD: 1} for each in hosts.domains if not each.allowed} | cordoned
    answer = simulation(
        [workload("web", spread(hosts, rejected=rejected), placed=144, pending=6)],
        [waiting(6, "0/200 nodes are available: 140 " + SPREAD + ".", (hosts, rejected))],
        nodes=200,
    ).answer()
    assert "0–2 in 200" in answer.text()
    wide = answer.text(wide=True)
    assert "136 domains" in wide
    assert "node-140, node-141 and 58 more; 50 are cordoned, 1 is tainted" in " ".join(wide.split())
    assert len(wide.splitlines()) < 40


def test_a_soft_constraint_says_why_it_exceeds_maxskew() -> None:
    zones = arithmetic({"zone-a": 4, "zone-b": 1}, hard=False, origin="system", max_skew=2)
    rejected = {"zone-a": {CPU: 1}, "zone-b": {CPU: 2, MEMORY: 2, CORDONED: 1}}
    found = with_fields(spread(zones, rejected=rejected), exceeded="full")
    assert simulation([workload("web", found, placed=5)]).answer().text(wide=True) == snapshot("""\
yes: all 5 pods find nodes (9 nodes)

WORKLOAD  PLACED  zone-a  zone-b  SKEW  MAX
shop/web     5/5       4       1     3  2 default

shop/web  topology.kubernetes.io/zone · ScheduleAnyway · maxSkew 2 · selects
  app=web · skew 3 · built-in default
zone    before  after
zone-a       0      4  ████  3 nodes: 1 lacks cpu
zone-b       0      1  █     3 nodes: 2 lack cpu and memory, 1 is cordoned
above maxSkew: soft, and filters left no node in the domains with the fewest
               pods
""")


def test_remarks_on_a_constraint() -> None:
    zones = arithmetic(
        {"zone-a": 0, "zone-b": 0},
        min_domains=3,
        counts_itself=0,
        left_out=[("no label topology.kubernetes.io/zone", ["node-10", "node-2", "node-3", "node-4", "node-5"])],
    )
    shown = simulation([workload("web", spread(zones), placed=2)]).answer().text(wide=True)
    assert shown[shown.index("minimum:") :] == snapshot("""\
minimum: counts as 0: 2 domains < minDomains 3
self: the pods do not match their own labelSelector (app=web): each adds 0
not counted: node-2, node-3, node-4 and 2 more (no label
             topology.kubernetes.io/zone)
""")


def test_a_constraint_without_a_selector_says_so() -> None:
    zones = replace(arithmetic({"zone-a": 0, "zone-b": 0}, counts_itself=0), selector="")
    shown = simulation([workload("web", spread(zones), placed=2)]).answer().text(wide=True)
    assert "selects nothing" in " ".join(shown.split())
    assert "self: without a labelSelector the constraint counts no pod: each adds 0\n" in shown


def test_a_constraint_that_no_node_takes_part_in() -> None:
    racks = arithmetic({}, key="rack", left_out=[("no label rack", ["node-1", "node-2"])])
    message = f"0/2 nodes are available: 2 {SPREAD} (missing required label)."
    shown = simulation([workload("web", spread(racks), pending=1)], [waiting(1, message, (racks, {}))], nodes=2)
    assert "no node takes part: no label rack\n" in shown.answer().text(wide=True)


def test_a_built_in_default_without_domains_is_not_shown() -> None:
    zones = arithmetic({}, hard=False, origin="system")
    assert ZONE not in simulation([workload("web", spread(zones), placed=1)]).answer().text(wide=True)


def test_bare_pods_with_the_same_result_are_one_row() -> None:
    zones = arithmetic({"zone-a": 2, "zone-b": 1})
    pods = [workload(f"web-{i}", spread(zones), kind="Pod", placed=1) for i in range(3)]
    landed = tuple(each for i in range(3) for each in placements({f"web-{i}": f"node-{i}"}, workload=f"Pod/web-{i}"))
    other = workload("api", kind="Pod", pending=1)
    shown = simulation([*pods, other], [waiting(1, "no room", name="api", kind="Pod")], placements=landed)
    assert shown.answer().text() == snapshot("""\
no: shop/api is pending (9 nodes)
why: no room

WORKLOAD       PLACED  zone-a  zone-b  SKEW  MAX
shop/web-0 +2     3/3       2       1     1    1
shop/api          0/1
""")


def test_causes_with_the_most_pods_come_first_and_others_are_counted() -> None:
    groups = [waiting(i + 1, f"waits for its scheduling gates: g{i}", name=f"svc-{i}") for i in range(4)]
    shown = simulation([workload(f"svc-{i}", pending=i + 1) for i in range(4)], groups).answer().text()
    assert shown.splitlines()[:4] == snapshot(
        [
            "no: 10 of 10 pods of 4 workloads are pending (9 nodes)",
            "why: shop/svc-3 (4 pods): waits for its scheduling gates: g3",
            "why: shop/svc-2 (3 pods): waits for its scheduling gates: g2",
            "more: 3 pods pending for 2 other causes: -o wide",
        ]
    )


def many() -> Simulation:
    """Two dozen workloads: pending, skewed and at risk ones behind others."""
    even = arithmetic({"zone-a": 1, "zone-b": 1})
    uneven = arithmetic({"zone-a": 4, "zone-b": 0}, hard=False)
    heaped = arithmetic({"zone-a": 2, "zone-b": 0}, hard=False, max_skew=5)
    paused = ["it is paused: its pods are not created"]
    quiet = [workload(f"svc-{i:02}", spread(even), placed=2) for i in range(20)]
    quiet += [with_fields(workload(f"paused-{i}", notes=paused), replicas=2) for i in range(4)]
    return simulation(
        [
            *quiet,
            workload("heaped", spread(heaped), placed=2),
            workload("uneven", spread(uneven), placed=4),
            workload("off", spread(arithmetic({"zone-a": 0, "zone-b": 0}))),
            workload("waiting", spread(even), placed=2, pending=1),
        ],
        [waiting(1, "no room", name="waiting")],
        placements=placements({"svc-01-a": "node-1", "svc-01-b": "node-2"}, "Deployment/svc-01"),
        warnings=("a warning",),
        notes=("a note", "a note on an option (--orders)"),
    )


def test_of_many_workloads_those_in_trouble_come_first() -> None:
    assert many().answer().text() == snapshot("""\
no: 1 of 3 pods of shop/waiting is pending (9 nodes)
why: no room
warning: a warning
note: a note
note: a note on an option (--orders)
note: shop/paused-0, shop/paused-1, shop/paused-2, shop/paused-3: it is paused:
      its pods are not created
nothing to place: 1 workload: shop/off

WORKLOAD      PLACED  zone-a  zone-b  SKEW  MAX
shop/waiting     2/3       1       1     0  1
shop/heaped      2/2       2       0     2  5 soft  all in zone-a
shop/uneven      4/4       4       0     4  1 soft  all in zone-a
shop/svc-00      2/2       1       1     0  1
shop/svc-01      2/2       1       1     0  1
shop/svc-02      2/2       1       1     0  1
shop/svc-03      2/2       1       1     0  1
shop/svc-04      2/2       1       1     0  1
shop/svc-05      2/2       1       1     0  1
shop/svc-06      2/2       1       1     0  1
and 17 more: -o wide
""")


def test_wide_has_every_workload() -> None:
    wide = many().answer().text(wide=True)
    assert all(f"shop/svc-{i:02}" in wide for i in range(20))
    assert "shop/off" in wide
    assert "note: a note\n" in wide


def test_everything_else_worth_knowing() -> None:
    shown = simulation(
        [workload("web", existing=3, placed=2, notes=["it is paused: pods of its newest template are not created"])],
        evictions=(
            EvictedPod("shop", "batch-1", "node-1", "Job/batch", "shop/web-1", "batch-1-anew1"),
            EvictedPod("shop", "loner", "node-1", "", "shop/web-1", None),
        ),
        removed={"shop/web-2": "node-2", "shop/web-3": ""},
        skipped={"Ingress": 1, "ConfigMap": 2},
        warnings=("no Services are given",),
    )
    assert shown.answer().text(wide=True) == snapshot("""\
yes: all -1 pods find nodes (9 nodes)
evicted: 2 pods for more important pods: shop/batch-1, shop/loner
removed: 2 pods by --scale: shop/web-2, shop/web-3
warning: no Services are given
note: shop/web: it is paused: pods of its newest template are not created

WORKLOAD  PLACED  SKEW  MAX
shop/web     2/2        3 before

EVICTED       FROM    FOR         RECREATED AS
shop/batch-1  node-1  shop/web-1  batch-1-anew1
shop/loner    node-1  shop/web-1  –

REMOVED BY --scale  FROM
shop/web-2          node-2
shop/web-3          –

skipped: 2 ConfigMap, 1 Ingress
""")


@pytest.mark.parametrize("kind", ["NodePool", "NodeClaim", "ClusterQueue"])
def test_kinds_that_decide_on_pods_or_nodes_are_not_said_to_be_skipped(kind: str) -> None:
    answer = simulation([workload("web", placed=1)], skipped={kind: 1, "ConfigMap": 2}).answer()
    assert f"not modelled: 1 {kind}\n" in answer.text()
    assert "skipped: 2 ConfigMap\n" in answer.text(wide=True)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("wide", [False, True])
def test_lines_stay_within_the_width(width: int, wide: bool) -> None:
    for shown in (checkout(), many()):
        assert max(map(len, shown.answer().text(wide=wide, width=width).splitlines())) <= width


def test_colour_adds_nothing_but_codes() -> None:
    coloured = for_terminal(text(checkout().answer().page(), colour=True))
    assert "\x1b[1;31m8/10\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == checkout().answer().text()


def test_a_namespace_alone() -> None:
    both = simulation(
        [workload("web", placed=1), workload("cache", namespace="infra", pending=1)],
        [with_fields(waiting(1, "waits", name="cache"), namespace="infra")],
        placements=(
            *placements({"web-1": "node-1"}),
            Placement("infra", "c", "Deployment/cache", None, None, "waits", None, None),
        ),
    )
    shown = both.answer("shop").text()
    assert "infra/cache" not in shown
    assert shown.startswith("yes: shop/web-1 finds a node: node-1; in other namespaces 1 pending\n")
    with pytest.raises(UsageError, match='in namespace "shpo"; namespaces with workloads: infra, shop'):
        both.answer("shpo")


def test_domains_that_a_constraint_does_not_count_have_a_dash_instead_of_a_number() -> None:
    """A 0 next to 2/2 would read as the place of the pods."""
    web = builders.workload("Deployment", "web", 2, {"topologySpreadConstraints": [builders.spread()]})
    misses = builders.spread(labelSelector={"matchLabels": {"app": "nothing"}})
    other = builders.workload("Deployment", "other", 2, {"topologySpreadConstraints": [misses]})
    shown = topospread.Session([*builders.nodes("a", "b"), web, other]).simulate().text()
    rows = [" ".join(line.split()) for line in shown.splitlines() if line.startswith("shop/")]
    assert rows == ["shop/web 2/2 1 1 0 1", "shop/other 2/2 – – 0 1 counts no pod"]
    assert "domains: pods that the constraint counts; more may run there; –: it counts none\n" in shown
    assert "domains:" not in topospread.Session([*builders.nodes("a", "b"), web]).simulate().text()


def test_fixes_are_not_called_all_that_help() -> None:
    web = builders.workload("Deployment", "web", 3, {"topologySpreadConstraints": [builders.spread()]})
    taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
    nodes = [builders.node("a1", "a"), builders.node("b1", "b") | {"spec": {"taints": [taint]}}]
    answer = topospread.Session([*nodes, web]).simulate()
    wide = answer.text(wide=True)
    assert len(answer.remedies) == 1
    assert "\nFixes; more for one workload: topospread why WORKLOAD\n" in wide


@pytest.mark.parametrize(("policy", "says"), [("Ignore", "counts tainted c (nodeTaintsPolicy: Ignore)"), ("Honor", "")])
def test_a_soft_constraint_whose_skew_comes_from_tainted_nodes_names_its_policy(policy: str, says: str) -> None:
    tainted = builders.node("c1", "c", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    of = {"topologySpreadConstraints": [builders.spread(whenUnsatisfiable="ScheduleAnyway", nodeTaintsPolicy=policy)]}
    web = builders.workload("Deployment", replicas=4, spec=of)
    shown = " ".join(topospread.Session([*builders.nodes("a", "b"), tainted, web]).simulate().text().split())
    assert ("counts tainted" in shown) == bool(says)
    assert says in shown
