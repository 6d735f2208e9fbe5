"""The process that judges admission requests, one at a time; `judging_pool` starts and ends it."""

from __future__ import annotations

import gc
import logging
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec

from .admission_reviews import AdmissionJudge
from .policy import AdmissionPolicy

READY: Final = b"ready"
"""The first message of a process: it accepts requests."""
MEMORY: Final = 256 << 20
"""Bytes of address space that one process may add for its requests."""


class Judgement(msgspec.Struct):
    """The answer to one request.

    Attributes:
        body: the AdmissionReview with the response; empty if judging failed.
        result: "allowed", "warned", "changed" or "denied".
        error: the reason if judging failed.
    """

    body: bytes = b""
    result: str = ""
    error: str = ""


def judge_requests(connection: Connection, policy: AdmissionPolicy) -> None:
    """Answer requests until the other end closes. A request is the path's name, a newline and an AdmissionReview."""
    # The server process ends its judging processes; a signal to the whole process group must not.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    logging.disable()  # the server process logs each failure once
    judge = AdmissionJudge(policy)
    judge.warm_up()
    gc.collect()
    gc.freeze()  # rules and tables live as long as the process; collections skip them
    _limit_memory()
    connection.send_bytes(READY)
    while True:
        try:
            path, _, review = connection.recv_bytes().partition(b"\n")
        except (EOFError, OSError):
            return
        connection.send_bytes(msgspec.msgpack.encode(_judgement(judge, path.decode(), review)))


def _judgement(judge: AdmissionJudge, path: str, review: bytes) -> Judgement:
    try:
        body, result = judge.answer(path, review)
        return Judgement(body, result)
    except Exception as error:
        return Judgement(error=f"{type(error).__name__}: {error}"[:1_000])


def _limit_memory() -> None:
    """Make a request that needs too much memory fail here, before the kernel ends the whole container."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
