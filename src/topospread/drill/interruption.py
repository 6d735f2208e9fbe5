"""The exception for work that Ctrl-C interrupted, with the partial result."""

from __future__ import annotations

from typing import Any


class Interrupted(KeyboardInterrupt):
    """Raised on Ctrl-C. ``finished`` is the partial result, marked as partial."""

    def __init__(self, finished: Any) -> None:
        self.finished = finished
        super().__init__()
