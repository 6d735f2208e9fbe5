"""Array types of the columnar state, and functions on them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""An array of amounts, counts, codes, scores or row numbers."""
Floats = NDArray[np.floating[Any]]
"""An array of fractions, or of scores before rounding."""
Codes = NDArray[np.int32]
"""An array of codes, one for each distinct value; −1 for a missing value."""
Bools = NDArray[np.bool_]
Rows = slice | Ints
"""Rows of the node table: all rows as a slice, or selected rows by number."""

Scalar = TypeVar("Scalar", bound=np.generic)
_FEW_CODES = 1 << 12


def distinct(codes: Ints) -> list[int]:
    """Return the distinct values except 0, sorted."""
    if codes.min(initial=0) < 0 or codes.max(initial=0) >= _FEW_CODES:
        return sorted(set(codes.tolist()) - {0})
    return [code for code in np.flatnonzero(np.bincount(codes)).tolist() if code]


def grown(array: NDArray[Scalar], rows: int, fill: Any = 0) -> NDArray[Scalar]:
    """Return the array with at least ``rows`` rows, new rows set to ``fill``; the same array if it is long enough."""
    if len(array) >= rows:
        return array
    longer = np.full((rows, *array.shape[1:]), fill, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
