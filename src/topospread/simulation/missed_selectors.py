"""Warnings for selectors that miss the pods of their own workload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from topospread.text import listed, noun_of


class _Constraint(Protocol):
    @property
    def topology_key(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def selector(self) -> str: ...
    @property
    def counts_itself(self) -> int: ...


def missed_selectors(workloads: Iterable[tuple[str, Iterable[_Constraint]]]) -> Iterator[str]:
    """Yield a warning for each selector that misses the pods of the workloads that have it."""
    missed: dict[tuple[str, str], dict[str, None]] = {}
    for name, constraints in workloads:
        for each in constraints:
            if each.origin == "pod" and not each.counts_itself:
                missed.setdefault((noun_of(each.topology_key), each.selector), {})[name] = None
    for (noun, selector), names in missed.items():
        why = f"selector {selector}" if selector else "it has no labelSelector"
        yield f"{listed(list(names), 3)}: the constraint over {noun}s counts none of these pods ({why}): no spreading"
