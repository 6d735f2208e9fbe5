"""Judge admission requests in processes, so that a slow request delays no other request.

A slow request is demoted: its process gets the lowest priority, and a new process accepts requests instead. At most
`SLOW` demoted processes run at a time; beyond that, a process of the tenant with the most of them is killed. One tenant
uses at most `SHARE` of the accepting processes, including those being replaced.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from contextlib import suppress
from typing import Final

import msgspec

from .fair_queue import Asker, FairQueue
from .judging_process import LENGTH, READY, Judgement, framed
from .policy import AdmissionPolicy

log = logging.getLogger(__name__)

ACCEPTING: Final = 5
"""Processes that accept requests."""
SHARE: Final = ACCEPTING - 1
"""Maximum processes of one tenant: one process stays free for all other tenants."""
SLOW: Final = 2
"""Maximum number of demoted processes."""
SLOW_AFTER: Final = 0.1
"""Seconds of CPU time after which a request is demoted: a hundred times the time of an ordinary request.

Not wall-clock time: on a busy machine every request would be demoted, and a new process takes a second to start.
"""
_SHORTEST_LOOK: Final = 0.01
_LOWEST_PRIORITY: Final = 19
_START_AGAIN: Final = 1.0
_COMMAND: Final = (sys.executable, "-P", "-m", "topospread.webhook.judging_process")


class NotJudgedError(Exception):
    """Raised for a request without a judgement; the message is the reason."""


class JudgingPool:
    """Judges requests in separate processes."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = pickle.dumps(policy)
        self._accepting: FairQueue[_JudgingProcess] = FairQueue(SHARE)
        self._demoted: list[_JudgingProcess] = []
        self._workers: set[_JudgingProcess] = set()
        self._warm = asyncio.Semaphore(0)
        self._places: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the processes and wait until all accept requests."""
        self._places = [asyncio.create_task(self._keep_one()) for _ in range(ACCEPTING)]
        for _ in self._places:
            await self._warm.acquire()

    async def close(self) -> None:
        """Kill every process."""
        for place in self._places:
            place.cancel()
        await asyncio.gather(*self._places, return_exceptions=True)
        for worker in list(self._workers):
            worker.end()
            await worker.exited

    async def judge(self, path: str, asker: Asker, review: bytes, until: float) -> Judgement:
        """Return the judgement of an AdmissionReview.

        Args:
            path: "validate" or "mutate".
            until: the deadline, in the event loop's time.

        Raises:
            NotJudgedError: if the deadline passes, judging fails, or the process ends.
        """
        try:
            async with asyncio.timeout_at(until):
                judgement = await self._ask(asker, path.encode() + b"\n" + review)
        except TimeoutError:
            raise NotJudgedError("it was not judged in time") from None
        if judgement.error:
            raise NotJudgedError(f"judging failed: {judgement.error}")
        return judgement

    async def _ask(self, asker: Asker, request: bytes) -> Judgement:
        while (worker := await self._accepting.take(asker)).exited.done():
            self._accepting.release(asker)
        worker.holder = asker
        demotion = asyncio.create_task(self._demote_when_slow(worker))
        try:
            answer = await worker.ask(request)
        except BaseException:
            worker.end()
            raise
        finally:
            demotion.cancel()
        if worker.replaced.is_set():
            worker.end()
        else:
            worker.holder = None
            self._accepting.put(worker)
            self._accepting.release(asker)
        return msgspec.msgpack.decode(answer, type=Judgement)

    async def _demote_when_slow(self, worker: _JudgingProcess) -> None:
        until = worker.processor_time() + SLOW_AFTER
        while (left := until - worker.processor_time()) > 0:
            await asyncio.sleep(max(left, _SHORTEST_LOOK))
        worker.lower_priority()
        worker.replaced.set()
        self._demoted = [each for each in self._demoted if not each.exited.done()] + [worker]
        if len(self._demoted) > SLOW:
            holders = Counter(each.tenant for each in self._demoted)
            ended = max(self._demoted, key=lambda each: holders[each.tenant])  # max returns the first, the oldest
            self._demoted.remove(ended)
            ended.end()

    async def _keep_one(self) -> None:
        """Keep one process that accepts requests: start another one whenever it exits or is demoted."""
        holder = None
        while True:
            worker = await _JudgingProcess.start()
            self._workers.add(worker)
            worker.exited.add_done_callback(lambda _, worker=worker: self._workers.discard(worker))  # type: ignore[misc]
            try:
                await worker.accept(self._policy)
            except NotJudgedError:
                log.error("a process that judges ended before it accepted requests")
                await asyncio.sleep(_START_AGAIN)
                continue
            self._accepting.put(worker)
            self._warm.release()
            if holder is not None:
                self._accepting.release(holder)
            await worker.replaced.wait()
            holder = worker.holder


class _JudgingProcess:
    """One process.

    Attributes:
        holder: client of the current or last request.
        exited: done when the process has ended.
        replaced: set when another process must replace it.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self.holder: Asker | None = None
        self.replaced = asyncio.Event()
        self.exited = asyncio.create_task(process.wait())
        self.exited.add_done_callback(lambda _: self.replaced.set())

    @classmethod
    async def start(cls) -> _JudgingProcess:
        """Start a process. Retry while the system refuses."""
        while True:
            try:
                return cls(await asyncio.create_subprocess_exec(*_COMMAND, stdin=PIPE, stdout=PIPE))
            except OSError as error:
                log.error("cannot start a process that judges: %s", error)
                await asyncio.sleep(_START_AGAIN)

    @property
    def tenant(self) -> str | None:
        """The tenant whose request the process judges."""
        return self.holder and self.holder.tenant

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def processor_time(self) -> float:
        """Return the CPU seconds that the process has used; the wall-clock time if the system does not report them."""
        if sys.platform == "linux":
            with suppress(OSError):
                # The clock of another process: clock_getcpuclockid(3).
                return time.clock_gettime((~self.pid << 3) | 2)
        return time.monotonic()

    async def accept(self, policy: bytes) -> None:
        """Wait until the process accepts requests. Raise NotJudgedError if it ends before."""
        assert await self.ask(policy) == READY

    async def ask(self, request: bytes) -> bytes:
        """Return the answer to a message. Raise NotJudgedError if the process ends."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        try:
            requests.write(framed(request))
            await requests.drain()
            length = int.from_bytes(await answers.readexactly(LENGTH))
            return await answers.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            raise NotJudgedError("its process ended too early; try again") from None

    def lower_priority(self) -> None:
        """Give the process the lowest CPU priority."""
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self.pid, _LOWEST_PRIORITY)

    def end(self) -> None:
        """End the process; its current request is not judged."""
        with suppress(ProcessLookupError):
            self._process.kill()
