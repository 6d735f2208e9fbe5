"""Images on nodes, and the size that counts for all nodes. ImageLocality scores them.

Source: backend/cache/cache.go (``addNodeImageStates``, ``removeNodeImageStates``).
"""

from __future__ import annotations

import msgspec

from topospread.api.node import Node


class ImageState(msgspec.Struct):
    """An image name and the nodes that have it.

    Attributes:
        size: bytes, as reported by the first node with this name. When only one node is left, the size of that node,
            because kube-scheduler recreates the entry on that node's next heartbeat.
        rows: row → size that the node reports.
    """

    size: int
    rows: dict[int, int] = {}


class Images:
    """The images of all nodes by name. The sizes depend on the order in which nodes are added."""

    def __init__(self) -> None:
        self._states: dict[str, ImageState] = {}

    def get(self, name: str) -> ImageState | None:
        """Return the image of a name, ``None`` if no node has it. Do not change it."""
        return self._states.get(name)

    def add(self, row: int, node: Node) -> None:
        """Add a node's images."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is None:
                    state = self._states[name] = ImageState(image.size_bytes or 0)
                state.rows.setdefault(row, image.size_bytes or 0)

    def remove(self, row: int, node: Node) -> None:
        """Remove a node's images."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is not None:
                    state.rows.pop(row, None)
                    if not state.rows:
                        del self._states[name]

    def settle(self, node: Node) -> None:
        """Use the size of the only node left for each image that a changed or removed node had."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is not None and len(state.rows) == 1:
                    (state.size,) = state.rows.values()

    def sizes(self, node: Node) -> dict[str, int]:
        """Return name → current size of a node's images."""
        names = (name for image in node.status.images or () for name in image.names or ())
        return {name: state.size for name in names if (state := self._states.get(name)) is not None}

    def put_sizes(self, sizes: dict[str, int]) -> None:
        """Restore sizes after the change or removal of a node was undone."""
        for name, size in sizes.items():
            self._states[name].size = size
