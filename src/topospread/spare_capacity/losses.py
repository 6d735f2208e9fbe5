"""What fits when a zone is lost: a drill fails each, and what comes of it is filled. How one fails is the drill's."""

from __future__ import annotations

from topospread.api.inventory import Inventory
from topospread.drills.each import targets_of
from topospread.drills.forked import can_fork
from topospread.drills.interruption import Interrupted
from topospread.drills.play import Play
from topospread.drills.remarks import not_replaced
from topospread.drills.result import StepOutcome
from topospread.drills.steps import Step
from topospread.errors import UsageError
from topospread.simulation.unknown import unjudged_parts

from .filling import CapacityQuestion, Effort, SomeAnswers, capacity_of
from .result import ZoneLoss


def after_losses(inventory: Inventory, question: CapacityQuestion, work: Effort) -> list[ZoneLoss]:
    """What fits after each zone's loss, least room first.

    Args:
        inventory: what there is.
        question: what is to fit.
        work: how it is worked out.

    Raises:
        UsageError: there is no zone.
        Interrupted: Ctrl-C; with `SomeAnswers`.
    """
    begun = _terse(inventory, question)
    zones = targets_of(begun, "zone")
    if not zones:
        raise UsageError("--each zone: there is none")
    waited = _waiting(begun.begin())
    forks = can_fork()

    def lost(zone: tuple[str, Step]) -> ZoneLoss:
        play, before = begun, waited
        if not forks:  # what one zone's loss does would be there for the next one
            play = _terse(inventory, question)
            before = _waiting(play.begin())
        outcome = play.go_on(zone[1])
        capacity = capacity_of(play.world.inventory(), question)
        left = tuple(each.key for each in not_replaced(play.world))
        parts = unjudged_parts(outcome.pending)
        return ZoneLoss(zone[0], max(_waiting(outcome) - before, 0), capacity, left, parts)

    try:
        return _ranked(work.answers(lost, zones))
    except Interrupted as ended:
        raise Interrupted(SomeAnswers(_ranked(ended.finished), len(zones))) from None


def _ranked(found: list[ZoneLoss]) -> list[ZoneLoss]:
    return sorted(found, key=lambda each: (each.capacity.rounds, -each.pending, each.target))


def _terse(inventory: Inventory, question: CapacityQuestion) -> Play:
    play = Play(inventory, question.options, {})
    play.says_how_spread = False
    return play


def _waiting(outcome: StepOutcome) -> int:
    return sum(len(each.pods) for each in outcome.pending)
