"""An explanation as text, as it stands in a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest
from inline_snapshot import snapshot

from tests.unit.explanation.builders import (
    GPU,
    HOST,
    ZONE,
    constraint,
    explained,
    node,
    pod,
    replicas,
    spec,
    workload,
    zones,
)
from topospread.explanation import Explanation
from topospread.report.explanation import explanation_text
from topospread.report.layout import Layout
from topospread.report.style import Style
from topospread.text import for_terminal

OF = spec(constraint())
CODE = re.compile(r"\x1b\[[0-9;]*m")


def pending() -> Explanation:
    """Zone c holds the minimum: one node is cordoned, the other full."""
    nodes = [*zones("ab"), node("c1", "zone-c", cordoned=True), node("c2", "zone-c", cpu="1")]
    there = [pod(f"web-{i}", on, OF, owner=("StatefulSet", "web")) for i, on in enumerate("ab")]
    filler = pod("filler", "c2", spec(cpu="800m"), labels={"app": "filler"})
    return explained("sts/web", *nodes, *there, filler, workload("StatefulSet", 3, OF))


def placed() -> Explanation:
    of = spec(constraint(when="ScheduleAnyway", maxSkew=2), constraint(HOST))
    nodes = [*zones("abc"), node("gpu", "zone-d", taints=[GPU]), node("bare")]
    filler = [pod(f"filler-{i}", on, spec(cpu="1"), labels={"app": "filler"}) for i, on in enumerate("bcc")]
    return explained("web", *nodes, pod("web-0", "a", of), *filler, pod("web", of=of))


def large() -> Explanation:
    """3,000 nodes; zone c is cordoned."""
    nodes = [node(f"node-{i}", f"zone-{'abc'[i % 3]}", cordoned=i % 3 == 2) for i in range(3000)]
    of = spec(constraint(), constraint(HOST))
    return explained("deploy/web", *nodes, workload("Deployment", 12, of))


def test_a_pending_pod() -> None:
    assert explanation_text(pending(), Layout()) == snapshot("""\
shop/web-2  StatefulSet web · pending · 1 of 3 pods pending · does not exist yet
  0/4 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 2
    node(s) didn't match pod topology spread constraints. preemption: 0/4 nodes
    are available: 1 Preemption is not helpful for scheduling, 3 No preemption
    victims found for incoming pod.

topology.kubernetes.io/zone  hard  maxSkew 1  counts app=web
    domain  nodes  pods  after  skew
    zone-a      1     1      2     2  █   > 1 refused
    zone-b      1     1      2     2  █   > 1 refused
    zone-c      2     0      1     1      ≤ 1 allowed; of its 2 nodes 1 is
                                          cordoned, 1 lacks cpu
    skew = pods + 1 (self) − 0 (minimum); zone-c holds the minimum, but none of
      its nodes takes the pod

What rejects the 4 nodes  (each plugin asked about every node)
  NodeUnschedulable  1 node, none by it alone: were unschedulable
  TaintToleration    1 node, none by it alone: had untolerated taint(s)
                     (node.kubernetes.io/unschedulable:NoSchedule)
  NodeResourcesFit   1 node, by it alone: Insufficient cpu
  PodTopologySpread  2 nodes, by it alone: didn't match pod topology spread
                     constraints

Nodes nearest to fitting
  c2 (zone-c): NodeResourcesFit: 300m cpu short
  a (zone-a) and 1 node more: PodTopologySpread: zone-a: skew 2 > maxSkew 1
  c1 (zone-c): NodeUnschedulable: cordoned; TaintToleration:
      node.kubernetes.io/unschedulable:NoSchedule

What would let it in  (each was tried: everything simulated anew with it)
  1  uncordon c1 in zone-c
     it is placed
     kubectl uncordon c1
  2  maxSkew 2 instead of 1 on topology.kubernetes.io/zone
     a new revision of StatefulSet web replaces every pod, once the pending one
     is deleted (unless managed in parallel): all 3 are placed
     kubectl -n shop patch statefulset web --type json -p '[{"op":"replace",
       "path":"/spec/template/spec/topologySpreadConstraints/0/maxSkew",
       "value":2}]'
  3  whenUnsatisfiable: ScheduleAnyway on topology.kubernetes.io/zone
     a new revision of StatefulSet web replaces every pod, once the pending one
     is deleted (unless managed in parallel): all 3 are placed
     kubectl -n shop patch statefulset web --type json -p '[{"op":"replace",
       "path":"/spec/template/spec/topologySpreadConstraints/0/whenUnsatisfiable",
       "value":"ScheduleAnyway"}]'
  4  free 300m cpu on c2 in zone-c
     it is placed
     patch, to try it: [{"op":"add", "path":"/status/allocatable/cpu",
       "value":"1300m"}]
  5  a new node in zone-c, of the shape of c2
     it is placed
""")


def test_a_placed_pod() -> None:
    assert explanation_text(placed(), Layout()) == snapshot("""\
shop/web  placed on b

kubernetes.io/hostname  hard  maxSkew 1  counts app=web
    domain  nodes  pods  after  skew
    a           1     1      2     2  █   > 1 refused
    b           1     0      1     1      ≤ 1 allowed
    bare        1     0      1     1      ≤ 1 allowed
    c           1     0      1     1      ≤ 1 allowed
    gpu         1     0      1     1      ≤ 1 allowed; its node is tainted
    skew = pods + 1 (self) − 0 (minimum); b, bare and 2 more hold the minimum

topology.kubernetes.io/zone  soft  maxSkew 2  counts app=web
    domain  nodes  pods  after  skew
    zone-a      1     1      2     2  █
    zone-b      1     0      1     1
    zone-c      1     0      1     1
    zone-d      1     0      1     1      its node is tainted
    not counted: bare (no label topology.kubernetes.io/zone)

Scores  (weighted points, 3 feasible nodes)
  A  b  chosen
  B  c
  C  bare
                                         A    B    C
  TaintToleration                 ×3   300  300  300
  NodeResourcesFit                ×1    79   66   92
  PodTopologySpread               ×2   200  200    0
  InterPodAffinity                ×2     0    0    0
  NodeResourcesBalancedAllocation ×1    72   71   71
  ImageLocality                   ×1     0    0    0
  total                                651  637  463

PodTopologySpread  (pods × ln(domains + 2) + maxSkew − 1, added up and rounded;
  fewer is better)
  A  zone-b: 0 × ln(2 + 2) + 1 = 1.000; 1.000 → 1
     100 × (1 + 1 − 1) ÷ 1 = 100 × 2 = 200
  B  zone-c: 0 × ln(2 + 2) + 1 = 1.000; 1.000 → 1
     100 × (1 + 1 − 1) ÷ 1 = 100 × 2 = 200
  C  lacks a key: not scored
     0 × 2 = 0

Without a constraint
  kubernetes.io/hostname (hard): the same node, 651 points
  topology.kubernetes.io/zone (soft): bare, 463 points

What rejects the 5 nodes  (each plugin asked about every node)
  TaintToleration    1 node, by it alone: had untolerated taint(s)
                     (dedicated=gpu:NoSchedule)
  PodTopologySpread  1 node, by it alone: didn't match pod topology spread
                     constraints
""")


def test_3000_nodes_are_summed_up() -> None:
    text = explanation_text(large(), Layout())
    assert text == snapshot("""\
shop/web-749c9b4fbb-mtjbx  Deployment web · pending · 10 of 12 pods pending ·
    does not exist yet
  0/3000 nodes are available: 1000 node(s) were unschedulable, 2000 node(s)
    didn't match pod topology spread constraints. preemption: 0/3000 nodes are
    available: 1000 Preemption is not helpful for scheduling, 2000 No preemption
    victims found for incoming pod.

topology.kubernetes.io/zone  hard  maxSkew 1  counts app=web
    domain  nodes  pods  after  skew
    zone-a   1000     1      2     2  █   > 1 refused
    zone-b   1000     1      2     2  █   > 1 refused
    zone-c   1000     0      1     1      ≤ 1 allowed; its 1000 nodes are
                                          cordoned
    skew = pods + 1 (self) − 0 (minimum); zone-c holds the minimum, but none of
      its nodes takes the pod

kubernetes.io/hostname  hard  maxSkew 1  counts app=web
    3000 domains with 2 pods; -o wide lists them
    1998 domains  ████████████  0 pods each, skew 1 ≤ 1 allowed; another
      constraint refuses it (node-3, node-4 and 1996 more)
    1000 domains  ██████        0 pods each, skew 1 ≤ 1 allowed; its node is
      cordoned (node-2, node-5 and 998 more)
       2 domains  █             1 pod each, skew 2 > 1 refused (node-0, node-1)
    skew = pods + 1 (self) − 0 (minimum); node-2, node-3 and 2996 more hold the
      minimum

What rejects the 3000 nodes  (each plugin asked about every node)
  NodeUnschedulable  1000 nodes, none by it alone: were unschedulable
  TaintToleration    1000 nodes, none by it alone: had untolerated taint(s)
                     (node.kubernetes.io/unschedulable:NoSchedule)
  PodTopologySpread  2000 nodes, by it alone: didn't match pod topology spread
                     constraints

Nodes nearest to fitting
  node-10 (zone-b) and 1997 nodes more: PodTopologySpread: zone-b: skew 2 >
      maxSkew 1
  node-0 (zone-a) and 1 node more: PodTopologySpread: zone-a: skew 2 > maxSkew
      1, node-0: skew 2 > maxSkew 1
  node-1001 (zone-c) and 999 nodes more: NodeUnschedulable: cordoned;
      TaintToleration: node.kubernetes.io/unschedulable:NoSchedule

What would let it in  (each was tried: everything simulated anew with it)
  1  uncordon node-2 in zone-c
     lets in 3 of the 10 pending pods
     kubectl uncordon node-2
  2  nodeTaintsPolicy: Honor on topology.kubernetes.io/zone
     a new revision of Deployment web replaces every pod: all 12 are placed
     kubectl -n shop patch deployment web --type json -p '[{"op":"add",
       "path":"/spec/template/spec/topologySpreadConstraints/0/nodeTaintsPolicy",
       "value":"Honor"}]'
  3  maxSkew 6 instead of 1 on topology.kubernetes.io/zone
     a new revision of Deployment web replaces every pod: all 12 are placed
     kubectl -n shop patch deployment web --type json -p '[{"op":"replace",
       "path":"/spec/template/spec/topologySpreadConstraints/0/maxSkew",
       "value":6}]'
  4  whenUnsatisfiable: ScheduleAnyway on topology.kubernetes.io/zone
     a new revision of Deployment web replaces every pod: all 12 are placed
     kubectl -n shop patch deployment web --type json -p '[{"op":"replace",
       "path":"/spec/template/spec/topologySpreadConstraints/0/whenUnsatisfiable",
       "value":"ScheduleAnyway"}]'
  5  a new node in zone-c, of the shape of node-0
     lets in 3 of the 10 pending pods
""")
    assert len(text.splitlines()) < 70


def test_a_pod_on_a_node_that_would_refuse_it() -> None:
    there = [pod(f"web-{i}", on, OF) for i, on in enumerate("aaab")]
    assert explanation_text(explained("web-0", *zones("ab"), *there), Layout()) == snapshot("""\
shop/web-0  on a
  Taken off and scheduled anew on the cluster as it is it would go to b: a would
    refuse it.

topology.kubernetes.io/zone  hard  maxSkew 1  counts app=web
    domain  nodes  pods  after  skew
    zone-a      1     2      3     2  ██   > 1 refused
    zone-b      1     1      2     1  █    ≤ 1 allowed
    skew = pods + 1 (self) − 1 (minimum); zone-b holds the minimum

b is the only feasible node: kube-scheduler does not score it

Without a constraint
  topology.kubernetes.io/zone (hard): b, 458 points

Why its node would refuse it
  a (zone-a): PodTopologySpread: zone-a: skew 2 > maxSkew 1

What rejects the 2 nodes  (each plugin asked about every node)
  PodTopologySpread  1 node, by it alone: didn't match pod topology spread
                     constraints
""")


def test_a_pod_that_waits() -> None:
    of = OF | {"schedulingGates": [{"name": "example.com/quota"}]}
    assert explanation_text(explained("web", *zones(), pod("web", of=of)), Layout()) == snapshot("""\
shop/web  waiting
  waits for its scheduling gates: example.com/quota

note: its pods wait for their scheduling gates to be removed: example.com/quota
""")


def test_a_key_that_no_node_has() -> None:
    found = explained("web", *zones("a"), pod("web", of=spec(constraint("zone"))), suggest=False)
    assert explanation_text(found, Layout()) == snapshot("""\
shop/web  pending
  0/1 nodes are available: 1 node(s) didn't match pod topology spread
    constraints (missing required label). preemption: 0/1 nodes are available: 1
    Preemption is not helpful for scheduling.

zone  hard  maxSkew 1  counts app=web
    no node takes part (no label zone)

What rejects the node  (each plugin asked about every node)
  PodTopologySpread  1 node, by it alone: didn't match pod topology spread
                     constraints (missing required label)

Nodes nearest to fitting
  a: PodTopologySpread: no label zone
""")


def test_no_domain_for_want_of_nodes() -> None:
    assert explanation_text(explained("web", pod("web", of=OF)), Layout()) == snapshot("""\
shop/web  pending
  no nodes available to schedule pods

topology.kubernetes.io/zone  hard  maxSkew 1  counts app=web
    no node takes part

What would let it in  no change that was tried: of its constraints or claims, a
  toleration, room on a node, a node more
""")


def test_minimum_counts_as_0_below_min_domains() -> None:
    of = spec(constraint(minDomains=3))
    found = explained("web", *zones("a"), pod("there", "a", of), pod("web", of=of), suggest=False)
    assert "1 domain < minDomains 3, so the minimum counts as 0" in explanation_text(found, Layout(120))


def test_a_pod_that_its_own_constraint_does_not_count() -> None:
    of = spec(constraint(app="other"))
    assert "the pod does not match the constraint's own labelSelector: it adds 0" in explanation_text(
        explained("web", *zones("a"), pod("web", of=of)), Layout()
    )


def test_suggestions_of_an_owner_that_is_not_known() -> None:
    there = [pod(f"web-{i}", on, OF, owner=("Rollout", "web")) for i, on in enumerate(["a", ""])]
    text = explanation_text(explained("web-1", *zones("a"), node("b", "zone-b", taints=[GPU]), *there), Layout())
    assert text[text.index("What would") :] == snapshot("""\
What would let it in  (each was tried: everything simulated anew with it)
  1  nodeTaintsPolicy: Honor on topology.kubernetes.io/zone
     in the pod template of Rollout web, which makes its pods anew: both are
     placed
     patch: [{"op":"add",
       "path":"/spec/topologySpreadConstraints/0/nodeTaintsPolicy",
       "value":"Honor"}]
  2  maxSkew 2 instead of 1 on topology.kubernetes.io/zone
     in the pod template of Rollout web, which makes its pods anew: both are
     placed
     patch: [{"op":"replace",
       "path":"/spec/topologySpreadConstraints/0/maxSkew", "value":2}]
  3  tolerate dedicated=gpu:NoSchedule
     in the pod template of Rollout web, which makes its pods anew: both are
     placed
     patch: [{"op":"add", "path":"/spec/tolerations",
       "value":[{"key":"dedicated", "operator":"Equal", "value":"gpu",
       "effect":"NoSchedule"}]}]
  4  whenUnsatisfiable: ScheduleAnyway on topology.kubernetes.io/zone
     in the pod template of Rollout web, which makes its pods anew: both are
     placed
     patch: [{"op":"replace",
       "path":"/spec/topologySpreadConstraints/0/whenUnsatisfiable",
       "value":"ScheduleAnyway"}]
  5  a new node in zone-b, of the shape of a
     it is placed
""")


def test_a_patch_for_pods_alone_is_one_of_their_deployment() -> None:
    nodes = [*zones("a"), node("b", "zone-b", taints=[GPU])]
    text = explanation_text(explained("web-abc-1", *nodes, *replicas("abc", OF, ["a", ""])), Layout())
    assert "kubectl -n shop patch deployment web --type json -p" in text
    assert "a new revision of Deployment web replaces every pod: both are placed" in text


def test_wide_shows_every_domain_and_every_patch() -> None:
    nodes = [node(f"n{i}", f"zone-{i}") for i in range(12)]
    of = spec(constraint())
    there = [pod(f"web-{i}", f"n{i}", of) for i in range(11)]
    found = explained("web", *nodes[:11], node("n11", "zone-11", cordoned=True), *there, pod("web", of=of))
    text = explanation_text(found, Layout(wide=True))
    assert all(f"zone-{i} " in text for i in range(12))
    assert '"path":"/items/-"' in text
    assert '"path":"/items/-"' not in explanation_text(found, Layout())


@pytest.mark.parametrize("make", [pending, placed, large])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_width_unless_a_word_does_not(make: object, width: int) -> None:
    assert callable(make)
    for line in explanation_text(make(), Layout(width)).splitlines():
        assert len(line) <= width or " " not in line.strip(), line


@pytest.mark.parametrize("make", [pending, placed])
def test_colour_adds_nothing_that_is_not_said(make: object) -> None:
    assert callable(make)
    coloured = for_terminal(explanation_text(make(), Layout(style=Style(colour=True))))
    assert "\x1b[1m" in coloured
    assert CODE.sub("", coloured) == explanation_text(make(), Layout())


def test_zones_are_sorted_as_people_count() -> None:
    of = spec(constraint(ZONE))
    found = explained("web", *(node(f"n{i}", f"zone-{i}") for i in (10, 9, 1)), pod("web", of=of))
    text = explanation_text(found, Layout())
    assert text.index("zone-1 ") < text.index("zone-9 ") < text.index("zone-10")


def test_a_long_selector_breaks_between_its_requirements_and_says_each_once() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"app": "web"}},
    }
    made = workload("ReplicaSet", 1, spec())
    expressions = [
        {"key": "app", "operator": "In", "values": ["web", "web-canary", "web-of-the-year-before", "web-of-next-year"]}
    ]
    made["spec"]["selector"] = {"matchLabels": {"app": "web"}, "matchExpressions": expressions}
    text = explanation_text(explained("rs/web", *zones(), service, made), Layout())
    assert text[text.index(ZONE) :].splitlines()[:2] == snapshot(
        [
            "topology.kubernetes.io/zone  soft  maxSkew 5  (built-in default)  counts",
            "    app=web, app in (web,web-canary,web-of-next-year,web-of-the-year-before)",
        ]
    )
