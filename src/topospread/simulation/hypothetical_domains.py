"""Domains that exist only on paper, and what minDomains makes of them; no pool grows here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topospread.api.pools import NodePool, new_names
from topospread.cluster import Cluster
from topospread.plugins.spread_arithmetic import ConstraintArithmetic

from .run import Run, spreads


def unmet_min_domains(run: Run, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Workload → what is to be said of a minDomains that is not met: whether a node of every pool would meet it.

    Domains are counted as kube-scheduler would with those nodes, so that a pool that the pods cannot go to counts or
    not as nodeAffinityPolicy and nodeTaintsPolicy have it.
    """
    now = spreads(run)
    lacking = {row: [each for each in found if each.hard and each.lacks_domains] for row, found in now.items()}
    if not any(lacking.values()):
        return
    with run.cluster.savepoint():
        grow_each(run.cluster, pools)
        then = spreads(run)
    for workload in run.plan.workloads:
        for each in lacking.get(id(workload), ()):
            after = next((one for one in then.get(id(workload), ()) if one.position == each.position), each)
            wanted = f"minDomains {each.min_domains} of {each.topology_key}"
            yield f"{workload.namespace}/{workload.name}", f"{wanted} {min_domains_outlook(each, after)}"


def grow_each(cluster: Cluster, pools: Sequence[NodePool]) -> None:
    """Put a node of every pool there that may have one more."""
    nodes = [each for each in cluster.nodes.nodes if each is not None]
    for pool in pools:
        if pool.may_grow(nodes):
            cluster.put_node(pool.node(next(new_names(pool, nodes)), nodes))


def min_domains_outlook(now: ConstraintArithmetic, then: ConstraintArithmetic) -> str:
    """Return in words whether a node of every pool (``then``) would meet a minDomains that is not met now."""
    there = {each.name for each in now.domains}
    paper = [each.name for each in then.domains if each.name not in there]
    has = f"{len(there)} {'domain is' if len(there) == 1 else 'domains are'} there"
    names = f"only on paper: {', '.join(paper)}" if paper else "no pool could bring another"
    verdict = "can never be met" if then.lacks_domains else "is met only after a scale-up"
    return f"{verdict}: {has}, {names}"
