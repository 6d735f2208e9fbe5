"""``topospread`` with a wall clock that jumps: ahead by the seconds that a file holds, looked at whenever it is asked.

    python -m tests.live.jumping_clock FILE run scheduler …

What the process reads as the date is changed, nothing of the machine: it has one clock for everybody. Steady clocks go
on as they do when somebody sets the date.

libfaketime 0.9.10 cannot do this: under it `time.sleep(0.01)` of a bare Python 3.11 ends with "Invalid argument" where
FAKETIME_DONT_FAKE_MONOTONIC=1 is set, and `threading.Lock.acquire(timeout=…)` never returns where it is not.
"""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from topospread.live import election

_time, _time_ns = time.time, time.time_ns


def jump(file: Path) -> None:
    """Have the date read from a file how far it is ahead."""

    def ahead() -> float:
        return float(file.read_text() or 0)

    class JumpingDate(datetime):
        """The date, so far ahead."""

        @classmethod
        def now(cls, tz: Any = None) -> JumpingDate:
            return cls.fromtimestamp(_time() + ahead(), tz)

    time.time = lambda: _time() + ahead()
    time.time_ns = lambda: _time_ns() + int(ahead() * 1e9)
    election.datetime = JumpingDate  # type: ignore[misc]


if __name__ == "__main__":
    jump(Path(sys.argv[1]))
    from topospread.cli.main import main

    sys.argv = ["topospread", *sys.argv[2:]]
    main()
