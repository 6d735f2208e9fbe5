"""Differences of JSON values, which update a page without sending the whole value.

An object's difference maps keys to differences. A list's difference is a list: one item is the new value, two are the
indexes of changed items and their differences, three are an index, the number of items removed there, and the items
inserted there.
"""

from __future__ import annotations

from typing import Any

Json = Any


def difference(before: Json, after: Json) -> Json:
    """Return the difference that turns `before` into `after`; both are JSON values."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return {key: difference(before[key], each) for key, each in after.items() if before[key] != each}
    if not isinstance(before, list) or not isinstance(after, list):
        return [after]
    if len(before) == len(after):
        places = [at for at, each in enumerate(after) if before[at] != each]
        return [places, [difference(before[at], after[at]) for at in places]]
    shorter = min(len(before), len(after))
    begin = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    end = next((at for at in range(shorter - begin) if before[-1 - at] != after[-1 - at]), shorter - begin)
    return [begin, len(before) - begin - end, after[begin : len(after) - end]]
