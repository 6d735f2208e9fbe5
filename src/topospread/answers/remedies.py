"""Remedies from changes that a search tried: the command that makes the change, and the result of the trial."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from topospread.answer import Remedy, Tried

from .words import counted

if TYPE_CHECKING:
    from topospread.explanation import Suggestion

_NOT_A_COMMAND = ("create", "recreate", "template")
"""Means for which ``kubectl patch`` does not work: the object does not exist, or its kind is not known."""
_ONLY_PATCHES = ("free", "newNode", "newClaim", "newStorageClass", "storageClassName", "rollout")
"""Kinds of changes that no kubectl command makes."""


def remedy_of(tried: Suggestion) -> Remedy:
    """Return a change that was simulated as a remedy."""
    return Remedy(
        code=tried.kind,
        says=tried.title,
        command=_command(tried),
        patch=tried.patch,
        object=dict(tried.object),
        tried=Tried(
            verdict="yes" if tried.complete and not tried.newly_pending and tried.stuck_at is None else "no",
            places=tried.placed,
            of=tried.wanted,
            evicts=tried.evicted,
            newly_pending=tried.newly_pending,
        ),
    )


def tried_words(tried: Tried) -> str:
    """Return the result of a trial in words: ``all 6 pods have a node``."""
    if tried.of == 1:
        words = "the pod has a node" if tried.places else "the pod has no node"
    elif tried.places >= tried.of:
        words = f"all {counted(tried.of, 'pod')} have a node"
    else:
        words = f"{tried.places} of {counted(tried.of, 'pod')} have a node"
    if tried.evicts:
        words += f"; preemption evicts {counted(tried.evicts, 'pod')}"
    if tried.newly_pending:
        verb = "becomes" if len(tried.newly_pending) == 1 else "become"
        words += f"; {counted(len(tried.newly_pending), 'other pod')} {verb} pending"
    return words


def _command(tried: Suggestion) -> tuple[str, ...]:
    target = tried.object
    scope = ("-n", target["namespace"]) if target.get("namespace") else ()
    if target.get("name", "").startswith("-"):
        return ()  # kubectl would take it for an option; a snapshot may have any name
    if tried.kind == "uncordon":
        return ("kubectl", "uncordon", target["name"])
    if tried.kind == "deletePod":
        return ("kubectl", *scope, "delete", "pod", target["name"])
    if tried.kind in _ONLY_PATCHES or tried.means in _NOT_A_COMMAND:
        return ()
    patch = json.dumps(list(tried.patch), ensure_ascii=False, separators=(",", ":"))
    return ("kubectl", *scope, "patch", target["kind"].lower(), target["name"], "--type", "json", "-p", patch)
