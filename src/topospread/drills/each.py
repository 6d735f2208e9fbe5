"""The same drill for every zone, node or Deployment, as a list of what each comes to, worst first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from topospread.api.inventory import Inventory
from topospread.errors import UsageError
from topospread.plain_data import PlainData
from topospread.simulation.run import SimulationOptions

from .forked import answers, can_fork, cores
from .play import Play
from .result import StepOutcome
from .steps import Fail, NodeChoice, Rollout, Step

EachKind = Literal["zone", "node", "deploy"]
_ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class EachOutcome:
    """What one of many drills comes to.

    Attributes:
        target: the zone, the node, or ``NAMESPACE/NAME`` of the Deployment.
        step: as it would be given.
        lost: how many pods fewer were ready at the worst moment than before.
        gone: workloads that had none ready then, ``NAMESPACE/NAME``, of those that had some.
        pending: how many wait afterwards that did not before.
        broken: budgets that were broken.
        stuck: a rollout was not over in the end.
        settled: seconds until nothing happened any more.
    """

    target: str
    step: str
    lost: int
    gone: tuple[str, ...]
    pending: int
    broken: tuple[str, ...]
    stuck: bool
    settled: float

    @property
    def holds(self) -> bool:
        """Whether everything came back, and no budget was broken."""
        return not (self.pending or self.broken or self.stuck)


@dataclass(frozen=True)
class EachDrill(PlainData):
    """All of them, worst first."""

    kind: EachKind
    outcomes: tuple[EachOutcome, ...]
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all hold."""
        return all(each.holds for each in self.outcomes)


def drill_each(
    inventory: Inventory,
    kind: EachKind,
    options: SimulationOptions,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EachDrill:
    """Let every zone or node fail, or every Deployment be rolled out, each from the same beginning.

    Args:
        inventory: what there is.
        kind: of what.
        options: how pods are placed.
        workers: how many processes work at once; by default one for each core.
        progress: told how many of how many are over.

    Raises:
        InputError: an object that the API server would refuse.
        UsageError: there is none of the kind.
    """
    play = _terse(inventory, options)
    begin = play.begin()
    targets = targets_of(play, kind)
    if not targets:
        raise UsageError(f"--each {kind}: there is none")

    def ask(target: tuple[str, Step]) -> EachOutcome:
        return _outcome(target, begin, play.go_on(target[1]))

    def ask_anew(target: tuple[str, Step]) -> EachOutcome:
        own = _terse(inventory, options)
        return _outcome(target, own.begin(), own.go_on(target[1]))

    forks = can_fork()
    found = answers(ask, targets, workers or cores(), progress) if forks else [ask_anew(each) for each in targets]
    return EachDrill(kind, tuple(sorted(found, key=_goodness)), tuple(play.world.warnings))


def _terse(inventory: Inventory, options: SimulationOptions) -> Play:
    play = Play(inventory, options, {})
    play.says_how_spread = False
    return play


def targets_of(play: Play, kind: EachKind) -> list[tuple[str, Step]]:
    """What there is of a kind, and the step that each is to go through."""
    world = play.world
    nodes = [each for each in world.cluster.nodes.nodes if each is not None]
    if kind == "deploy":
        deployments = [each for each in world.run.plan.workloads if each.kind == "Deployment" and each.replicas]
        return [
            (f"{each.namespace}/{each.name}", Rollout(f"{each.namespace}/deploy/{each.name}")) for each in deployments
        ]
    if kind == "node":
        return [(each.name, Fail(NodeChoice("node", each.name))) for each in nodes]
    zones = dict.fromkeys(each.labels[_ZONE] for each in nodes if _ZONE in each.labels)
    return [(each, Fail(NodeChoice(_ZONE, each))) for each in zones]


def _outcome(target: tuple[str, Step], begin: StepOutcome, outcome: StepOutcome) -> EachOutcome:
    waited = sum(len(each.pods) for each in begin.pending)
    return EachOutcome(
        target=target[0],
        step=str(outcome.step),
        lost=sum(max(each.ready_before - each.fewest, 0) for each in outcome.changed if each.kind != "DaemonSet"),
        gone=tuple(
            f"{each.namespace}/{each.name}" for each in outcome.changed if each.ready_before and not each.fewest
        ),
        pending=max(sum(len(each.pods) for each in outcome.pending) - waited, 0),
        broken=tuple(each.budget for each in outcome.breaches),
        stuck=any(not each.is_over for each in outcome.rollouts),
        settled=outcome.ends - outcome.begins,
    )


def _goodness(each: EachOutcome) -> tuple[object, ...]:
    """The least comes first."""
    return -each.pending, not each.stuck, -len(each.gone), -len(each.broken), -each.lost, each.target
