"""Manifests that belong together: overlays of one base that make the same objects are never all applied.

What one cluster could hold is judged as a whole; of alternatives each is judged beside everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .lint_input import Manifest

_Key = tuple[str, str | None, str]


def worlds_of(manifests: Sequence[Manifest]) -> list[list[Manifest]]:
    """The manifests of each world, in their order; one world where no two renderings make the same object."""
    units: dict[int, set[_Key]] = {}
    for each in manifests:
        if each.location.text.origins is not None and each.item.metadata.name:
            key = (each.kind, each.item.metadata.namespace, each.item.metadata.name)
            units.setdefault(id(each.location.text), set()).add(key)
    made = Counter(key for keys in units.values() for key in keys)
    taken: list[set[_Key]] = []
    world_of: dict[int, int] = {}
    for unit, keys in units.items():
        if all(made[key] == 1 for key in keys):
            continue
        world = next((at for at, others in enumerate(taken) if not others & keys), len(taken))
        if world == len(taken):
            taken.append(set())
        taken[world] |= keys
        world_of[unit] = world
    if not taken:
        return [list(manifests)]
    return [[each for each in manifests if world_of.get(id(each.location.text), at) == at] for at in range(len(taken))]
