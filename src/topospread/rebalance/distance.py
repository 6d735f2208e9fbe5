"""The fewest pod moves until one constraint's counts are within a skew, ignoring feasibility.

A move takes a pod from one domain to another. For a target minimum m, pods above m + maxSkew must leave, and domains
below m must receive pods. The larger of both numbers is needed, for the best m.
"""

from __future__ import annotations

import numpy as np

from topospread.cluster.arrays import Ints


def distance(counts: Ints, highest: int, *, minimum_is_zero: bool = False) -> int:
    """Return the fewest moves; 0 if the skew is at most ``highest``.

    Args:
        counts: matching pods of each eligible domain, int64[domains].
        minimum_is_zero: whether there are fewer domains than minDomains, so that the global minimum is 0.
    """
    return best_level(counts, highest, minimum_is_zero=minimum_is_zero)[0]


def best_level(counts: Ints, highest: int, *, minimum_is_zero: bool = False) -> tuple[int, int]:
    """Return the fewest moves, and the global minimum to aim at."""
    if not len(counts):
        return 0, 0
    if minimum_is_zero:
        return _leaving(counts, highest), 0
    low, high = int(counts.min()), int(counts.max())
    while low < high:  # find the first level at which at least as many pods must arrive as leave
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
