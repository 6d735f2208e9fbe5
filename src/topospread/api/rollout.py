"""Strategies of rollouts as numbers of pods.

Sources: pkg/controller/deployment/util/deployment_util.go (``ResolveFenceposts``, ``MaxSurge``),
pkg/controller/statefulset/stateful_set_utils.go (``getStatefulSetMaxUnavailable``),
pkg/controller/daemon/util/daemonset_util.go (``UnavailableCount``, ``SurgeCount``) and update.go
(``updatedDesiredNodeCounts``).
"""

from __future__ import annotations

import math

import msgspec

from topospread.api.label_syntax import quoted
from topospread.errors import InputError
from topospread.whole_number import whole_number

from .workload import DaemonSet, Deployment, StatefulSet

_DEFAULT = "25%"


class Strategy(msgspec.Struct, frozen=True):
    """The limits of a rolling update: maximum pods above the replicas, and maximum unavailable pods."""

    max_surge: int
    max_unavailable: int


def strategy_of(item: Deployment) -> Strategy | None:
    """Return the strategy in numbers; ``None`` for Recreate.

    maxSurge is rounded up, maxUnavailable down; if both are 0, maxUnavailable is 1.

    Raises:
        InputError: if a value is neither a number nor a percentage, which the API server refuses.
    """
    given = item.spec.strategy
    if given is not None and given.type == "Recreate":
        return None
    update = given.rolling_update if given is not None else None
    replicas = 1 if item.spec.replicas is None else item.spec.replicas
    surge = _number(update.max_surge if update else None, replicas, up=True)
    unavailable = _number(update.max_unavailable if update else None, replicas, up=False)
    if surge == unavailable == 0:
        unavailable = 1
    return Strategy(surge, min(unavailable, replicas))


class OrdinalStrategy(msgspec.Struct, frozen=True):
    """A StatefulSet's rolling update.

    Attributes:
        partition: pods with a lower ordinal keep the old revision.
        max_unavailable: maximum number of unavailable pods among pods with ordinals from ``partition`` on.
    """

    partition: int
    max_unavailable: int


def strategy_of_stateful_set(item: StatefulSet, replicas: int) -> OrdinalStrategy | None:
    """Return the strategy in numbers; ``None`` for OnDelete.

    Without the gate MaxUnavailableStatefulSet, the API server drops ``maxUnavailable``, and the maximum is 1.
    """
    given = item.spec.update_strategy
    if given is not None and given.type == "OnDelete":
        return None
    update = given.rolling_update if given is not None else None
    most = _number(update.max_unavailable if update else None, replicas, up=False, default=1)
    return OrdinalStrategy((update.partition if update else None) or 0, max(most, 1))


def strategy_of_daemon_set(item: DaemonSet, nodes: int) -> Strategy | None:
    """Return the strategy for a number of nodes; ``None`` for OnDelete."""
    given = item.spec.update_strategy
    if given is not None and given.type == "OnDelete":
        return None
    update = given.rolling_update if given is not None else None
    surge = _number(update.max_surge if update else None, nodes, up=True, default=0)
    unavailable = _number(update.max_unavailable if update else None, nodes, up=True, default=1)
    return Strategy(surge, 1 if surge == unavailable == 0 else unavailable)


def _number(value: int | str | None, replicas: int, *, up: bool, default: int | str = _DEFAULT) -> int:
    given = default if value is None else value
    if isinstance(given, int):
        return given
    number = whole_number(given.removesuffix("%")) if given.endswith("%") else None
    if number is None:
        words = "a valid percent string must be a numeric string followed by an ending '%'"
        raise InputError(f"{quoted(given)} of a rolling update: {words}")
    share = number * replicas / 100
    return math.ceil(share) if up else math.floor(share)
