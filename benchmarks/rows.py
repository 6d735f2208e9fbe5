"""What is measured: rows of the engine with what they have to reach, growth, and whole commands."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.engine import Work


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        target: pods per second that it has to reach; 0 where it is only reported.
        quick: whether `make bench-quick` measures it too.
        peer: whether kube-scheduler is measured at the same work.
    """

    name: str
    work: Work
    target: int = 0
    quick: bool = False
    peer: bool = True


_KINDS = {
    "hard zone": "hard",
    "soft zone": "soft",
    "hard zone + soft hostname": "hard2",
    "system defaults": "default",
    "minDomains, taints honoured": "honor",
}

ROWS = (
    *(Row(name, Work(kind), 20_000, quick=kind in ("hard", "hard2")) for name, kind in _KINDS.items()),
    *(Row(f"{name}, 100,000 pods there", Work(kind, init=100_000), 16_000) for name, kind in _KINDS.items()),
    Row("50 workloads interleaved", Work("hard2", apps=50), 10_000),
    Row("anti-affinity on hostname + soft zone, 3,000 pods", Work("anti", measure=3_000), 5_000),
    Row("50,000 nodes, 100,000 pods there", Work("hard2", nodes=50_000, init=100_000), 10_000, peer=False),
    Row(
        "100,000 nodes, 1,000,000 pods, 200 workloads one after another",
        Work("hard2", nodes=100_000, init=0, measure=1_000_000, apps=200, order="after"),
        1_000_000 // 120,
        peer=False,
    ),
    Row(
        "100,000 nodes, 200 workloads interleaved at random, 10,000 pods",
        Work("hard2", nodes=100_000, init=0, measure=10_000, apps=200, order="random"),
        peer=False,
    ),
)

GROWTH_NODES = (100, 1_000, 5_000, 20_000, 100_000)
GROWTH_PODS = (0, 1_000, 10_000, 100_000, 1_000_000)
GROWTH_PODS_NODES = 50_000
"""Nodes on which growth by pods is measured: a million pods have room there."""
PEER_UP_TO_NODES = 5_000
PEER_UP_TO_PODS = 100_000
