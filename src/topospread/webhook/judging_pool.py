"""Processes that judge admission requests off the event loop, so that a slow request delays no other request.

A request that takes long is demoted: its process gets the lowest priority, and a new process takes its place among
those that accept requests. `SLOW` demoted processes may run at a time; then the one that has run longest is ended.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final

import msgspec

from .judging_process import READY, Judgement, judge_requests
from .policy import AdmissionPolicy

log = logging.getLogger(__name__)

ACCEPTING: Final = 2
"""Processes that accept requests."""
SLOW: Final = 2
"""Demoted processes that may run at a time."""
SLOW_AFTER: Final = 0.1
"""Seconds after which a request is demoted: a hundred times as long as an ordinary request takes."""
_LOWEST_PRIORITY: Final = 19
_LARGE: Final = 1 << 16
"""Bytes of a message that a socket may not take at once."""
_START_AGAIN: Final = 1.0


class NotJudgedError(Exception):
    """A request has no judgement; the message says why."""


class JudgingPool:
    """Judges requests in processes of its own.

    Args:
        policy: the decisions of each process.
    """

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        # Processes are forked from a server process that has imported everything, and never from this one: a fork of
        # a process with an event loop and threads is not safe.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([judge_requests.__module__])
        self._accepting: asyncio.Queue[_Worker] = asyncio.Queue()
        self._demoted: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The process ids of the processes that run."""
        return [worker.pid for worker in self._workers]

    async def start(self) -> None:
        """Start the processes and wait until all of them accept requests."""
        await asyncio.gather(*(self._start_one() for _ in range(ACCEPTING)))

    async def close(self) -> None:
        """End every process."""
        self._closed = True
        for worker in list(self._workers):
            worker.end()
        await asyncio.gather(*self._starting)

    async def judge(self, path: str, review: bytes, until: float) -> Judgement:
        """Return the judgement of an AdmissionReview.

        Args:
            path: "validate" or "mutate".
            review: the AdmissionReview as JSON.
            until: the deadline, in the event loop's time.

        Raises:
            NotJudgedError: if the deadline passes, judging fails, or the process ends.
        """
        try:
            async with asyncio.timeout_at(until):
                judgement = await self._ask(path.encode() + b"\n" + review)
        except TimeoutError:
            raise NotJudgedError("it was not judged in time") from None
        if judgement.error:
            raise NotJudgedError(f"judging failed: {judgement.error}")
        return judgement

    async def _ask(self, request: bytes) -> Judgement:
        worker = await self._next()
        demotion = asyncio.get_running_loop().call_later(SLOW_AFTER, self._demote, worker)
        try:
            answer = await worker.ask(request)
        except BaseException:
            worker.end()
            raise
        finally:
            demotion.cancel()
        if worker in self._demoted:
            worker.end()
        else:
            self._accepting.put_nowait(worker)
        return msgspec.msgpack.decode(answer, type=Judgement)

    async def _next(self) -> _Worker:
        while True:
            worker = await self._accepting.get()
            if worker in self._workers:
                return worker

    def _demote(self, worker: _Worker) -> None:
        if worker not in self._workers:
            return
        self._demoted.append(worker)
        worker.lower_priority()
        self._start_soon()
        if len(self._demoted) > SLOW:
            self._demoted[0].end()

    def _ended(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        if worker in self._demoted:
            self._demoted.remove(worker)
        elif worker.has_accepted:
            self._start_soon()

    def _start_soon(self) -> None:
        if not self._closed:
            task = asyncio.get_running_loop().create_task(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start_one(self) -> None:
        while not self._closed:
            try:
                process, connection = await asyncio.to_thread(self._spawned)
            except OSError as error:
                log.error("cannot start a process that judges: %s", error)
                await asyncio.sleep(_START_AGAIN)
                continue
            worker = _Worker(process, connection, self._ended)
            self._workers.add(worker)
            if self._closed:
                worker.end()
            try:
                await worker.accepts()
            except NotJudgedError:
                if not self._closed:
                    log.error("a process that judges ended before it accepted requests")
                    await asyncio.sleep(_START_AGAIN)
                continue
            self._accepting.put_nowait(worker)
            return

    def _spawned(self) -> tuple[BaseProcess, Connection]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=judge_requests, args=(theirs, self._policy), daemon=True)
        process.start()
        theirs.close()
        return process, ours


class _Worker:
    """One process and this end of its connection.

    Args:
        ended: called once when the process ends.

    Attributes:
        has_accepted: whether the process was ever ready for a request.
    """

    def __init__(self, process: BaseProcess, connection: Connection, ended: Callable[[_Worker], None]) -> None:
        self._process = process
        self._connection = connection
        self._report_end = ended
        self._ended = False
        self.has_accepted = False
        self._sending: asyncio.Future[None] | None = None
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(connection.fileno(), self._read)

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    async def accepts(self) -> None:
        """Wait until the process accepts requests.

        Raises:
            NotJudgedError: if it ends before.
        """
        assert await self._answer == READY
        self.has_accepted = True

    async def ask(self, request: bytes) -> bytes:
        """Return the answer to a request.

        Raises:
            NotJudgedError: if the process ends.
        """
        loop = asyncio.get_running_loop()
        self._answer = loop.create_future()
        try:
            if len(request) > _LARGE:
                self._sending = loop.run_in_executor(None, self._connection.send_bytes, request)
                await asyncio.shield(self._sending)
            else:
                self._connection.send_bytes(request)
        except OSError:
            self.end()
        return await self._answer

    def lower_priority(self) -> None:
        """Leave the processor to processes with ordinary requests."""
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self.pid, _LOWEST_PRIORITY)

    def end(self) -> None:
        """End the process; the request that it has is not judged."""
        if self._ended:
            return
        self._ended = True
        asyncio.get_running_loop().remove_reader(self._connection.fileno())
        self._process.kill()
        if self._sending is None or self._sending.done():
            self._connection.close()
        else:  # a thread still writes to the descriptor
            self._sending.add_done_callback(self._sent_in_vain)
        if not self._answer.done():
            self._answer.set_exception(NotJudgedError("the process that judged it ended"))
            self._answer.exception()  # the request may have been given up already
        self._report_end(self)

    def _sent_in_vain(self, sending: asyncio.Future[None]) -> None:
        self._connection.close()
        if not sending.cancelled():
            sending.exception()

    def _read(self) -> None:
        try:
            message = self._connection.recv_bytes()
        except (EOFError, OSError):
            self.end()
            return
        if not self._answer.done():
            self._answer.set_result(message)
