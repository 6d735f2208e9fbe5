"""The result of a search for constraints as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topospread.api.inventory import Inventory
from topospread.promises.wants import Want


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
        is_open: whether the search of all orders ended early, so that the design is not proved.
        conflict: the smallest set of wants that no design keeps together, if all designs were tried.
        objects: the objects of the manifest.
        inventory: the input with the design.
        wants: the wants on zones and nodes, as promises.
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
    inventory: Inventory
    is_impossible: bool = False
    is_open: bool = False
    conflict: tuple[str, ...] = ()
    objects: tuple[Mapping[str, Any], ...] = ()
    wants: tuple[Want, ...] = ()
