"""Simulate trials step by step. The state after each step is stored as a frame, so that the page can show any step.

`topospread.drill` runs the steps. A trial that begins with the steps of a stored trial continues it.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import msgspec

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.well_known_labels import ZONE
from topospread.drill.drill_run import DrillRun
from topospread.drill.patching import Json, PatchedObject, manifest, patched
from topospread.drill.pods import planned_pods
from topospread.drill.result import Drill, StepOutcome
from topospread.drill.steps import Apply, Step, Wait
from topospread.errors import TopospreadError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import PendingGroup
from topospread.simulation.run import prepare
from topospread.simulation.unknown import is_unjudged

from .picture import picture
from .placement_snapshot import PlacementSnapshot, snapshot_as_read, snapshot_of
from .trial_limits import TrialLimits
from .trials import TrialStep, manifest_name, title


@dataclass(frozen=True)
class Frame:
    """The state at a moment.

    Attributes:
        outcome: result of the step before; ``None`` for the cluster as read.
        pending: groups of pending pods; for the cluster as read, only unjudged pods.
    """

    label: str
    snapshot: PlacementSnapshot
    outcome: StepOutcome | None = None
    pending: tuple[PendingGroup, ...] = ()

    @cached_property
    def waiting(self) -> tuple[Counter[ObjectKey], Counter[ObjectKey]]:
        """Each workload's pending pods: judged ones, and those that topospread cannot judge."""
        unjudged: Counter[ObjectKey] = Counter()
        for each in filter(is_unjudged, self.pending):
            kind, _, name = each.workload.partition("/")
            unjudged[kind, each.namespace, name] += len(each.pods)
        pods = self.snapshot.pods
        every = Counter(self.snapshot.workloads[row].key for row in pods.workload[pods.node < 0].tolist())
        return every - unjudged, unjudged

    @cached_property
    def picture(self) -> bytes:
        """The map's data as JSON."""
        return msgspec.json.encode(picture(self.snapshot, self.pending, self.waiting[1]))

    @cached_property
    def packed(self) -> bytes:
        """The map's data, compressed once in advance with a high level."""
        return gzip.compress(self.picture, 7, mtime=0)


def moves(before: Frame, after: Frame) -> list[tuple[str, str, int]]:
    """Return the moves of each workload's pods between zones, or to pending or not judged: (from, to, pods)."""
    was, now = _by_zone(before), _by_zone(after)
    found: Counter[tuple[str, str]] = Counter()
    for key in was.keys() & now.keys():
        lost, gained = was[key] - now[key], now[key] - was[key]
        for source, target in product(lost, gained):
            pods = min(lost[source], gained[target])
            lost[source] -= pods
            gained[target] -= pods
            found[source, target] += pods
    return sorted((source, target, pods) for (source, target), pods in found.items() if pods)


def _by_zone(frame: Frame) -> dict[ObjectKey, Counter[str]]:
    snapshot, (judged, unjudged) = frame.snapshot, frame.waiting
    zones = [each.labels.get(ZONE, "no zone") for each in snapshot.nodes]
    found = {it.key: Counter({"pending": judged[it.key], "not judged": unjudged[it.key]}) for it in snapshot.workloads}
    there = ~snapshot.pods.terminating & (snapshot.pods.node >= 0)
    pairs = zip(snapshot.pods.workload[there].tolist(), snapshot.pods.node[there].tolist(), strict=True)
    for (workload, node), number in Counter(pairs).items():
        found[snapshot.workloads[workload].key][zones[node]] += number
    return found


class StepError(TopospreadError):
    """A step that cannot be run: its index and the reason."""

    def __init__(self, number: int, why: TopospreadError | str) -> None:
        super().__init__(str(why))
        self.number = number

    def __reduce__(self) -> tuple[type[StepError], tuple[int, str]]:
        return StepError, (self.number, str(self))


@dataclass
class Timeline:
    """A completed trial.

    Attributes:
        frames: first as read, second after scheduling the pending pods, then one for each step.
        manifests: name → patched object that a step applied.
        play: continues from the last frame; ``None`` if another trial has taken it over.
    """

    steps: tuple[TrialStep, ...]
    frames: list[Frame]
    manifests: dict[str, Json]
    drill: Drill
    play: DrillRun | None
    _applied: dict[str, Inventory] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """True if no pod has a node as read."""
        return not (self.frames[0].snapshot.pods.node >= 0).any()

    @property
    def first_shown(self) -> int:
        """The last frame; without steps, the cluster as read or the manifests as placed."""
        return len(self.frames) - 1 if self.steps else int(self.is_empty)


def begin(inventory: Inventory, options: SimulationOptions) -> Timeline:
    """Return the first two frames: as read, and with pending pods placed. Raise InputError if an object is denied."""
    run = prepare(inventory, options, with_spreads=False)
    as_read = snapshot_as_read(run, planned_pods(run))
    applied: dict[str, Inventory] = {}
    play = DrillRun(inventory, options, applied)
    outcome = play.begin()
    first = Frame("As read", as_read, None, tuple(filter(is_unjudged, outcome.pending)))
    second = Frame("After scheduling", snapshot_of(play.state), outcome, tuple(outcome.pending))
    return Timeline((), [first, second], {}, play.drill([outcome]), play, applied)


def goes_on_from(before: Sequence[TrialStep], steps: Sequence[TrialStep]) -> bool:
    """Return whether a trial can continue a completed one: not if its next step is a wait, which changes the last."""
    number = len(before)
    is_longer = tuple(steps[:number]) == before
    return is_longer and not (number and number < len(steps) and isinstance(steps[number], Wait))


def go_on(before: Timeline, steps: Sequence[TrialStep], told: Callable[[str], None]) -> Timeline:
    """Continue a trial with more steps; `before` cannot be continued afterwards.

    Raises:
        StepError: if a step names an unknown object, exceeds `TrialLimits`, or makes an object that the API server
            denies.
    """
    play, before.play = before.play, None
    assert play is not None, "asked for before"
    first = before.frames[0].snapshot
    limits = TrialLimits(len(first.nodes), len(first.pods.names))
    number, begun = len(before.steps), play.state.now

    def look() -> None:
        limits.check_work()
        passed, waiting = play.state.now - begun, len(play.state.pods.waiting)
        told(f"step {number + 1} of {len(steps)}, {passed:.0f} s in it: {waiting} pods without a node")

    play.state.before_round = look
    frames, manifests = list(before.frames), dict(before.manifests)
    for number in range(len(before.steps), len(steps)):
        begun = play.state.now
        following = steps[number + 1] if number + 1 < len(steps) else None
        try:
            step = _playable(steps[number], number, play, manifests, before._applied)
            applied = [*before._applied[step.path].objects()] if isinstance(step, Apply) else []
            limits.check(step, play.state, applied)
            outcome = play.take(step, following if isinstance(following, Wait) else None)
        except TopospreadError as error:
            raise StepError(number, error) from error
        frames.append(Frame(title(steps[number]), snapshot_of(play.state), outcome, tuple(outcome.pending)))
    outcomes = [each.outcome for each in frames if each.outcome is not None]
    return Timeline(tuple(steps), frames, manifests, play.drill(outcomes), play, before._applied)


def _playable(
    step: TrialStep, number: int, play: DrillRun, manifests: dict[str, Json], applied: dict[str, Inventory]
) -> Step:
    """Return the drill step of a trial step. A patch becomes an `Apply` of the patched manifest."""
    if not isinstance(step, PatchedObject):
        return step
    name = manifest_name(number)
    there = play.state.inventory()
    manifests[name] = manifest(there, step)
    applied[name] = patched(there, step)
    return Apply(name)
