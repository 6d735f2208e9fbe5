"""The fewest pods that have to move until one constraint's counts are within a skew, whether or not they can.

Every eviction takes one pod out of a domain and puts one into another. With the global minimum at m, pods beyond
m + maxSkew have to leave, and pods up to m have to come: at least the larger of both numbers, for the best m.
"""

from __future__ import annotations

import numpy as np

from topospread.cluster.arrays import Ints


def distance(counts: Ints, highest: int, *, minimum_is_zero: bool = False) -> int:
    """The fewest moves, 0 where the skew is no more than ``highest``.

    Args:
        counts: matching pods of each eligible domain, int64[domains].
        highest: the skew that is allowed.
        minimum_is_zero: there are fewer domains than minDomains, so that the minimum counts as 0.
    """
    return best_level(counts, highest, minimum_is_zero=minimum_is_zero)[0]


def best_level(counts: Ints, highest: int, *, minimum_is_zero: bool = False) -> tuple[int, int]:
    """The fewest moves, and the global minimum to aim at."""
    if not len(counts):
        return 0, 0
    if minimum_is_zero:
        return _leaving(counts, highest), 0
    low, high = int(counts.min()), int(counts.max())
    while low < high:  # the first level at which as many have to come as to leave, or more
        middle = (low + high) // 2
        if _coming(counts, middle) >= _leaving(counts, middle + highest):
            high = middle
        else:
            low = middle + 1
    levels = [each for each in (low - 1, low) if each >= 0]
    moves, level = min((max(_coming(counts, each), _leaving(counts, each + highest)), -each) for each in levels)
    return moves, -level


def _leaving(counts: Ints, most: int) -> int:
    return int(np.maximum(counts - most, 0).sum())


def _coming(counts: Ints, least: int) -> int:
    return int(np.maximum(least - counts, 0).sum())
