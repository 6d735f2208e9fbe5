"""A log handler that never blocks: a thread writes the lines, and lines are dropped if its queue is full."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import queue
import threading
import time
from typing import TextIO

from topospread.text import escape_all

LONGEST_QUEUE = 10_000
_AT_ONCE = 256
_FLUSH = 2.0
"""Seconds for writing remaining lines at the end of the process."""


class QueuedLines(logging.Handler):
    """Writes log lines in a thread, and counts the lines ``dropped`` because the queue was full."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.dropped = 0
        self._reported = 0
        self._stream = stream
        self._lines: queue.Queue[str] = queue.Queue(LONGEST_QUEUE)
        threading.Thread(target=self._write_all, name="log lines", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line, or count it as dropped."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self.dropped += 1
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Wait until all lines are written, at most for a short time."""
        until = time.monotonic() + _FLUSH
        with self._lines.all_tasks_done:
            while self._lines.unfinished_tasks and (left := until - time.monotonic()) > 0:
                self._lines.all_tasks_done.wait(left)

    def _write_all(self) -> None:
        while True:
            lines = [self._lines.get()]
            with contextlib.suppress(queue.Empty):
                while len(lines) < _AT_ONCE:
                    lines.append(self._lines.get_nowait())
            count, dropped = len(lines), self.dropped
            if dropped > self._reported:
                record = logging.makeLogRecord(
                    {
                        "name": __name__,
                        "levelno": logging.WARNING,
                        "msg": "%d log lines were dropped, as nothing read them",
                        "args": (dropped - self._reported,),
                        "filename": "log_queue.py",
                    }
                )
                lines.append(self.format(record))
                self._reported = dropped
            with contextlib.suppress(OSError, ValueError):  # the stream is closed
                self._write(escape_all("\n".join([*lines, ""])))
            for _ in range(count):
                self._lines.task_done()

    def _write(self, text: str) -> None:
        """Write to the file descriptor, because the stream's lock could block the end of the process."""
        try:
            descriptor = self._stream.fileno()
        except io.UnsupportedOperation:
            self._stream.write(text)
            return
        data = text.encode(errors="backslashreplace")
        while data:
            data = data[os.write(descriptor, data) :]
