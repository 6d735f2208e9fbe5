"""What happened to the cluster, in order, for those who derive something from it and want to keep up."""

from __future__ import annotations

from collections.abc import Sequence

Change = tuple[int, int, int]
"""(row of the node, index of the pod class, +1 or −1), or (row, NODE_CHANGED, 0)."""

NODE_CHANGED = -1
"""In place of a class: the node of that row was added, changed or removed."""

_KEPT = 1 << 20


class Journal:
    """An append-only list of changes; old ones are dropped once there are many.

    A reader remembers a position. When the changes since then are no longer kept, it starts anew.
    """

    __slots__ = ("_changes", "_dropped", "append")

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._dropped = 0
        self.append = self._changes.append

    @property
    def position(self) -> int:
        """Where the next change will stand."""
        return self._dropped + len(self._changes)

    @property
    def kept(self) -> Sequence[Change]:
        """All changes that are still kept."""
        return self._changes

    def keeps(self, position: int) -> bool:
        """Whether all changes from a position on are still kept."""
        return position >= self._dropped

    def since(self, position: int) -> Sequence[Change] | None:
        """Changes from a position on; ``None`` when some of them are no longer kept."""
        if position < self._dropped:
            return None
        return self._changes[position - self._dropped :]

    def forget_since(self, position: int) -> None:
        """Drop the newest changes, which undo each other and which nobody else has read."""
        del self._changes[position - self._dropped :]

    def trim(self) -> None:
        """Drop the older half once more than a million changes are kept."""
        if len(self._changes) > _KEPT:
            half = len(self._changes) // 2
            self._dropped += half
            del self._changes[:half]
