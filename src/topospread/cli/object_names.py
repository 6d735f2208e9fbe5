"""Shell completion of objects, zones and nodes, from input that is already typed or from the live cluster."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from .live_options import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topospread.api.inventory import Inventory, ObjectKey
    from topospread.api.node import Node

_LARGEST = 20 << 20
"""Maximum bytes of files that are read for a completion, because a person waits."""
_KINDS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod")


def targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the workloads and pods with this prefix: ``deploy/web``, with the kind as typed."""
    from topospread.controllers.scale import KIND_OF

    known = _known(context)
    if known is None:
        return []
    aliases: dict[str, list[str]] = {"Pod": ["pod"]}
    for alias, kind in KIND_OF.items():
        aliases.setdefault(kind, []).append(alias)
    found = []
    for kind, namespace, name in known[0]:
        if kind not in _KINDS or context.params.get("namespace") not in (None, namespace):
            continue
        forms = [f"{alias}/{name}" for alias in sorted(aliases[kind], key=len, reverse=True)]
        forms += [f"{namespace}/{form}" for form in forms]
        found += [form for form in forms if form.startswith(incomplete)][:1]
    return _completions(sorted(set(found)))


def nodes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the zones and nodes with this prefix: ``zone=eu-west-1a``, ``node=node-1``."""
    from topospread.drill.choosing import chosen_values

    known = _known(context)
    if known is None:
        return []
    named = [*chosen_values(known[1]), *(f"node={each.name}" for each in known[1])]
    return _completions(each for each in dict.fromkeys(named) if each.startswith(incomplete))


def _completions(words: Iterable[str]) -> list[CompletionItem]:
    """Return only words that are safe in a shell: bash would run ``$(…)`` in a completed name."""
    return [CompletionItem(each) for each in words if quote(each) == each]


def _known(context: click.Context) -> tuple[Iterable[ObjectKey], Sequence[Node]] | None:
    """Return the objects and nodes of the typed input. A typed --kubeconfig may run programs, so it is ignored."""
    given = context.params
    if given.get("paths") or given.get("cluster") not in (None, LIVE):
        inventory = _typed(context)
        return None if inventory is None else (inventory.places, inventory.nodes)
    from topospread.extras import missing_packages

    if "context" not in given or given.get("kubeconfig") or given.get("user") or missing_packages("live"):
        return None
    from topospread.live.object_names import live_names

    names = live_names(given["context"])
    return None if names is None else (names.objects, names.nodes)


def _typed(context: click.Context) -> Inventory | None:
    """Return the inventory of the typed -f and --on; None if it cannot be read quickly."""
    from topospread.errors import TopospreadError
    from topospread.sources.load import load
    from topospread.sources.rendering import Rendering
    from topospread.sources.synthetic_cluster import is_synthetic

    paths, cluster = context.params.get("paths") or (), context.params.get("cluster")
    files = [*paths, *([cluster] if cluster and not is_synthetic(cluster) else [])]
    if not (files or cluster) or "-" in files or sum(map(_size, files)) > _LARGEST:
        return None
    try:
        return load(paths, cluster=cluster, rendering=Rendering(raw=True), needs_nodes=False)
    except (TopospreadError, OSError):
        return None


def _size(path: str) -> int:
    """Return the bytes of a file or of a folder's files; too many for a missing file."""
    if not os.path.isdir(path):
        return os.path.getsize(path) if os.path.exists(path) else _LARGEST + 1
    return sum(each.stat().st_size for each in os.scandir(path) if each.is_file())
