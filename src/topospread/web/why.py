"""Questions about one frame of a trial: why a pod is pending, the pods that a workload keeps, its lint findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any, Final

from msgspec import structs

from topospread.answers.causes import why_words
from topospread.answers.lint import lint_finding
from topospread.answers.pending_pods import Pending, pending_groups
from topospread.answers.promise_show import PromiseShow, promise_show
from topospread.answers.rebalance import Rebalance, rebalance_answer
from topospread.answers.remedies import skew_words
from topospread.answers.why import TriedChange, why_answer
from topospread.answers.why import Why as Answered
from topospread.api.inventory import ObjectKey, key_of
from topospread.api.pod import Pod, PodCondition
from topospread.api.selector_text import parse_selector
from topospread.api.yaml_text import yaml_text
from topospread.controllers.revisions import REVISION_HASH_LABEL, TEMPLATE_HASH_LABEL
from topospread.controllers.scale import short_target
from topospread.drill.held_process import Told
from topospread.drill.patching import PatchedObject, manifest
from topospread.lint.problem import FieldEdit
from topospread.lint.reading import Question
from topospread.lint.run import run as lint
from topospread.promise.kept import WorkloadPromises
from topospread.promise.orders import SearchBudget
from topospread.promise.questions import LOSSES
from topospread.rebalance.rebalance import rebalance
from topospread.render.pages.why import outcome_words
from topospread.simulation.placing import Progress
from topospread.sources.files import STANDARD_INPUT
from topospread.sources.positions import parse_path
from topospread.text import shell_line
from topospread.why.explain import explain, explain_pending
from topospread.why.result import Explanation

from .pages import MOST_ROWS
from .trying import Moment

Json = dict[str, Any]

_MOST_DRILLED: Final = 3
"""Number of domains and nodes for which each event is simulated, the fullest first."""

_MOST_SECONDS: Final = 1.0
"""Time limit in seconds of the search for each count, because a user waits for the page."""


def pending(key: ObjectKey | None, suggest: bool, of: Moment) -> list[Pending]:
    """Return the pods without a node, of a workload or of all, grouped by cause, and changes that help if wanted."""
    workloads = [it for it in of.run.plan.workloads if key in (None, key_of(it))]
    waiting = explain_pending(of.inventory, of.run, set(workloads), suggest=suggest, progress=_words(of.told))
    return list(pending_groups(of.inventory, waiting, {key_of(it) for it in workloads}))


def rebalanced(key: ObjectKey | None, of: Moment) -> tuple[Rebalance, str]:
    """Return the evictions that bring a workload's pods, or all, within their constraints, and the pods' selector."""
    if key is None:
        return rebalance_answer(rebalance(of.inventory, of.options, seconds=1, allow_empty=True)), ""
    workload = next(it for it in of.run.plan.workloads if key_of(it) == key)
    labels = workload.template.labels if workload.template is not None else {}
    of_revision = (TEMPLATE_HASH_LABEL, REVISION_HASH_LABEL)
    text = ",".join(f"{name}={value}" for name, value in labels.items() if name not in of_revision)
    found = rebalance(
        of.inventory, of.options, namespace=key[1], selector=parse_selector(text), seconds=1, allow_empty=True
    )
    return rebalance_answer(found), text


def kept_now(key: ObjectKey, of: Moment) -> list[tuple[str, int | None, int]]:
    """Return the text of an event (``a zone is lost``), the fewest pods that stay ready in it, and the wanted pods.

    The pods are those in the current placement; None if no pod has a node.
    """
    found = WorkloadPromises(of.inventory, of.options, key, SearchBudget(), {}, shared=of.run)
    losses = [loss for loss, label in LOSSES.items() if any(label in each.labels for each in of.inventory.nodes)]
    return [(f"a {loss} is lost", found.now_left(loss), found.workload.replicas) for loss in losses]


def promised(key: ObjectKey, of: Moment) -> PromiseShow:
    """Return the pods that a workload keeps after losses, drains and rollouts."""
    return promise_show(
        of.inventory, [short_target(key)], of.options, most=_MOST_DRILLED, seconds=_MOST_SECONDS, progress=of.told
    )


def linted(key: ObjectKey, of: Moment) -> list[Json]:
    """Return the lint findings about a workload, each with its automatic fix as a step of a trial."""
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
    """Return the data of an explanation's page: `why`'s answer, rejected nodes and suggestions.

    Args:
        target: ``NAMESPACE/POD`` or ``NAMESPACE/KIND/NAME``.
        suggest: whether to simulate changes with which a pending pod finds a node, which takes longest.

    Raises:
        UsageError: if the pod does not exist.
    """
    words = _words(of.told)
    found = explain(of.inventory, target, of.options, suggest=suggest, run=of.run, progress=words, known=of.known)
    answer = why_answer(found, most_domains=MOST_ROWS)
    suggestions = [
        {
            "title": each.says,
            "code": each.code,
            "comes_to": outcome_words(each, found.pending).replace(skew_words(each.tried), ""),
            "warns": skew_words(each.tried),
            "step": _step(each, answer),
            "tried": each.tried.verdict,
            "replaces": each.tried.replaces,
            "yaml": "".join(yaml_text(list(one.patch)) for one in each.parts if one.patch),
            "command": " && ".join(shell_line(one.command) for one in each.parts if one.command),
        }
        for each in answer.remedies
    ]
    return {
        "why": answer.to_dict(),
        "domains": [len(each.domains) for each in found.constraints],
        "reason": why_words(answer.causes) if answer.verdict == "no" else "; ".join(it.says for it in answer.causes),
        "suggestions": suggestions,
        "rejected": _rejected(found),
    }


def condition(pod: Pod) -> PodCondition:
    """Return the condition PodScheduled, with the pod's creation if it has no time."""
    found = pod.status.conditions or () if pod.status is not None else ()
    own = next((each for each in found if each.type == "PodScheduled"), PodCondition())
    return structs.replace(own, last_transition_time=own.last_transition_time or pod.metadata.creation_timestamp)


def since(pod: Pod) -> str:
    """Return in words when a pod was placed, created or became pending; "" if the pod has no times."""
    own = condition(pod)
    verb = {"True": "placed at", "False": "pending since"}.get(own.status, "created at")
    return f"{verb} {own.last_transition_time}" if own.last_transition_time else ""


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
    """Return every reason for rejecting nodes, with these nodes, most nodes first."""
    nodes: dict[tuple[str, str], list[str]] = {}
    if found.verdict is not None and not found.verdict.error:
        for node, each in found.verdict.rejected.items():
            nodes.setdefault((each.plugin, ", ".join(each.reasons)), []).append(node)
    rows = [{"plugin": plugin, "reason": reason, "nodes": names} for (plugin, reason), names in nodes.items()]
    return sorted(rows, key=lambda each: -len(each["nodes"]))
