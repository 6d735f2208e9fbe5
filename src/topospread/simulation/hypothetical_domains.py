"""Domains that node pools could add, and whether minDomains would then be met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topospread.api.pools import NodePool, new_names
from topospread.cluster import Cluster
from topospread.plugins.spread_arithmetic import ConstraintArithmetic

from .run import Run, spreads


def unmet_min_domains(run: Run, pools: Sequence[NodePool]) -> Iterator[tuple[str, str]]:
    """Yield (workload, sentence) for each minDomains that is not met.

    The sentence says whether one more node of every pool would meet it. nodeAffinityPolicy and nodeTaintsPolicy apply
    to the added nodes.
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
    """Add one node to every pool that may grow."""
    nodes = [each for each in cluster.nodes.nodes if each is not None]
    for pool in pools:
        if pool.may_grow(nodes):
            cluster.put_node(pool.node(next(new_names(pool, nodes)), nodes))


def min_domains_outlook(now: ConstraintArithmetic, then: ConstraintArithmetic) -> str:
    """Return a sentence on whether an unmet minDomains is met with one more node in every pool (``then``)."""
    there = {each.name for each in now.domains}
    added = [each.name for each in then.domains if each.name not in there]
    has = "1 domain exists" if len(there) == 1 else f"{len(there)} domains exist"
    names = f"new nodes of the pools would add {', '.join(added)}" if added else "no pool could add another domain"
    verdict = "can never be met" if then.lacks_domains else "is met only after a scale-up"
    return f"{verdict}: {has}, {names}"
