"""The answer of `why` at a moment of a trial, and the reason for each node."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from topospread.answers.pending_pods import Pending, pending_groups
from topospread.answers.why import TriedChange, why_answer
from topospread.answers.why import Why as Answered
from topospread.api.inventory import Inventory
from topospread.api.yaml_text import yaml_text
from topospread.drill.patching import PatchedObject
from topospread.render.pages.why import outcome_words
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run
from topospread.text import shell_line
from topospread.why.explain import explain, explain_pending
from topospread.why.result import Explanation

from .served import ServedCluster
from .trials import TrialStep
from .trying import PlayedTrials

Json = dict[str, Any]


@dataclass(frozen=True)
class PodAnswer:
    """An answer.

    Attributes:
        explanation: as `explain -o json` has it.
        rejected: ``reasons``, each with its plugin, and ``nodes``: node name → index in ``reasons``.
        values: what the template is given.
    """

    explanation: Json
    rejected: Json
    values: dict[str, Any]


class Why:
    """Explains pods."""

    def __init__(self, served: ServedCluster, trials: PlayedTrials) -> None:
        self._served = served
        self._trials = trials

    def explained(
        self,
        steps: tuple[TrialStep, ...],
        at: int,
        target: str,
        *,
        suggest: bool = True,
        abandoned: threading.Event | None = None,
    ) -> PodAnswer:
        """The answer on ``NAMESPACE/POD`` or ``NAMESPACE/KIND/NAME``, in a frame of a trial.

        Args:
            steps: the trial.
            at: the frame.
            target: the pod.
            suggest: try changes that would let a pending pod in, which takes longer than all else.
            abandoned: set once nobody waits for the answer any more.

        Raises:
            InputError, StepError: the trial cannot be played.
            UsageError: there is no such pod.
        """
        question = partial(_explained, self._trials.asked_by, target, suggest)
        found = self._trials.ask(steps, at, question, abandoned)
        words = _in_words(target, self._served.input.words)
        found.values["command"] = shell_line(["topospread", "why", *words])
        return found

    def pending(self, steps: tuple[TrialStep, ...], at: int, abandoned: threading.Event) -> list[Pending]:
        """Return the pods without a node in a frame of a trial, grouped by cause, with changes that help.

        Raises:
            InputError, StepError: the trial cannot be played.
        """
        return self._trials.ask(steps, at, _pending, abandoned)


def _pending(inventory: Inventory, run: Run) -> list[Pending]:
    workloads = run.plan.workloads
    waiting = explain_pending(inventory, run, set(workloads), suggest=True)
    return list(pending_groups(inventory, waiting, {(it.kind, it.namespace, it.name) for it in workloads}))


def _explained(options: SimulationOptions, target: str, suggest: bool, inventory: Inventory, run: Run) -> PodAnswer:
    found = explain(inventory, target, options, suggest=suggest, run=run)
    answer = why_answer(found)
    written = answer.to_dict()
    suggestions = [
        {
            "title": each.says,
            "comes_to": outcome_words(each, found.pending),
            "step": _step(each, answer),
            "tried": each.tried.verdict,
        }
        | {
            "yaml": "".join(yaml_text(list(one.patch)) for one in each.parts if one.patch),
            "command": " && ".join(shell_line(one.command) for one in each.parts if one.command),
        }
        for each in answer.remedies
    ]
    return PodAnswer(
        written, _rejected(found), {"why": written, "suggestions": suggestions, "rejected": _by_reason(found)}
    )


def _in_words(target: str, words: Sequence[str]) -> list[str]:
    """A target among the words of a command; a namespace of a snapshot may begin as an option does."""
    return [*words, "--", target] if target.startswith("-") else [target, *words]


def _step(each: TriedChange, found: Answered) -> str:
    """The suggestion as a step of a trial, "" where it cannot be one."""
    if each.code == "uncordon":
        return f"uncordon node={each.object['name']}"
    if each.code in ("rollout", "restart"):
        return f"rollout {found.namespace}/{found.workload}"
    if not each.patch or each.further or each.means == "template" or each.code == "deletePod":
        return ""
    target = each.object
    patch = json.dumps(list(each.patch), separators=(",", ":"))
    return str(PatchedObject(target["kind"], target.get("namespace", ""), target["name"] or "new", patch))


def _rejected(found: Explanation) -> Json:
    """Every node that a filter rejects, and why, each reason told once."""
    if found.verdict is None or found.verdict.error:
        return {"reasons": [], "nodes": {}}
    reasons: dict[tuple[str, str], int] = {}
    nodes = {
        node: reasons.setdefault((each.plugin, ", ".join(each.reasons)), len(reasons))
        for node, each in found.verdict.rejected.items()
    }
    return {"reasons": [{"plugin": plugin, "reason": reason} for plugin, reason in reasons], "nodes": nodes}


def _by_reason(found: Explanation) -> list[Json]:
    """The same, reason after reason with its nodes."""
    told = _rejected(found)
    rows: list[Json] = [{**each, "nodes": []} for each in told["reasons"]]
    for node, number in told["nodes"].items():
        rows[number]["nodes"].append(node)
    return sorted((each | {"number": len(each["nodes"])} for each in rows), key=lambda each: -each["number"])
