"""What one API server lets in and another refuses, as its flags and feature gates have it; nothing is checked here."""

from __future__ import annotations

import msgspec


class Options(msgspec.Struct, frozen=True):
    """How strict the API server is.

    Attributes:
        allow_privileged: whether privileged containers are allowed (``--allow-privileged``).
        comparison_operators: whether tolerations may use Lt and Gt (TaintTolerationComparisonOperators).
    """

    allow_privileged: bool
    comparison_operators: bool = False
