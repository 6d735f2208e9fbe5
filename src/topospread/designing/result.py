"""The result of a search for constraints as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReasonedLine:
    """A part of the design that is needed.

    Attributes:
        line: ``topologySpreadConstraints: topology.kubernetes.io/zone, maxSkew 2``.
        reason: what fails without it, as a check found.
    """

    line: str
    reason: str


@dataclass(frozen=True)
class Design:
    """The whole answer.

    Attributes:
        asked: what was wanted, a phrase each.
        promises: whether all of it holds with these lines.
        lines: what is added, each with what fails without it.
        manifest: the lines as YAML for ``kubectl apply --server-side``, "" where nothing has to be added, or nothing
            does it.
        checked: what the design was held to, a phrase each.
        unmet: what it cannot promise: of what was asked where ``promises`` is false, else of what comes with it.
        tried: how many designs were checked.
        is_impossible: whether no placement at all keeps what was asked.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    asked: tuple[str, ...]
    promises: bool
    lines: tuple[ReasonedLine, ...]
    manifest: str
    checked: tuple[str, ...]
    unmet: tuple[str, ...]
    tried: int
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    is_impossible: bool = False
