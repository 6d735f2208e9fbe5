"""Questions about one frame of a trial: why a pod is pending, what a workload keeps, its lint findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from topospread.answers.lint import lint_finding
from topospread.answers.pending_pods import Pending, pending_groups
from topospread.answers.promise_show import PromiseShow, promise_show
from topospread.answers.why import TriedChange, why_answer
from topospread.answers.why import Why as Answered
from topospread.api.inventory import Inventory
from topospread.api.yaml_text import yaml_text
from topospread.controllers.scale import short_target
from topospread.drill.patching import PatchedObject, manifest
from topospread.drill.pods import WorkloadKey
from topospread.lint.problem import FieldEdit
from topospread.lint.reading import Question
from topospread.lint.run import run as lint
from topospread.render.pages.why import outcome_words
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run
from topospread.sources.files import STANDARD_INPUT
from topospread.sources.positions import parse_path
from topospread.text import shell_line
from topospread.why.explain import explain, explain_pending
from topospread.why.result import Explanation

Json = dict[str, Any]

_MOST_DRILLED: Final = 3
"""Domains and nodes of which each event is played, the fullest first."""


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


def pending(inventory: Inventory, run: Run) -> list[Pending]:
    """Return the pods without a node, grouped by cause, with changes that help."""
    workloads = run.plan.workloads
    waiting = explain_pending(inventory, run, set(workloads), suggest=True)
    return list(pending_groups(inventory, waiting, {(it.kind, it.namespace, it.name) for it in workloads}))


def promised(options: SimulationOptions, key: WorkloadKey, inventory: Inventory, _: Run) -> PromiseShow:
    """Return what a workload keeps after losses, drains and rollouts."""
    return promise_show(inventory, [short_target(key)], options, most=_MOST_DRILLED)


def linted(options: SimulationOptions, key: WorkloadKey, inventory: Inventory, _: Run) -> list[Json]:
    """Return what lint finds in a workload, each finding with its mechanical fix as a step of a trial."""
    document = manifest(inventory, PatchedObject(*key, "[]"))
    question = Question(paths=[STANDARD_INPUT], config=options.config, kube_version=options.kube_version)
    found = lint(question, BytesIO(yaml_text(document).encode()), cluster=inventory)
    told = [lint_finding(each) for each in found.limited()]
    return [each.to_dict() | {"step": str(PatchedObject(*key, _patch(each.fix))) if each.fix else ""} for each in told]


def _patch(fix: Sequence[FieldEdit]) -> str:
    """Return the edits of a fix as RFC 6902 operations."""
    operations = [
        {"op": each.op, "path": "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)}
        | ({} if each.op == "remove" else {"value": each.value})
        for each in fix
        if (parts := parse_path(each.path))
    ]
    return json.dumps(operations, separators=(",", ":"))


def explained(options: SimulationOptions, target: str, suggest: bool, inventory: Inventory, run: Run) -> PodAnswer:
    """Return `why`'s answer on ``NAMESPACE/POD`` or ``NAMESPACE/KIND/NAME``.

    Args:
        suggest: try changes that would let a pending pod in, which takes longer than all else.

    Raises:
        UsageError: there is no such pod.
    """
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
