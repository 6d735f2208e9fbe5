"""Turn simulated changes into remedies: the command that makes the change, and its simulated result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from topospread.answer import Remedy, RemedyPart, Tried

from .words import counted, joined, listed, noun_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topospread.answer import ExceededSkew
    from topospread.why.result import Further, Suggestion

_BY_PATCH = ("rollout", "new pods", "in place")
"""Kinds of changes for which ``kubectl patch`` works: the object exists and the field is mutable."""


class DrillRemedy(Remedy, frozen=True, kw_only=True):
    """A simulated change: the drill was repeated with it."""

    pending: Annotated[int, Meta(description="Newly pending pods at the end with the change, of all workloads.")]
    pending_without: Annotated[int, Meta(description="Newly pending pods at the end without the change.")]
    not_evicted: Annotated[int, Meta(description="Pods that drains do not evict despite the change.")]


def remedy_of(tried: Suggestion) -> Remedy:
    """Return a change that was simulated as a remedy."""
    command = _command(tried, of_spec=tried.means in _BY_PATCH or tried.kind == "strategy")
    of_others = [_command(each) for each in tried.further]
    if not all(of_others):  # If a part has no command, give none: a part's command would look like the whole change.
        command, of_others = (), [() for _ in of_others]
    return Remedy(
        code=tried.kind,
        says=tried.title,
        command=command,
        patch=tried.patch,
        object=dict(tried.object),
        further=tuple(
            RemedyPart(says=each.title, command=typed, patch=each.patch, object=dict(each.object))
            for each, typed in zip(tried.further, of_others, strict=True)
        ),
        tried=Tried.like(
            tried,
            verdict="yes" if tried.complete and not tried.newly_pending else "no",
            places=tried.placed,
            of=tried.wanted,
            evicts=tried.evicted,
        ),
    )


def tried_words(tried: Tried, workload: str = "") -> str:
    """Return a simulated result as words: ``all 6 pods have a node; leaves skew 2 by zone``."""
    return placed_words(tried, workload) + skew_words(tried)


def placed_words(tried: Tried, workload: str = "") -> str:
    """Return the pods with a node as words: ``all 6 pods have a node``, ``all 6 pods of shop/web have a node``."""
    pods = counted(tried.of, "pod") + (f" of {workload}" if workload else "")
    if tried.of == 1:
        words = "the pod has a node" if tried.places else "the pod has no node"
    elif tried.places >= tried.of:
        words = f"all {pods} have a node"
    else:
        words = f"{tried.places} of {pods} have a node"
    if tried.evicts:
        words += f"; preemption evicts {counted(tried.evicts, 'pod')}"
    if tried.newly_pending:
        verb = "becomes" if len(tried.newly_pending) == 1 else "become"
        words += f"; {counted(len(tried.newly_pending), 'other pod')} {verb} pending"
    return words


def skew_words(tried: Tried) -> str:
    """Return the skews that exceed the maxSkew without the remedy: ``; leaves skew 3 by zone``; "" if none does.

    Constraints of one topology key share words: ``; leaves skew up to 10 by zone (22 constraints)``.
    Domains that count no longer, and other workloads whose skew grows beyond their maxSkew, are named, too.
    """
    others = [
        f"{noun_of(each.topology_key)} skew {each.skew} of {each.workload}, over maxSkew {each.max_skew}"
        + _as_counted(each)
        for each in tried.exceeds
        if each.workload
    ]
    skews, later = _by_key(each for each in tried.exceeds if not each.workload), _by_key(tried.may_exceed)
    words = f"; leaves skew {joined(skews)}" if skews else ""
    if later:
        words += f"; its rollout may leave skew {joined(later)}, over maxSkew {tried.may_exceed[0].max_skew}"
    if tried.uncounted:
        words += f"; its skew no longer counts {listed(tried.uncounted, 2)}"
    return words + (f"; then {listed(others, 1)}" if others else "")


def _as_counted(each: ExceededSkew) -> str:
    """Return `` (zone-b then counts with 0 pods)`` if more domains count; else ""."""
    if not each.counted:
        return ""
    count = "counts" if len(each.counted) == 1 else "count"
    return f" ({listed(each.counted, 2)} then {count} with {counted(min(each.counted.values()), 'pod')})"


def _by_key(exceeded: Iterable[ExceededSkew]) -> list[str]:
    of_key: dict[str, list[int]] = {}
    for each in exceeded:
        of_key.setdefault(each.topology_key, []).append(each.skew)
    return [
        f"{found[0]} by {noun_of(key)}"
        if len(found) == 1
        else f"up to {max(found)} by {noun_of(key)} ({len(found)} constraints)"
        for key, found in of_key.items()
    ]


def _command(tried: Suggestion | Further, *, of_spec: bool = False) -> tuple[str, ...]:
    target, kind = tried.object, tried.kind.partition("+")[0]
    scope = ("-n", target["namespace"]) if target.get("namespace") else ()
    if target.get("name", "").startswith("-"):
        return ()  # kubectl reads a name that starts with - as an option; snapshots may have any name
    if kind in ("uncordon", "untaint"):
        taints = tried.title.partition(" taint ")[2].rpartition(" from ")[0].split(" and ")
        lifted = ("taint", "nodes", target["name"], *(f"{each}-" for each in taints))
        return ("kubectl", *(lifted if kind == "untaint" else ("uncordon", target["name"])))
    if kind == "deletePod":
        return ("kubectl", *scope, "delete", "pod", target["name"])
    if kind == "restart":
        return ("kubectl", *scope, "rollout", "restart", f"{target['kind'].lower()}/{target['name']}")
    if not (of_spec or kind == "quota") or not tried.patch:
        return ()
    patch = json.dumps(list(tried.patch), ensure_ascii=False, separators=(",", ":"))
    return ("kubectl", *scope, "patch", target["kind"].lower(), target["name"], "--type", "json", "-p", patch)
