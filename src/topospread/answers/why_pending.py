"""The answer of ``topospread why`` without a target: why does each pending pod have no node?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar

from msgspec import Meta

from topospread.answer import Answer
from topospread.api.inventory import Inventory
from topospread.base import Word
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import Progress
from topospread.simulation.run import prepare
from topospread.why.explain import explain_pending

from .asked import asked_of
from .why import Why, why_answer
from .words import counted

_MOST_CAUSES = 3


class WhyPending(Answer, frozen=True, kw_only=True):
    """Does every pod have a node, or would it find one?"""

    PAGE: ClassVar[str] = "topospread.render.pages.why_pending:page"

    pending: Annotated[int, Meta(description="Judged pods without a node.")]
    pods: Annotated[tuple[Why, ...], Meta(description="One pending pod of each workload, most pending pods first.")]
    warnings: Annotated[tuple[str, ...], Meta(description="Warnings for the user.")] = ()


def why_pending(
    inventory: Inventory,
    options: SimulationOptions,
    *,
    namespace: str | None = None,
    suggest: bool = True,
    progress: Progress | None = None,
) -> WhyPending:
    """Explain one pending pod of each workload.

    Args:
        inventory: the input, which is not changed.
        options: the control plane and placement options.
        namespace: the namespace that is shown.
        suggest: simulate changes that would give the pods nodes.
        progress: receives the number of examined pods.

    Raises:
        InputError: if the API server denies an object.
    """
    run = prepare(inventory, replace(options, tries_groups=True), with_spreads=False)
    chosen = {each for each in run.plan.workloads if namespace in (None, each.namespace)}
    found = explain_pending(inventory, run, chosen, suggest=suggest, progress=progress)
    pods = tuple(why_answer(each.explanation) for each in found.pending)
    own = [each for each in found.simulation.open_pods if namespace in (None, each.partition("/")[0])]
    unjudged = found.simulation.unjudged if own else ()
    pending = sum(len(each.pods) for each in found.pending)
    verdict: Word = "no" if pods else "unknown" if unjudged else "yes"
    others = len({pod for each in unjudged for pod in each.pods})
    parts = [f"{counted(pending, 'pod')} {'is' if pending == 1 else 'are'} pending"] if pods else []
    parts += [f"{counted(others, 'pod')} {'is' if others == 1 else 'are'} not judged"] if unjudged else []
    causes = {cause.code: cause for each in pods for cause in each.causes}
    return WhyPending(
        kind="WhyPending",
        verdict=verdict,
        says="; ".join(parts) or "no pod is pending",
        causes=tuple(causes.values())[:_MOST_CAUSES],
        remedies=tuple(each.remedies[0] for each in pods if each.remedies),
        unjudged=unjudged,
        on=asked_of(inventory, options),
        pending=pending,
        pods=pods,
        warnings=(*run.plan.inventory.warnings, *run.plan.warnings),
    )
