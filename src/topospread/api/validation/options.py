"""What one API server lets in and another refuses, as its flags and feature gates have it; nothing is checked here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How strict the API server is.

    Attributes:
        allow_privileged: whether privileged containers are allowed (``--allow-privileged``).
        comparison_operators: whether tolerations may use Lt and Gt (TaintTolerationComparisonOperators).
    """

    allow_privileged: bool
    comparison_operators: bool = False
