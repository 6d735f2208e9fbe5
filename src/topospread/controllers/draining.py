"""The pods that ``kubectl drain`` evicts, and whether the Eviction API allows each eviction.

The options are ``--ignore-daemonsets --delete-emptydir-data``, without ``--force``. Sources: k8s.io/kubectl
pkg/drain/filters.go (``daemonSetFilter``, ``mirrorPodFilter``, ``unreplicatedFilter``) and
pkg/registry/core/pod/storage/eviction.go (``Create``, ``checkAndDecrement``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from topospread.api.pod import Pod

RETRY_SECONDS = 5
"""Seconds until kubectl retries an eviction that the API server denied."""

BLOCKED_BY_BUDGET = re.compile(r"The disruption budget (\S+) needs (\d+) healthy pods")
"""Part of the API server's message when a budget denies an eviction.

Groups: the budget's namespace/name, and its number of required healthy pods.
"""

Treatment = Literal["evicted", "left", "refused"]
"""``evicted``; ``left`` on the node (DaemonSet and static pods); ``refused``: the pod stops the whole drain."""


def treatment(pod: Pod) -> Treatment:
    """Return the treatment by ``kubectl drain`` of a pod that is neither finished nor terminating."""
    owner = pod.metadata.controller
    if owner is not None and owner.kind == "DaemonSet":
        return "left"
    annotations = pod.metadata.annotations
    if (owner is not None and owner.kind == "Node") or (annotations is not None and annotations.mirror is not None):
        return "left"
    return "refused" if owner is None else "evicted"


def why_not(budgets: Sequence[tuple[str, int, int, bool]], *, healthy: bool) -> str:
    """Return the Eviction API's message if it denies evicting a pod now; "" if it allows the eviction.

    Args:
        budgets: (name, healthy pods, required healthy pods, whether pods that are not ready may always be evicted) of
            each PodDisruptionBudget that selects the pod.
        healthy: whether the pod itself is ready.
    """
    if len(budgets) > 1:
        names = ", ".join(name for name, *_ in budgets)
        return (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            f" ({names})"
        )
    for name, there, needed, always in budgets:
        if not healthy and (always or there >= needed > 0):
            continue
        if there <= needed:
            return f"The disruption budget {name} needs {needed} healthy pods and has {there} currently"
    return ""
