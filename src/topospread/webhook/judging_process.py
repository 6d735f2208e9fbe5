"""The process that judges admission requests, one at a time; `judging_pool` starts and ends it.

A message is a length of four bytes and the content. Standard input receives the pickled policy, then requests: the name
of the path, a newline and an AdmissionReview. Standard output answers each request with a `Judgement`.
"""

from __future__ import annotations

import gc
import logging
import pickle
import resource
import signal
import sys
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from .admission_reviews import AdmissionJudge

READY: Final = b"ready"
"""The first message of a process: it accepts requests."""
MEMORY: Final = 256 << 20
"""Bytes of address space that one process may add for its requests."""
LENGTH: Final = 4
"""Bytes of a message's length."""


class Judgement(msgspec.Struct):
    """The answer to one request.

    Attributes:
        body: the AdmissionReview with the response; empty if judging failed.
        result: "allowed", "warned", "changed" or "denied".
    """

    body: bytes = b""
    result: str = ""
    error: str = ""


def framed(content: bytes) -> bytes:
    """Return a message with its length."""
    return len(content).to_bytes(LENGTH) + content


def main() -> None:
    """Answer requests until standard input ends."""
    # The server ends its judging processes; a signal to the whole process group must not.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    logging.disable()  # the server logs each failure once
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    judge = AdmissionJudge(pickle.loads(_message(requests)))
    judge.warm_up()
    gc.collect()
    gc.freeze()  # rules and tables live as long as the process; collections skip them
    _limit_memory()
    _send(answers, READY)
    while request := _message(requests):
        path, _, review = request.partition(b"\n")
        _send(answers, msgspec.msgpack.encode(_judgement(judge, path.decode(), review)))


def _message(stream: BinaryIO) -> bytes:
    """Read one message; empty at the end of the stream."""
    return stream.read(int.from_bytes(stream.read(LENGTH)))


def _send(stream: BinaryIO, content: bytes) -> None:
    stream.write(framed(content))
    stream.flush()


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


if __name__ == "__main__":
    main()
