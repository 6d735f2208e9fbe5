"""A log of steps that undo changes of a cluster, last step first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class UndoLog:
    """Steps that undo changes, newest last. Nothing is recorded while no savepoint is open.

    Attributes:
        steps: undo steps; ``None`` while no savepoint is open. Hot code tests this before it calls `record`.
    """

    __slots__ = ("_depth", "steps")

    def __init__(self) -> None:
        self.steps: list[tuple[Callable[..., object], tuple[Any, ...]]] | None = None
        self._depth = 0

    def record(self, undo: Callable[..., object], *args: Any) -> None:
        """Record how to undo the current change."""
        if self.steps is not None:
            self.steps.append((undo, args))

    def open(self) -> int:
        """Open a savepoint. Return the number of steps recorded so far, to pass to `back_to`."""
        self._depth += 1
        if self.steps is None:
            self.steps = []
        return len(self.steps)

    def back_to(self, length: int) -> None:
        """Undo the newest steps until ``length`` steps are left. Undoing records no steps."""
        steps, self.steps = self.steps, None
        assert steps is not None, "there is a savepoint to go back to"
        try:
            while len(steps) > length:
                undo, args = steps.pop()
                undo(*args)
        finally:
            self.steps = steps

    def close(self) -> None:
        """Close the savepoint of the matching `open`."""
        self._depth -= 1
        if not self._depth:
            self.steps = None
