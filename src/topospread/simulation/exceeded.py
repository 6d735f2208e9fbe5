"""Reasons why a constraint's skew exceeds its maxSkew when a simulation ends."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from topospread.cluster import Cluster
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, counts_of

from .counted import CountedPods
from .result import Exceeded, Reasons


def exceeded(
    before: ConstraintArithmetic, after: ConstraintArithmetic, counted: CountedPods, takes_more: bool
) -> Exceeded:
    """Return the reason; "" if the skew is within maxSkew.

    A hard constraint is asked when one of the workload's pods is placed: what it is exceeded by was there before, or
    is another workload's.

    Args:
        before, after: what the constraint counted before and after the workload's pods were placed.
        counted: whose pods are counted, empty where all are the workload's own.
        takes_more: whether a node of those domains that hold the fewest would take one more pod.
    """
    if after.skew <= after.max_skew:
        return ""
    grew = counts_of(after.domains).sum() > counts_of(before.domains).sum()
    if before.skew > before.max_skew or not grew:
        return "before"
    if counted:
        return "others"
    if after.hard:
        return "before"
    return "scores" if takes_more else "full"


def fewest_take_more(arithmetic: ConstraintArithmetic, rejected: Mapping[str, Reasons], cluster: Cluster) -> bool:
    """Whether of the domains that hold the fewest one has a node that nothing rejects one more pod on."""
    nodes = cluster.nodes
    column = nodes.labels(arithmetic.topology_key)
    codes = column.codes[: nodes.size]
    there = np.bincount(codes[codes >= 0], minlength=len(column.values))
    return any(sum(rejected.get(name, {}).values()) < there[column.code(name)] for name in arithmetic.minimum_domains)
