"""Pools of nodes: which of them grew, which domains exist only on paper, as lines and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging, together

if TYPE_CHECKING:
    from topospread.simulation import PoolUse


def pool_lines(pools: Sequence[PoolUse], layout: Layout) -> Iterator[str]:
    """A line each; of many pools those that grew or would bring a domain that nobody has."""
    shown = pools if layout.few(len(pools)) else [each for each in pools if each.added or each.paper]
    if not pools:
        return
    yield layout.style("Pools", "bold")
    for each in shown:
        yield from hanging(f"  {layout.style(each.name, 'bold')}  ", _told(each), layout.width, 4)
    left = len(pools) - len(shown)
    if left:
        yield f"  and {left} more that did not grow; -o wide shows all"


def _told(pool: PoolUse) -> str:
    parts = [counted(pool.there, "node") if pool.there else "no node"]
    parts += [together(f"{len(pool.added)} added")] if pool.added else []
    parts += [together(f"at most {pool.most}")] if pool.most is not None else []
    if not pool.may_grow and (pool.most is None or pool.there + len(pool.added) < pool.most):
        parts.append(together("its limits are reached"))
    said = ", ".join(parts)
    paper = ", ".join(f"{key}={value}" for key, value in pool.paper.items())
    return f"{said}; only on paper, so that no constraint counts it: {paper}" if paper else said
