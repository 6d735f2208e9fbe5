"""Options of validation that depend on an API server's flags and feature gates."""

from __future__ import annotations

import msgspec


class Options(msgspec.Struct, frozen=True):
    """The strictness of the API server.

    Attributes:
        allow_privileged: whether privileged containers are allowed (``--allow-privileged``).
        comparison_operators: whether tolerations may use Lt and Gt (TaintTolerationComparisonOperators).
    """

    allow_privileged: bool
    comparison_operators: bool = False
