"""What would let a pod in, as text: each change that was tried and works, what comes of it, and the patch to copy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.text import shell_line

from .layout import Layout
from .paragraphs import counted, hanging

if TYPE_CHECKING:
    from topospread.explanation import Explanation, Suggestion

_SHOWN = 8
_NO_COMMAND = ("create", "recreate", "template")
"""What kubectl patch would not do: the object is not there, not to be changed, or of a form that is not known."""


def suggestion_lines(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """All suggestions, smallest first; a sentence where there is none."""
    title = layout.style("What would let it in", "bold") + "  "
    if explanation.suggestions:
        yield from hanging(title, "(each was tried: everything simulated anew with it)", layout.width, 2)
    elif explanation.searched:
        nothing = "no change that was tried: of its constraints or claims, a toleration, room on a node, a node more"
        yield from hanging(title, nothing, layout.width, 2)
    shown = explanation.suggestions if layout.wide else explanation.suggestions[:_SHOWN]
    for number, each in enumerate(shown, 1):
        yield from hanging(f"  {number}  ", layout.style(each.title, "bold"), layout.width, 5)
        yield from hanging(" " * 5, outcome_words(each, explanation), layout.width, 5)
        yield from command_lines(each, layout)
    more = len(explanation.suggestions) - len(shown)
    if more:
        yield f"  and {more} more; -o wide lists them"
    if explanation.untried:
        why = "were not tried: too many pods would have to be placed for it"
        yield from hanging("  ", f"{counted(explanation.untried, 'change')} {why}", layout.width, 4)


def outcome_words(each: Suggestion, explanation: Explanation) -> str:
    """What the change amounts to, and what comes of it."""
    kind, name = each.object["kind"], each.object["name"]
    match each.means:
        case "create":
            how = f"in {each.file if each.file not in ('', '-') else 'its manifest'}: {_placed(each)}"
        case "template":
            how = f"in the pod template of {kind} {name}, which makes its pods anew: {_placed(each)}"
        case "rollout" if kind == "StatefulSet":
            # Its controller waits for a pod that is pending, of whatever revision, before it touches another.
            once = "once the pending one is deleted (unless managed in parallel)"
            how = f"a new revision of StatefulSet {name} replaces every pod, {once}: {_placed(each)}"
        case "rollout":
            how = f"a new revision of {kind} {name} replaces every pod: {_placed(each)}"
        case "new pods":
            how = f"{kind} {name} makes new pods of it, once the pending ones are deleted: {_placed(each)}"
        case "recreate":
            how = f"cannot be changed in a {kind} that exists: delete it and create it anew: {_placed(each)}"
        case "in place":
            how = f"can be added to a pod that exists: {_placed(each)}"
        case _:
            how = _lets_in(each, explanation)
    if each.stuck_at is not None:
        how += f"; but its rolling update gets stuck when {each.stuck_at} are: it needs a larger maxUnavailable"
    if each.newly_pending:
        first, number = each.newly_pending[0], len(each.newly_pending)
        names = first if number == 1 else f"{first} and {counted(number - 1, 'pod')} more"
        how += f"; but {names} {'stays' if number == 1 else 'stay'} pending then"
    if each.evicted:
        how += f"; preemption evicts {counted(each.evicted, 'pod')}"
    return how


def _placed(each: Suggestion) -> str:
    if each.wanted == 1:
        return "it is placed"
    if each.complete:
        return f"{_all(each.wanted)} are placed"
    return f"{each.placed} of {each.wanted} are placed"


def _all(number: int) -> str:
    return "both" if number == 2 else f"all {number}"


def _lets_in(each: Suggestion, explanation: Explanation) -> str:
    if explanation.pending <= 1:
        return "it is placed"
    if each.lets_in >= explanation.pending:
        return f"lets in {_all(explanation.pending)} pending pods"
    return f"lets in {each.lets_in} of the {explanation.pending} pending pods"


def command_lines(each: Suggestion, layout: Layout) -> Iterator[str]:
    """The command to copy, or the patch where there is none; that of a whole node only where all is to be shown."""
    target = each.object
    scope = ["-n", target["namespace"]] if target["namespace"] else []
    patch = json.dumps(list(each.patch), ensure_ascii=False, separators=(", ", ":"))
    match each.kind:
        case "uncordon":
            text = shell_line(["kubectl", "uncordon", target["name"]])
        case "deletePod":
            text = shell_line(["kubectl", *scope, "delete", "pod", target["name"]])
        case "newNode" if not layout.wide:
            return
        case "rollout":
            return
        case "free" | "newNode" | "newClaim" | "newStorageClass":
            text = f"patch, to try it: {patch}"
        case _ if each.means in _NO_COMMAND or each.kind == "storageClassName":
            text = f"patch: {patch}"
        case _:
            words = ["patch", target["kind"].lower(), target["name"], "--type", "json", "-p", patch]
            text = shell_line(["kubectl", *scope, *words])
    yield from hanging(" " * 5, text, layout.width, 7)
