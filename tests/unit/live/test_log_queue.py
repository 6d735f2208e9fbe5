"""Log lines while nothing reads them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time

from topospread.live import log_queue
from topospread.live.log_queue import QueuedLines

_PROCESS = """
import logging, sys, time
from topospread.live import log_queue
from topospread.live.logs import set_up
log_queue.LONGEST_QUEUE = 100
handler = set_up(0, "text")
log = logging.getLogger("topospread.live.test")
started = time.monotonic()
for _ in range(20_000):
    log.info("a line of some length that nothing reads")
print(time.monotonic() - started < 15, handler.dropped > 10_000)
"""


def test_a_stopped_reader_blocks_neither_the_process_nor_its_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PROCESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == "True True\n"
        assert process.wait(30) == 0


def test_lines_go_on_and_name_the_dropped_ones_when_the_reader_is_back() -> None:
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as stream, open(reading, encoding="utf-8") as reader:
        handler = QueuedLines(stream)
        for _ in range(log_queue.LONGEST_QUEUE + 2_000):
            handler.emit(logging.makeLogRecord({"msg": "x" * 200}))
        assert handler.dropped > 0
        while "log lines were dropped" not in reader.readline():
            pass
        handler.emit(logging.makeLogRecord({"msg": "the last"}))
        while "the last" not in reader.readline():
            pass


def test_the_end_writes_what_waits() -> None:
    words = "import logging, sys\nfrom topospread.live.logs import set_up\nset_up(0, 'text')\n"
    words += "for n in range(500): logging.getLogger('topospread.live.test').info('line %d', n)\n"
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stderr.count("\n") == 500
    assert done.stderr.rstrip().endswith("] line 499")
    assert time.monotonic() - started < 30
