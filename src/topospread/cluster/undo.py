"""A record of steps that undo changes of a cluster, last step first. The caller knows what each step does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class UndoLog:
    """Steps that undo what was done, newest last; nothing is recorded while no savepoint is open.

    Attributes:
        steps: ``None`` while no savepoint is open, so that the hot path asks for no more than that.
    """

    __slots__ = ("_depth", "steps")

    def __init__(self) -> None:
        self.steps: list[tuple[Callable[..., object], tuple[Any, ...]]] | None = None
        self._depth = 0

    def record(self, undo: Callable[..., object], *args: Any) -> None:
        """Remember how to undo what is being done."""
        if self.steps is not None:
            self.steps.append((undo, args))

    def open(self) -> int:
        """Begin to record, or go on; how many steps there are already."""
        self._depth += 1
        if self.steps is None:
            self.steps = []
        return len(self.steps)

    def back_to(self, length: int) -> None:
        """Undo the newest steps until so many are left; what undoing does is not recorded."""
        steps, self.steps = self.steps, None
        assert steps is not None, "there is a savepoint to go back to"
        try:
            while len(steps) > length:
                undo, args = steps.pop()
                undo(*args)
        finally:
            self.steps = steps

    def close(self) -> None:
        """End what `open` began."""
        self._depth -= 1
        if not self._depth:
            self.steps = None
