"""Find Helm hooks among the manifests. Their pods are not placed, because they end or are deleted.

Helm runs hooks around install, upgrade, delete and test; a rendered chart contains all of them
(https://helm.sh/docs/topics/charts_hooks/). Objects stored by an API server exist and are kept. Source:
helm/v4/pkg/action/hooks.go (``deleteHookByPolicy``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from topospread.api.meta import KubeObject
from topospread.text import listed

from .files import STANDARD_INPUT
from .locations import Location
from .objects import ReadObject
from .origins import ChartOrigins
from .text import Text

_RUN_AND_GO: Final = frozenset({"Pod", "Job"})
_MAKE_PODS: Final = frozenset(
    {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "CronJob"}
)
_ON_INSTALL: Final = frozenset({"pre-install", "post-install", "pre-upgrade", "post-upgrade"})
"""Hooks whose objects exist after an installation, unless a policy deletes them."""
_DELETED: Final = "hook-succeeded"
"""The deletion policy for hooks that have succeeded."""

_SOURCE: Final = re.compile(rb"---\n# Source: \S+/templates/")
_SHOWN: Final = 5


def hooks_of(item: KubeObject) -> tuple[str, ...]:
    """Return the hooks that an object belongs to; empty for an ordinary object."""
    annotations = item.metadata.annotations
    return _words(annotations.helm_hook if annotations is not None else None)


def is_passing(item: KubeObject, location: Location | None) -> bool:
    """Return whether an object is a hook whose pods end or are deleted.

    The annotation counts only in Helm's output. There, every Pod or Job with a hook is such an object. Another workload
    is one if none of its hooks runs at installation or upgrade, or if Helm deletes it on success.
    """
    metadata = item.metadata
    if metadata.annotations is None or metadata.is_stored or location is None:
        return False
    hooks = hooks_of(item)
    if not hooks or item.kind not in _RUN_AND_GO | _MAKE_PODS or not _is_helms(location.text):
        return False
    deleted = _DELETED in _words(metadata.annotations.helm_hook_delete_policy)
    return deleted or item.kind in _RUN_AND_GO or _ON_INSTALL.isdisjoint(hooks)


def _is_helms(text: Text) -> bool:
    """Return whether Helm wrote a text: rendered here, or piped. In a file its first comment proves nothing."""
    piped = text.name == STANDARD_INPUT and _SOURCE.match(text.data) is not None
    return piped or isinstance(text.origins, ChartOrigins)


def _words(text: str | None) -> tuple[str, ...]:
    """Return the words of a comma-separated annotation, in lower case as Helm reads them (manifest_sorter.go)."""
    return tuple(word for each in (text or "").split(",") if (word := each.strip().lower()))


class HooksLeftOut:
    """Removes hooks from the objects that are read, and remembers their names."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def without(self, found: Iterable[ReadObject]) -> Iterator[ReadObject]:
        """Yield the objects that are not hooks."""
        for each in found:
            if is_passing(each.item, each.location):
                name = each.item.name or each.item.metadata.generate_name
                self._names.append(f"{each.kind} {name} ({', '.join(hooks_of(each.item))})")
            else:
                yield each

    def notes(self) -> Iterator[str]:
        """Yield a note on the removed hooks."""
        if self._names:
            what = "1 Helm hook is" if len(self._names) == 1 else f"{len(self._names)} Helm hooks are"
            yield f"{what} left out, as their pods do not last: {listed(self._names, _SHOWN)}; --with-hooks places them"
