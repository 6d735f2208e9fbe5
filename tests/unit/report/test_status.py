from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from topospread.report.layout import Layout
from topospread.report.status import status_summary, status_text
from topospread.spread_status import ConstraintStatus, DomainPods, Loss, SpreadStatus, WorkloadStatus

ZONE = "topology.kubernetes.io/zone"


def workload(name: str, *counts: int, replicas: int | None = None, notes: tuple[str, ...] = ()) -> WorkloadStatus:
    """A Deployment with so many pods in each of as many zones, softly spread."""
    zones = [(f"zone-{'abcdef'[i]}", count) for i, count in enumerate(counts)]
    total = sum(counts)
    constraint = ConstraintStatus(
        ZONE,
        "ScheduleAnyway",
        1,
        1,
        0,
        "pod",
        f"app={name}",
        1,
        min(counts, default=0),
        max(counts, default=0) - min(counts, default=0),
        tuple(DomainPods(zone, count, 2) for zone, count in zones if count),
        sum(not count for _, count in zones),
        tuple(zone for zone, count in zones if not count),
    )
    losses = tuple(Loss(ZONE, zone, count, total) for zone, count in zones if count)
    wanted = total if replicas is None else replicas
    return WorkloadStatus("Deployment", "shop", name, wanted, total, (constraint,), (), losses, notes)


def many() -> SpreadStatus:
    quiet = [workload(f"svc-{i:02}", 1, 1) for i in range(12)]
    paused = [workload(f"paused-{i}", 0, 0, replicas=2, notes=("it is paused",)) for i in range(4)]
    return SpreadStatus(
        6, (workload("uneven", 4, 1), workload("heaped", 2), *quiet, *paused), (), warnings=("careful",)
    )


def test_of_many_workloads_those_in_trouble_stand_first_and_others_are_a_line_each() -> None:
    assert status_text(many(), Layout()) == snapshot("""\
shop/uneven  Deployment · 5 replicas · 5 on nodes
  topology.kubernetes.io/zone  soft  maxSkew 1  skew 3 (more than maxSkew)
    zone-a  4  ████  2 nodes
    zone-b  1  █     2 nodes
  most in one domain: zone-a 4 of 5 (80 %)

shop/heaped  Deployment · 2 replicas · 2 on nodes
  most in one domain: zone-a 2 of 2 (100 %)

shop/paused-0  Deployment  0 on nodes  2 of 2 without a node
shop/paused-1  Deployment  0 on nodes  2 of 2 without a node
shop/paused-2  Deployment  0 on nodes  2 of 2 without a node
shop/paused-3  Deployment  0 on nodes  2 of 2 without a node
shop/svc-00    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-01    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-02    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-03    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-04    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-05    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-06    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-07    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-08    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-09    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-10    Deployment  2 on nodes  most in one domain: zone-a 1 of 2
shop/svc-11    Deployment  2 on nodes  most in one domain: zone-a 1 of 2

note: shop/paused-0, shop/paused-1, shop/paused-2, shop/paused-3: it is paused

warning: careful

18 workloads on 6 nodes: 1 leaves a soft one unsatisfied
""")


def test_a_summary_names_who_is_in_trouble() -> None:
    assert status_summary(many(), Layout()) == snapshot("""\
shop/uneven    Deployment  topology.kubernetes.io/zone skew 3 > maxSkew 1
shop/heaped    Deployment  all in zone-a
shop/paused-0  Deployment  2 of 2 without a node
shop/paused-1  Deployment  2 of 2 without a node
shop/paused-2  Deployment  2 of 2 without a node
shop/paused-3  Deployment  2 of 2 without a node
warning: careful
18 workloads on 6 nodes: 1 leaves a soft one unsatisfied
""")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_stay_within_the_width(width: int) -> None:
    assert max(map(len, status_text(many(), Layout(width=width)).splitlines())) <= width
