"""A Deployment's strategy in numbers of pods; how a rolling update goes on from there is not told here.

Source: pkg/controller/deployment/util/deployment_util.go (``ResolveFenceposts``, ``MaxSurge``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .workload import Deployment

_DEFAULT = "25%"


@dataclass(frozen=True, slots=True)
class Strategy:
    """How many pods more than the replicas there may be, and how many fewer may be available."""

    max_surge: int
    max_unavailable: int


def strategy_of(item: Deployment) -> Strategy | None:
    """The strategy in numbers; ``None`` for one that deletes all old pods first (Recreate).

    Surges are rounded up, what may be unavailable is rounded down; where both come to 0, one may be unavailable.

    Raises:
        ValueError: a number of pods that is neither a number nor a percentage, which the API server refuses.
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


def _number(value: int | str | None, replicas: int, *, up: bool) -> int:
    given = _DEFAULT if value is None else value
    if isinstance(given, int):
        return given
    share = int(given.removesuffix("%")) * replicas / 100
    return math.ceil(share) if up else math.floor(share)
