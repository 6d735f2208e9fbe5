"""The table of pools on a page."""

from __future__ import annotations

from collections.abc import Sequence

from topospread.answers.spread import Pool
from topospread.answers.words import listed
from topospread.render.blocks import Table


def pool_table(pools: Sequence[Pool]) -> Table:
    """Return the table of pools. Pools that grew or would add a domain come first."""
    order = sorted(pools, key=lambda each: not (each.added or each.on_paper))
    rows = tuple(
        (each.name, each.nodes, len(each.added), "–" if each.most is None else str(each.most), _words(each))
        for each in order
    )
    return Table(("POOL", "NODES", "ADDED", "AT MOST", "WHY NOT MORE"), rows)


def _words(pool: Pool) -> str:
    parts = [pool.why_not_more] if pool.why_not_more else []
    if pool.on_paper:
        domains = listed([f"{key}={value}" for key, value in pool.on_paper.items()], 2)
        parts.append(f"no node has {domains} yet, so no constraint counts this domain")
    return "; ".join(parts)
