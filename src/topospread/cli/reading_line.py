"""A line on the terminal's stderr that counts the objects read from a cluster."""

from __future__ import annotations

import sys
import time

from .terminal import draw, draws_progress

_REDRAW = 0.1


class ReadingLine:
    """A line that counts objects while a cluster is read, if stderr is a terminal."""

    def __init__(self) -> None:
        self._shown = draws_progress()
        self._drawn = 0.0
        self._read: dict[str, tuple[int, int]] = {}

    def __call__(self, resource: str, done: int, left: int | None) -> None:
        """Show a list's progress; see ListsProgress."""
        self._read[resource] = (done, left or 0)
        now = time.monotonic()
        if not self._shown or now - self._drawn < _REDRAW:
            return
        self._drawn = now
        read = sum(done for done, _ in self._read.values())
        left = sum(left for _, left in self._read.values())
        under_way = max(self._read, key=lambda each: self._read[each][1])
        of = f" of {read + left:,}" if left else ""
        draw(sys.stderr, f"\r\x1b[2Kreading the cluster  {read:,}{of} objects ({under_way})")
        sys.stderr.flush()

    def clear(self) -> None:
        """Clear the line."""
        if self._drawn:
            draw(sys.stderr, "\r\x1b[2K")
            sys.stderr.flush()
