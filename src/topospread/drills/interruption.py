"""Work that somebody ended before its end (Ctrl-C), with what there is of it; what to do with that is the caller's."""

from __future__ import annotations

from typing import Any


class Interrupted(KeyboardInterrupt):
    """``finished``: what was there when it was ended, marked as partial."""

    def __init__(self, finished: Any) -> None:
        self.finished = finished
        super().__init__()
