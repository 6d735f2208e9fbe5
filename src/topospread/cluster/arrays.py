"""Array types of the columnar state, and growing them. Nothing here knows what a column means."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Any column of amounts, counts, codes or scores."""
Floats = NDArray[np.floating[Any]]
"""A column of shares, or of points that are not rounded yet."""
Codes = NDArray[np.int32]
"""A column of interned values; −1 where there is none."""
Bools = NDArray[np.bool_]
Rows = slice | Ints
"""Rows of the node table: all of them as a slice, or some by number."""

Scalar = TypeVar("Scalar", bound=np.generic)
_FEW_CODES = 1 << 12


def distinct(codes: Ints) -> list[int]:
    """Return the values that occur but for 0, in their order."""
    if codes.min(initial=0) < 0 or codes.max(initial=0) >= _FEW_CODES:
        return sorted(set(codes.tolist()) - {0})
    return [code for code in np.flatnonzero(np.bincount(codes)).tolist() if code]


def grown(array: NDArray[Scalar], rows: int, fill: Any = 0) -> NDArray[Scalar]:
    """The array with at least ``rows`` rows, new ones filled; the same array when it is long enough."""
    if len(array) >= rows:
        return array
    longer = np.full((rows, *array.shape[1:]), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
