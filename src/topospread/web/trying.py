"""Run trials in separate processes, so that users do not wait for each other. The last few trials are stored.

The process of a trial answers questions about its end until a longer trial continues it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from topospread.api.inventory import Inventory
from topospread.drill.forked import cores
from topospread.drill.held_process import AbandonedError, HeldProcess, Told
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare
from topospread.why.repeated_simulation import RepeatedSimulation

from .served import ClusterState, ServedCluster
from .timeline import Timeline, begin, go_on, goes_on_from
from .trials import TrialStep

_KEPT: Final = 6
"""Maximum number of trials that are stored with all frames."""
_LOOK: Final = 0.05

T = TypeVar("T")
Key = tuple[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a question: all objects, their prepared run, the receiver of progress, `explain`'s ``known``."""

    inventory: Inventory
    run: Run
    options: SimulationOptions
    told: Told
    known: Mapping[str, str]


Question = Callable[[Moment], T]


@dataclass(slots=True)
class Held:
    """The contents of a trial's process.

    Attributes:
        inventory: all objects as read.
        timeline: the trial so far, which can be continued.
        ready: prepared runs for questions: the state as read (True), and the trial's end (False).
    """

    inventory: Inventory
    options: SimulationOptions
    timeline: Timeline
    ready: dict[bool, tuple[Inventory, Run]] = field(default_factory=dict)

    def prepare(self, as_read: bool) -> tuple[Inventory, Run]:
        """Return the objects of a frame and their prepared run, which is cached for other questions."""
        if as_read not in self.ready:
            assert self.timeline.play is not None, "only the timeline that continues is held"
            inventory = self.inventory if as_read else self.timeline.play.state.inventory()
            self.ready[as_read] = inventory, prepare(inventory, self.options, with_spreads=False)
        inventory, run = self.ready[as_read]
        run.cluster.objects.devices.refill()
        return inventory, run


@dataclass(slots=True, eq=False)
class _Job:
    """A running or completed trial, an event for each waiting client, and its process until another trial takes it."""

    steps: tuple[TrialStep, ...]
    askers: list[threading.Event] = field(default_factory=list)
    done: Future[Timeline] = field(default_factory=Future)
    process: HeldProcess[Held] | None = None
    says: str = ""

    def is_over(self) -> bool:
        return all(each.is_set() for each in self.askers)

    def end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.end()


class PlayedTrials:
    """Runs trials on the served state.

    Attributes:
        asked_by: options of questions about a frame.
        explaining: lock for judging a draft or preparing a run.
    """

    def __init__(self, served: ServedCluster) -> None:
        self._served = served
        self._jobs: OrderedDict[Key, _Job] = OrderedDict()
        self.asked_by = replace(served.options.answered_by, preemption=served.options.preemption, tries_groups=True)
        self._base: tuple[int, Held] | None = None
        self.explaining = threading.Lock()
        self._listing = threading.Lock()
        self._room = threading.Semaphore(max(2, cores()))

    def timeline(self, steps: tuple[TrialStep, ...], abandoned: threading.Event | None = None) -> Timeline:
        """Return the trial on the current state.

        Args:
            abandoned: stops the work once all clients of the trial have left.

        Raises:
            InputError: if the API server would refuse an object.
            StepError: if a step cannot be run.
            AbandonedError: if all clients have left.
        """
        reading, asker = self._served.reading, abandoned or threading.Event()
        key = _key(reading, steps)
        with self._listing:
            job = self._jobs.get(key)
            if is_new := job is None or (not job.done.done() and job.is_over()):
                job = self._jobs[key] = _Job(steps)
            job.askers.append(asker)
            self._jobs.move_to_end(key)
            self._forget_oldest(key)
        if is_new:
            self._play(job, key, reading)
        while True:
            try:
                return job.done.result(_LOOK)
            except TimeoutError:
                if asker.is_set():
                    raise AbandonedError("the simulation was stopped, because no page waits for it any more") from None

    def ask(
        self,
        steps: tuple[TrialStep, ...],
        at: int,
        question: Question[T],
        abandoned: threading.Event | None = None,
        told: Told = lambda _: None,
    ) -> T:
        """Answer a question about one frame of a trial, in a process of its own.

        Args:
            at: number of the frame: 0 as read, 1 with pending pods placed, then one for each step.
            question: a function that can be pickled; its changes to the prepared run are undone.
            abandoned: stops the work once it is set, unless the trial's process answers.

        Raises:
            InputError, StepError: as for `timeline`.
            AbandonedError: if the client has left.
            TopospreadError: if the question raises it.
        """
        part = steps[: max(at - 1, 0)]
        about = partial(_about, question, part, at == 0)
        if not part:
            fork = self._process(self.ready(as_read=at == 0))
            try:
                found = fork.ask(about, abandoned.is_set if abandoned else bool, told)
                assert found is not None, "it holds no trial"
                return found[0]
            finally:
                fork.end()
        while True:
            key = _key(self._served.reading, part)
            self.timeline(part)
            job = self._jobs.get(key, _Job(part))
            try:
                if (process := job.process) is not None and (found := process.ask(about, bool, told)):
                    return found[0]
            except UsageError:
                if job.process is process:  # nobody ended it
                    raise
            with self._listing:  # its process was ended, or continues a longer trial
                if self._jobs.get(key) is job:
                    del self._jobs[key]

    def ready(self, *, as_read: bool) -> Held:
        """Return the prepared state before any step, so a fork of this process answers at once.

        Raises:
            InputError: if the API server would refuse an object.
        """
        reading = self._served.reading
        found = self.timeline(())
        with self.explaining:
            if self._base is None or self._base[0] != reading.revision:
                self._base = reading.revision, Held(reading.inventory, self.asked_by, found)
            self._base[1].prepare(as_read)
            return self._base[1]

    def progress(self, steps: tuple[TrialStep, ...]) -> str:
        """Return a trial's progress in words; "" if the trial is not running."""
        return self._jobs.get(_key(self._served.reading, steps), _Job(steps)).says

    def _process(self, held: Held) -> HeldProcess[Held]:
        return HeldProcess(held, lambda: replace(held, timeline=begin(held.inventory, self._served.options), ready={}))

    def _forget_oldest(self, kept: Key) -> None:
        """Forget the oldest trials. Only one kept trial keeps its idle process, because processes take much memory."""
        ended = [key for key, each in self._jobs.items() if each.done.done() and key[1] and key != kept]
        for key in ended[: max(0, len(self._jobs) - _KEPT)]:
            self._jobs.pop(key).end()
        idle = [job for key in ended if (job := self._jobs.get(key)) and job.process and not job.process.is_busy]
        for job in idle[:-1]:
            job.end()

    def _play(self, job: _Job, key: Key, reading: ClusterState) -> None:
        try:
            found = self._played(job, reading) if job.steps else begin(reading.inventory, self._served.options)
        except BaseException as error:
            job.end()
            with self._listing:
                if self._jobs.get(key) is job:
                    del self._jobs[key]
            job.done.set_exception(error)
        else:
            job.done.set_result(found)
        with self._listing:  # states that are served no more
            for old in [each for each, ended in self._jobs.items() if each[0] < reading.revision and ended.done.done()]:
                self._jobs.pop(old).end()

    def _played(self, job: _Job, reading: ClusterState) -> Timeline:
        before = self.timeline(())
        job.says = "waiting for other trials"
        while not self._room.acquire(timeout=_LOOK):
            if job.is_over():
                raise AbandonedError("the simulation was stopped, because no page waits for it any more")
        try:
            with self._listing:
                own = [
                    each
                    for (revision, _), each in self._jobs.items()
                    if revision == reading.revision and each.process is not None and not each.process.is_busy
                    if each.done.done() and goes_on_from(each.steps, job.steps)
                ]
                shorter = max(own, key=lambda each: len(each.steps), default=None)
                if shorter is not None:
                    job.process, shorter.process = shorter.process, None
                    before = shorter.done.result()
            job.process = job.process or self._process(Held(reading.inventory, self.asked_by, before))
            told = job.process.ask(partial(_go_on, job.steps), job.is_over, partial(setattr, job, "says"))
        finally:
            self._room.release()
        return replace(told, frames=[*before.frames, *told.frames])


def _key(reading: ClusterState, steps: tuple[TrialStep, ...]) -> Key:
    return reading.revision, tuple(map(str, steps))


def _go_on(steps: tuple[TrialStep, ...], held: Held, told: Told) -> Timeline:
    """Run the additional steps. Return only their frames."""
    known = len(held.timeline.frames)
    held.ready.clear()
    held.timeline = go_on(held.timeline, steps, told)
    new = held.timeline.frames[known:]
    assert all(each.packed for each in new), "worked out here, where nobody waits for it"
    return replace(held.timeline, frames=new, play=None, _applied={})


def _about(
    question: Question[T], steps: tuple[TrialStep, ...], as_read: bool, held: Held, told: Told
) -> tuple[T] | None:
    """Return a question's answer; ``None`` if the process holds a longer trial by now."""
    if held.timeline.steps != steps:
        return None
    inventory, run = held.prepare(as_read)
    beginning, queue = RepeatedSimulation(run), tuple(run.queue)
    known = _placements(play.state.run, run) if as_read and (play := held.timeline.play) else {}
    try:
        return (question(Moment(inventory, run, held.options, told, known)),)
    finally:
        beginning.restore()
        run.queue[:] = queue


def _placements(ended: Run, before: Run) -> dict[str, str]:
    """Return pod key → node in the order of placement; empty if binding the pods alone does not repeat the run."""
    cluster = ended.cluster
    claims = any(each.volumes or each.may_need_devices for each in cluster.classes.values())
    if claims or ended.evictions or any(each.placement.hinted or each.unjudged for each in ended.outcomes.values()):
        return {}
    found = {key: cluster.nodes.names[cluster.placed[key]] for key in ended.placements}
    return found if len(before.cluster.placed) + len(found) == len(cluster.placed) else {}
