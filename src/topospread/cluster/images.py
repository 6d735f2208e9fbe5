"""Images on nodes, and the size of each image that ImageLocality uses for all nodes.

Source: backend/cache/cache.go (``addNodeImageStates``, ``removeNodeImageStates``).
"""

from __future__ import annotations

import msgspec

from topospread.api.node import Node


class ImageState(msgspec.Struct):
    """An image name and the nodes that have it.

    Attributes:
        size: bytes that the first node with the image reported. Once only one node is left, the bytes that this node
            reports, because kube-scheduler recreates the entry at its next heartbeat.
        rows: row → bytes that the node reports.
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
        """After a node changed or was removed, set the size of its images that only one node still has."""
        for image in node.status.images or ():
            for name in image.names or ():
                state = self._states.get(name)
                if state is not None and len(state.rows) == 1:
                    (state.size,) = state.rows.values()

    def sizes(self, node: Node) -> dict[str, int]:
        """Return image name → size that ImageLocality uses, for a node's images."""
        names = (name for image in node.status.images or () for name in image.names or ())
        return {name: state.size for name in names if (state := self._states.get(name)) is not None}

    def put_sizes(self, sizes: dict[str, int]) -> None:
        """Restore the result of `sizes` after the change or removal of a node was undone."""
        for name, size in sizes.items():
            self._states[name].size = size
