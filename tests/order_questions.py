"""Questions on every order of pods, asked of `promise.asking` as the tests write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from topospread.api.inventory import Inventory
from topospread.promise.asking import Asking
from topospread.promise.order_answer import GuaranteeAnswer
from topospread.promise.orders import SearchBudget
from topospread.promise.questions import EndQuestion, LeftAfterLoss, NoPending, SkewWithin
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.run import Run


def loss_of(run: Run, target: str, loss: str) -> LeftAfterLoss:
    """Return the question on a loss: ``deploy/web=2``, by the workload's name."""
    name, _, least = target.rpartition("/")[2].partition("=")
    return LeftAfterLoss(loss, next(each for each in run.plan.workloads if each.name == name), int(least))


def guarantee(
    inventory: Inventory,
    options: SimulationOptions = PLAIN,
    *,
    never_pending: bool = False,
    skew: int | None = None,
    survives: str = "",
    left: Sequence[str] = (),
    rollout: str | None = None,
    states: int = 20_000,
    seconds: float = 60.0,
    sources: Mapping[str, object] | None = None,
) -> list[GuaranteeAnswer]:
    """Return the answer to each question, in every order or in every course of a rollout."""
    asking = Asking.begin(inventory, options, SearchBudget(states, seconds), rollout=rollout, sources=sources)

    def questions(run: Run) -> list[EndQuestion]:
        found: list[EndQuestion] = [NoPending()] if never_pending else []
        found += [] if skew is None else [SkewWithin(skew)]
        return found + [loss_of(run, each, survives) for each in left]

    return [asking.answer(lambda run, at=at: questions(run)[at]) for at in range(len(questions(asking.run)))]  # type: ignore[misc]
