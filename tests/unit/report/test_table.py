from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from inline_snapshot import snapshot
from msgspec.structs import replace as with_fields

from tests.unit.report.builders import (
    ANTI_AFFINITY,
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
    waiting,
    workload,
)
from topospread.errors import UsageError
from topospread.report.layout import Layout
from topospread.report.style import Style
from topospread.report.table import summary, table
from topospread.simulation import Eviction, Simulation
from topospread.text import for_terminal

FULL_ZONE = "0/9 nodes are available: 3 Insufficient cpu, 6 node(s) didn't match pod topology spread constraints."


def checkout() -> Simulation:
    """Ten replicas on three zones, of which one is full."""
    zones = arithmetic({"zone-a": 3, "zone-b": 3, "zone-c": 2})
    rejected = {"zone-a": {SPREAD: 3}, "zone-b": {SPREAD: 3}, "zone-c": {CPU: 3}}
    nodes = {f"checkout-{i}": f"node-{i % 4}" for i in range(8)}
    return simulation(
        [workload("checkout", spread(zones, rejected=rejected), placed=8, pending=2)],
        [waiting(2, FULL_ZONE, (zones, rejected), name="checkout")],
        placements=placements({**nodes, "checkout-8": None, "checkout-9": None}, "Deployment/checkout"),
    )


def test_shows_domains_before_and_after_and_the_sums_of_what_waits() -> None:
    assert table(checkout(), Layout()) == snapshot("""\
shop/checkout  Deployment · 10 replicas · 8 placed, 2 pending
  → node-0 ×2, node-1 ×2, node-2 ×2, node-3 ×2
  topology.kubernetes.io/zone  hard  maxSkew 1  skew 1
    zone-a  0 → 3  ███  3 nodes
    zone-b  0 → 3  ███  3 nodes
    zone-c  0 → 2  ██   3 nodes, all lack cpu

Pending  (matching pods + 1 (self) − global minimum = skew, at most maxSkew)
  shop/checkout (2)  0/9 nodes are available: 3 Insufficient cpu, 6 node(s)
    didn't match pod topology spread constraints.
    topology.kubernetes.io/zone  maxSkew 1
      zone-a  3 + 1 (self) − 2 (minimum: zone-c) = 2 > maxSkew 1
      zone-b  3 + 1 (self) − 2 (minimum: zone-c) = 2 > maxSkew 1
      zone-c  holds the minimum; its 3 nodes lack cpu

8 pods placed on 9 nodes, 2 pending
""")


def test_two_nodes() -> None:
    hosts = arithmetic({"node-1": 2, "node-2": 1}, key=HOSTNAME, nodes=1)
    shown = simulation(
        [workload("web", spread(hosts, before={"node-1": 1}), existing=1, placed=3)],
        nodes=2,
        placements=placements({"web-1": "node-1", "web-2": "node-2"}),
    )
    assert table(shown, Layout()) == snapshot("""\
shop/web  Deployment · 3 replicas · 3 placed (1 before)
  → node-1, node-2
  kubernetes.io/hostname  hard  maxSkew 1  skew 1
    node-1  1 → 2  ██
    node-2  0 → 1  █

2 pods placed on 2 nodes, nothing pending
""")


def test_two_hundred_domains_are_summed_up() -> None:
    hosts = arithmetic({f"node-{i}": (2 if i < 4 else 1 if i < 140 else 0) for i in range(200)}, key=HOSTNAME, nodes=1)
    cordoned = {f"node-{i}": {CORDONED: 1} for i in range(150, 200)} | {"node-149": {TAINTED: 1}}
    rejected = {each.name: {SPREAD: 1} for each in hosts.domains if not each.allowed} | cordoned
    shown = simulation(
        [workload("web", spread(hosts, rejected=rejected), placed=144, pending=6)],
        [waiting(6, "0/200 nodes are available: 140 " + SPREAD + ".", (hosts, rejected))],
        nodes=200,
        placements=placements({f"web-{i}": f"node-{i % 140}" for i in range(144)}),
    )
    assert table(shown, Layout()) == snapshot("""\
shop/web  Deployment · 150 replicas · 144 placed, 6 pending
  → 140 nodes: 2 pods on 4, 1 pod on 136
  kubernetes.io/hostname  hard  maxSkew 1  skew 2 (more than maxSkew)
    200 nodes with 0 → 144 pods; -o wide lists them
    2 pods on   4 nodes  node-0, node-1 and 2 more
     1 pod on 136 nodes  node-4, node-5 and 134 more
    0 pods on  60 nodes  node-140, node-141 and 58 more; 50 are cordoned, 1 is
                         tainted

Pending  (matching pods + 1 (self) − global minimum = skew, at most maxSkew)
  shop/web (6)  0/200 nodes are available: 140 node(s) didn't match pod topology
    spread constraints.
    kubernetes.io/hostname  maxSkew 1
      136 domains  1 + 1 (self) − 0 (minimum: node-140 and 59 more)
                   = 2 > maxSkew 1 (node-4, node-5 and 134 more)
      50 domains   holds the minimum; its node is cordoned (node-150, node-151
                   and 48 more)
      9 domains    holds the minimum (node-140, node-141 and 7 more)
      4 domains    2 + 1 (self) − 0 (minimum: node-140 and 59 more)
                   = 3 > maxSkew 1 (node-0, node-1 and 2 more)
      1 domain     holds the minimum; its node is tainted (node-149)

144 pods placed on 200 nodes, nothing pending
""")


def test_wide_shows_every_domain_and_pod() -> None:
    hosts = arithmetic({f"node-{i}": 1 for i in range(15)}, key=HOSTNAME, nodes=1)
    shown = simulation(
        [workload("web", spread(hosts), placed=15, pending=1)],
        [waiting(1, "waits")],
        placements=placements({f"web-{i}": f"node-{i}" for i in range(15)}),
    )
    lines = table(shown, Layout(wide=True)).splitlines()
    assert [line.split()[0] for line in lines if "→ 1  █" in line] == [f"node-{i}" for i in range(15)]
    assert "    pods: web-0" in lines


def test_many_different_counts_are_summed_up_in_the_middle() -> None:
    zones = arithmetic({f"zone-{i:02}": i for i in range(30)}, hard=False)
    assert table(simulation([workload("web", spread(zones), placed=435)]), Layout()) == snapshot("""\
shop/web  Deployment · 435 replicas · 435 placed
  topology.kubernetes.io/zone  soft  maxSkew 1  skew 29 (more than maxSkew)
    30 domains with 0 → 435 pods; -o wide lists them
         29 pods on   1 domain  zone-29
         28 pods on   1 domain  zone-28
         27 pods on   1 domain  zone-27
         26 pods on   1 domain  zone-26
    4 to 25 pods on 22 domains  zone-04, zone-05 and 20 more
          3 pods on   1 domain  zone-03
          2 pods on   1 domain  zone-02
           1 pod on   1 domain  zone-01
          0 pods on   1 domain  zone-00

no pod was to be placed on 9 nodes
""")


def test_a_soft_constraint_is_told_to_exceed_maxskew() -> None:
    zones = arithmetic({"zone-a": 4, "zone-b": 1}, hard=False, origin="system", max_skew=2)
    rejected = {"zone-a": {CPU: 1}, "zone-b": {CPU: 2, MEMORY: 2, CORDONED: 1}}
    assert table(simulation([workload("web", spread(zones, rejected=rejected), placed=5)]), Layout()) == snapshot("""\
shop/web  Deployment · 5 replicas · 5 placed
  topology.kubernetes.io/zone  soft  maxSkew 2  skew 3 (more than maxSkew)
      (built-in default)
    zone-a  0 → 4  ████  3 nodes
    zone-b  0 → 1  █     3 nodes: 2 lack cpu and memory, 1 is cordoned

no pod was to be placed on 9 nodes
""")


def test_what_a_workload_does_to_itself_is_no_trouble_while_nothing_waits() -> None:
    hosts = arithmetic({"node-1": 1, "node-2": 1}, key=HOSTNAME, nodes=1)
    rejected = {"node-1": {ANTI_AFFINITY: 1}, "node-2": {SPREAD: 1}}
    assert "rules" not in table(simulation([workload("web", spread(hosts, rejected=rejected), placed=2)]), Layout())


def test_remarks_on_a_constraint() -> None:
    zones = arithmetic(
        {"zone-a": 0, "zone-b": 0},
        min_domains=3,
        counts_itself=0,
        left_out=[("no label topology.kubernetes.io/zone", ["node-10", "node-2", "node-3", "node-4", "node-5"])],
    )
    assert table(simulation([workload("web", spread(zones), placed=2)]), Layout()) == snapshot("""\
shop/web  Deployment · 2 replicas · 2 placed
  topology.kubernetes.io/zone  hard  maxSkew 1  minDomains 3  skew 0
    zone-a  0 → 0  3 nodes
    zone-b  0 → 0  3 nodes
    fewer domains than minDomains (2 < 3): the minimum counts as 0
    the pods do not match their own labelSelector (app=web): each adds 0
    not counted: node-2, node-3, node-4 and 2 more (no label
      topology.kubernetes.io/zone)

no pod was to be placed on 9 nodes
""")


def test_a_constraint_without_a_selector_is_told_as_such() -> None:
    zones = replace(arithmetic({"zone-a": 0, "zone-b": 0}, counts_itself=0), selector="")
    text = table(simulation([workload("web", spread(zones), placed=2)]), Layout(wide=True))
    assert "selects nothing" in text
    assert "    without a labelSelector the constraint counts no pod: each adds 0\n" in text
    assert "()" not in text


def test_a_constraint_that_no_node_takes_part_in() -> None:
    racks = arithmetic({}, key="rack", left_out=[("no label rack", ["node-1", "node-2"])])
    message = f"0/2 nodes are available: 2 {SPREAD} (missing required label)."
    shown = simulation([workload("web", spread(racks), pending=1)], [waiting(1, message, (racks, {}))], nodes=2)
    assert table(shown, Layout()) == snapshot("""\
shop/web  Deployment · 1 replica · 0 placed, 1 pending
  rack  hard  maxSkew 1  skew 0
    no node takes part (no label rack)

Pending  (matching pods + 1 (self) − global minimum = skew, at most maxSkew)
  shop/web (1)  0/2 nodes are available: 2 node(s) didn't match pod topology
    spread constraints (missing required label).
    rack  maxSkew 1
      no node takes part (no label rack)

no pod was to be placed on 2 nodes
""")


def test_a_built_in_default_without_domains_is_not_shown() -> None:
    zones = arithmetic({}, hard=False, origin="system")
    assert ZONE not in table(simulation([workload("web", spread(zones), placed=1)]), Layout())


def test_the_minimum_below_min_domains() -> None:
    zones = arithmetic({"zone-a": 1, "zone-b": 1}, min_domains=3)
    rejected = {"zone-a": {SPREAD: 3}, "zone-b": {SPREAD: 1, CPU: 2}}
    shown = simulation([], [waiting(1, f"6 {SPREAD}", (zones, rejected))])
    assert "zone-a  1 + 1 (self) − 0 (2 domains < minDomains 3) = 2 > maxSkew 1" in table(shown, Layout())


def test_a_forbidden_domain_whose_nodes_would_not_do_either_says_so() -> None:
    zones = arithmetic({"zone-a": 2, "zone-b": 0})
    rejected = {"zone-a": {SPREAD: 1, CORDONED: 3}, "zone-b": {SPREAD: 3}}
    shown = table(simulation([], [waiting(1, f"6 {SPREAD}", (zones, rejected))]), Layout(width=120))
    assert "zone-a  2 + 1 (self) − 0 (minimum: zone-b) = 3 > maxSkew 1; and its 3 nodes are cordoned" in shown
    assert "zone-b  holds the minimum; its 3 nodes are ruled out by another constraint" in shown


def test_bare_pods_alike_are_one_block() -> None:
    zones = arithmetic({"zone-a": 2, "zone-b": 1})
    pods = [workload(f"web-{i}", spread(zones), kind="Pod", placed=1) for i in range(3)]
    landed = tuple(each for i in range(3) for each in placements({f"web-{i}": f"node-{i}"}, workload=f"Pod/web-{i}"))
    other = workload("api", kind="Pod", pending=1)
    assert table(simulation([*pods, other], placements=landed), Layout()) == snapshot("""\
shop/web-0, web-1, web-2  3 Pods · 3 placed
  → node-0 (web-0), node-1 (web-1), node-2 (web-2)
  topology.kubernetes.io/zone  hard  maxSkew 1  skew 1
    zone-a  0 → 2  ██  3 nodes
    zone-b  0 → 1  █   3 nodes

shop/api  Pod · pending

3 pods placed on 9 nodes, nothing pending
""")


def test_pods_of_many_workloads_that_wait_for_one_reason_stand_together() -> None:
    message = "0/9 nodes are available: 9 Insufficient cpu."
    zones = arithmetic({"zone-a": 0, "zone-b": 0})
    rejected = {"zone-a": {CPU: 3}, "zone-b": {CPU: 6}}
    names = [f"svc-{i:02}" for i in range(50)]
    shown = simulation(
        [workload(name, spread(zones, rejected=rejected), pending=2) for name in names],
        [waiting(2, message, (zones, rejected), name=name) for name in names],
    )
    text = table(shown, Layout())
    assert text[text.index("Pending") :] == snapshot("""\
Pending
  0/9 nodes are available: 9 Insufficient cpu.
    100 pods: shop/svc-00 (2), shop/svc-01 (2), shop/svc-02 (2),
      shop/svc-03 (2), shop/svc-04 (2), shop/svc-05 (2), shop/svc-06 (2),
      shop/svc-07 (2) and 42 more

no pod was to be placed on 9 nodes
""")
    assert len(text.splitlines()) < 65


def test_of_many_workloads_those_that_nothing_happened_to_are_named_only() -> None:
    zones = arithmetic({"zone-a": 1, "zone-b": 1})
    before = {"zone-a": 1, "zone-b": 1}
    idle = [workload(f"old-{i}", spread(zones, before=before), existing=2, placed=2) for i in range(20)]
    busy = workload("new", spread(zones), placed=2)
    assert table(simulation([*idle, busy]), Layout()) == snapshot("""\
shop/new  Deployment · 2 replicas · 2 placed
  topology.kubernetes.io/zone  hard  maxSkew 1  skew 0
    zone-a  0 → 1  █  3 nodes
    zone-b  0 → 1  █  3 nodes

20 workloads had nothing to place: shop/old-0, shop/old-1, shop/old-2,
  shop/old-3, shop/old-4, shop/old-5 and 14 more; -o wide shows them

no pod was to be placed on 9 nodes
""")
    assert "old-19" in table(simulation([*idle, busy]), Layout(wide=True))


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
        notes=("a note",),
    )


def test_of_many_workloads_those_in_trouble_stand_first_and_others_are_a_line_each() -> None:
    assert table(many(), Layout()) == snapshot("""\
shop/waiting  Deployment · 3 replicas · 2 placed, 1 pending
  topology.kubernetes.io/zone  hard  maxSkew 1  skew 0
    zone-a  0 → 1  █  3 nodes
    zone-b  0 → 1  █  3 nodes

shop/uneven  Deployment · 4 replicas · 4 placed
  topology.kubernetes.io/zone  soft  maxSkew 1  skew 4 (more than maxSkew)
    zone-a  0 → 4  ████  3 nodes
    zone-b  0 → 0        3 nodes

shop/heaped  Deployment · 2 replicas · 2 placed
  topology.kubernetes.io/zone  soft  maxSkew 5  skew 2
    zone-a  0 → 2  ██  3 nodes
    zone-b  0 → 0      3 nodes

shop/svc-00    Deployment  2 placed
shop/svc-01    Deployment  2 placed       → node-1, node-2
shop/svc-02    Deployment  2 placed
shop/svc-03    Deployment  2 placed
shop/svc-04    Deployment  2 placed
shop/svc-05    Deployment  2 placed
shop/svc-06    Deployment  2 placed
shop/svc-07    Deployment  2 placed
shop/svc-08    Deployment  2 placed
shop/svc-09    Deployment  2 placed
shop/svc-10    Deployment  2 placed
shop/svc-11    Deployment  2 placed
shop/svc-12    Deployment  2 placed
shop/svc-13    Deployment  2 placed
shop/svc-14    Deployment  2 placed
shop/svc-15    Deployment  2 placed
shop/svc-16    Deployment  2 placed
shop/svc-17    Deployment  2 placed
shop/svc-18    Deployment  2 placed
shop/svc-19    Deployment  2 placed
shop/paused-0  Deployment  0 of 2 placed
shop/paused-1  Deployment  0 of 2 placed
shop/paused-2  Deployment  0 of 2 placed
shop/paused-3  Deployment  0 of 2 placed

note: shop/paused-0, shop/paused-1, shop/paused-2, shop/paused-3: it is paused:
  its pods are not created

1 workload had nothing to place: shop/off; -o wide shows them

Pending
  shop/waiting (1)  no room

warning: a warning
note: a note

2 pods placed on 9 nodes, nothing pending
""")


def test_wide_has_a_block_for_each_of_many_workloads() -> None:
    text = table(many(), Layout(wide=True))
    assert text.startswith("shop/waiting")
    assert text.count("topology.kubernetes.io/zone") == 20 + 3
    assert "\n\nshop/svc-00  Deployment · 2 replicas · 2 placed\n  topology" in text


def test_a_workload_of_no_replicas_is_one_line() -> None:
    text = table(simulation([workload("off", spread(arithmetic({"zone-a": 0, "zone-b": 0})))]), Layout())
    assert text.splitlines()[0] == "shop/off  Deployment · 0 replicas"
    assert "zone-a" not in text


def test_a_summary_names_who_is_in_trouble() -> None:
    assert summary(many(), Layout()) == snapshot("""\
shop/waiting  Deployment  1 of 3 pending
shop/uneven   Deployment  topology.kubernetes.io/zone skew 4 > maxSkew 1
shop/heaped   Deployment  all in zone-a
warning: a warning
2 pods placed on 9 nodes, nothing pending
""")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("write", [table, summary])
def test_of_many_workloads_lines_stay_within_the_width(width: int, write: Callable[..., str]) -> None:
    assert max(map(len, write(many(), Layout(width=width)).splitlines())) <= width


def test_everything_else_worth_knowing() -> None:
    shown = simulation(
        [workload("web", existing=3, placed=2, notes=["it is paused: pods of its newest template are not created"])],
        evictions=(
            Eviction("shop", "batch-1", "node-1", "Job/batch", "shop/web-1", "batch-1-anew1"),
            Eviction("shop", "loner", "node-1", "", "shop/web-1", ""),
        ),
        removed={"shop/web-2": "node-2", "shop/web-3": ""},
        foreign={"volcano": 2},
        skipped={"Ingress": 1, "ConfigMap": 2},
        warnings=("no Services are given",),
        notes=("a note that goes on for so long that it does not fit on one line of eighty columns at all",),
    )
    assert table(shown, Layout()) == snapshot("""\
shop/web  Deployment · 2 replicas · 2 placed (3 before)
  note: it is paused: pods of its newest template are not created

Evicted  (each makes room for the pod that is nominated for its node)
  shop/batch-1 from node-1 for shop/web-1, created anew as batch-1-anew1
  shop/loner from node-1 for shop/web-1, nothing creates it anew

Removed by scaling down
  shop/web-2 from node-2
  shop/web-3, which had no node

warning: no Services are given
note: a note that goes on for so long that it does not fit on one line of eighty
  columns at all
note: 2 pods left alone for the scheduler volcano
note: kinds that play no part were skipped: 2 ConfigMap, 1 Ingress

no pod was to be placed on 9 nodes
""")


@pytest.mark.parametrize("kind", ["PodGroup", "Workload", "NodePool", "NodeClaim", "ClusterQueue", "ResourceQuota"])
def test_kinds_that_decide_on_pods_or_nodes_are_not_said_to_play_no_part(kind: str) -> None:
    text = table(simulation([workload("web", placed=1)], skipped={kind: 1, "ConfigMap": 2}), Layout())
    assert f"note: kinds that topospread does not model: 1 {kind}\n" in text
    assert "note: kinds that play no part were skipped: 2 ConfigMap\n" in text


@pytest.mark.parametrize("width", [50, 60, 80, 200])
def test_lines_stay_within_the_width(width: int) -> None:
    """Names are never broken; with names as short as here that leaves room for everything."""
    assert max(map(len, table(checkout(), Layout(width=width)).splitlines())) <= width


def test_colour_adds_nothing_but_codes() -> None:
    coloured = for_terminal(table(checkout(), Layout(style=Style(colour=True))))
    assert "\x1b[1;31m2 pending\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == table(checkout(), Layout())


def test_a_namespace_alone() -> None:
    elsewhere = workload("cache", namespace="infra", pending=1)
    both = simulation(
        [workload("web", placed=1), elsewhere],
        [waiting(1, "waits")],
        placements=(*placements({"web-1": "node-1"}), *placements({"web-2": None})),
    )
    assert "infra/cache" not in table(both, Layout(), "shop")
    with pytest.raises(UsageError, match='no workload in the namespace "shpo"; there are infra, shop'):
        table(both, Layout(), "shpo")


def test_what_waits_in_other_namespaces_is_not_forgotten() -> None:
    from topospread.simulation import PodPlacement

    both = simulation(
        [workload("web", placed=1), workload("cache", namespace="infra", pending=1)],
        placements=(*placements({"web-1": "node-1"}), PodPlacement("infra", "c", "Deployment/cache", None, "waits")),
    )
    assert table(both, Layout(), "shop").splitlines()[-1] == (
        "1 pod placed on 9 nodes, nothing pending (in other namespaces 1 pending)"
    )
