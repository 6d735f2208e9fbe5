"""Array types of the columnar state, and functions on them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Any column of amounts, counts, codes or scores."""
Floats = NDArray[np.floating[Any]]
"""A column of fractions, or of scores that are not rounded yet."""
Codes = NDArray[np.int32]
"""A column of interned values; −1 for a missing value."""
Bools = NDArray[np.bool_]
Rows = slice | Ints
"""Rows of the node table: all of them as a slice, or some by number."""

Scalar = TypeVar("Scalar", bound=np.generic)
_FEW_CODES = 1 << 12


def distinct(codes: Ints) -> list[int]:
    """Return the distinct values except 0, sorted."""
    if codes.min(initial=0) < 0 or codes.max(initial=0) >= _FEW_CODES:
        return sorted(set(codes.tolist()) - {0})
    return [code for code in np.flatnonzero(np.bincount(codes)).tolist() if code]


def grown(array: NDArray[Scalar], rows: int, fill: Any = 0) -> NDArray[Scalar]:
    """Return the array with at least ``rows`` rows, new rows filled; the same array if it is long enough."""
    if len(array) >= rows:
        return array
    longer = np.full((rows, *array.shape[1:]), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
