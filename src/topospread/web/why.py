"""Questions about one frame of a trial: why a pod is pending, what a workload keeps, its lint findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any, Final

from topospread.answers.lint import lint_finding
from topospread.answers.pending_pods import Pending, pending_groups
from topospread.answers.promise_show import PromiseShow, promise_show
from topospread.answers.why import TriedChange, why_answer
from topospread.answers.why import Why as Answered
from topospread.api.yaml_text import yaml_text
from topospread.controllers.scale import short_target
from topospread.drill.held_process import Told
from topospread.drill.patching import PatchedObject, manifest
from topospread.drill.pods import WorkloadKey
from topospread.lint.problem import FieldEdit
from topospread.lint.reading import Question
from topospread.lint.run import run as lint
from topospread.render.pages.why import outcome_words
from topospread.simulation.placing import Progress
from topospread.sources.files import STANDARD_INPUT
from topospread.sources.positions import parse_path
from topospread.text import shell_line
from topospread.why.explain import explain, explain_pending
from topospread.why.result import Explanation

from .trying import Moment

Json = dict[str, Any]

_MOST_DRILLED: Final = 3
"""Number of domains and nodes for which each event is simulated, the fullest first."""


def pending(of: Moment) -> list[Pending]:
    """Return the pods without a node, grouped by cause, with changes that help."""
    workloads = of.run.plan.workloads
    waiting = explain_pending(of.inventory, of.run, set(workloads), suggest=True, progress=_words(of.told))
    return list(pending_groups(of.inventory, waiting, {(it.kind, it.namespace, it.name) for it in workloads}))


def promised(key: WorkloadKey, of: Moment) -> PromiseShow:
    """Return what a workload keeps after losses, drains and rollouts."""
    return promise_show(of.inventory, [short_target(key)], of.options, most=_MOST_DRILLED)


def linted(key: WorkloadKey, of: Moment) -> list[Json]:
    """Return what lint finds in a workload, each finding with its mechanical fix as a step of a trial."""
    document = manifest(of.inventory, PatchedObject(*key, "[]"))
    question = Question(paths=[STANDARD_INPUT], config=of.options.config, kube_version=of.options.kube_version)
    found = lint(question, BytesIO(yaml_text(document).encode()), cluster=of.inventory)
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


def explained(target: str, suggest: bool, of: Moment) -> Json:
    """Return `why`'s answer on ``NAMESPACE/POD`` or ``NAMESPACE/KIND/NAME``, and what else its page shows.

    Args:
        suggest: try changes that would let a pending pod in, which takes longer than all else.

    Raises:
        UsageError: there is no such pod.
    """
    found = explain(of.inventory, target, of.options, suggest=suggest, run=of.run, progress=_words(of.told))
    answer = why_answer(found)
    suggestions = [
        {
            "title": each.says,
            "comes_to": outcome_words(each, found.pending),
            "step": _step(each, answer),
            "tried": each.tried.verdict,
            "yaml": "".join(yaml_text(list(one.patch)) for one in each.parts if one.patch),
            "command": " && ".join(shell_line(one.command) for one in each.parts if one.command),
        }
        for each in answer.remedies
    ]
    return {"why": answer.to_dict(), "suggestions": suggestions, "rejected": _rejected(found)}


def _words(told: Told) -> Progress:
    return lambda tried, pods: told(f"{tried:,} of {pods:,} pods tried")


def _step(each: TriedChange, found: Answered) -> str:
    """Return the suggestion as a step of a trial; "" if it cannot be one."""
    if each.code == "uncordon":
        return f"uncordon node={each.object['name']}"
    if each.code in ("rollout", "restart"):
        return f"rollout {found.namespace}/{found.workload}"
    if not each.patch or each.further or each.means == "template" or each.code == "deletePod":
        return ""
    target = each.object
    patch = json.dumps(list(each.patch), separators=(",", ":"))
    return str(PatchedObject(target["kind"], target.get("namespace", ""), target["name"] or "new", patch))


def _rejected(found: Explanation) -> list[Json]:
    """Every reason for which filters reject nodes, with its nodes, those of most nodes first."""
    nodes: dict[tuple[str, str], list[str]] = {}
    if found.verdict is not None and not found.verdict.error:
        for node, each in found.verdict.rejected.items():
            nodes.setdefault((each.plugin, ", ".join(each.reasons)), []).append(node)
    rows = [{"plugin": plugin, "reason": reason, "nodes": names} for (plugin, reason), names in nodes.items()]
    return sorted(rows, key=lambda each: -len(each["nodes"]))
