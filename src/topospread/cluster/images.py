"""Images on nodes, and the size that counts for all nodes. ImageLocality scores them.

Source: backend/cache/cache.go (``addNodeImageStates``, ``removeNodeImageStates``).
"""

from __future__ import annotations

import msgspec

from topospread.api.node import Node


class ImageState(msgspec.Struct):
    """An image by one of its names.

    Attributes:
        size: in bytes, as the node said that had the name first; once one node alone has the name, as that one says, as
            its next heartbeat lets go of the entry and makes it anew.
        rows: the nodes that have it, with the size that each says.
    """

    size: int
    rows: dict[int, int] = {}


class Images:
    """The images of all nodes by name; depends on the order in which nodes come."""

    def __init__(self) -> None:
        self._states: dict[str, ImageState] = {}

    def get(self, name: str) -> ImageState | None:
        """The image of a name, ``None`` when no node has it; do not change it."""
        return self._states.get(name)

    def add(self, row: int, node: Node) -> None:
        """Take note of a node's images."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is None:
                    state = self._states[name] = ImageState(image.size_bytes or 0)
                state.rows.setdefault(row, image.size_bytes or 0)

    def remove(self, row: int, node: Node) -> None:
        """Forget a node's images."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is not None:
                    state.rows.pop(row, None)
                    if not state.rows:
                        del self._states[name]

    def settle(self, node: Node) -> None:
        """A node changed or went: of the images it had, those that one node alone has count as that node says."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is not None and len(state.rows) == 1:
                    (state.size,) = state.rows.values()

    def sizes(self, node: Node) -> dict[str, int]:
        """Name → the size that counts now, of a node's images."""
        names = (name for image in node.status.images or () for name in image.names or ())
        return {name: state.size for name in names if (state := self._states.get(name)) is not None}

    def put_sizes(self, sizes: dict[str, int]) -> None:
        """Have sizes count again that did before a node changed or went; the node is back."""
        for name, size in sizes.items():
            self._states[name].size = size
