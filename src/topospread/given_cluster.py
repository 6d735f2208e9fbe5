"""The cluster of a `Session`: a live cluster, files, a synthetic cluster or objects. It is read once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any, TypeAlias

import msgspec

from topospread.api.inventory import Inventory
from topospread.errors import UsageError
from topospread.sources.client_objects import plain_object
from topospread.sources.inputs import paths_of
from topospread.sources.load import LiveObjects, NoNodesError, ReadFrom, load
from topospread.sources.rendering import Rendering
from topospread.sources.synthetic_cluster import is_synthetic

Given: TypeAlias = "Inventory | str | os.PathLike[str] | Mapping[str, Any] | Sequence[Any]"
"""Accepted forms of a cluster.

Paths, ``zones=3,nodes=6``, ``live``, objects or dictionaries, or the result of `load`.
"""

Manifest: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
"""Accepted forms of a manifest to apply: a path or an object."""

LIVE = "live"


class GivenCluster:
    """A cluster that was read, to which manifests can be applied."""

    def __init__(
        self, on: Given, namespace: str, rendering: Rendering, context: str | None, comparison_operators: bool
    ) -> None:
        self._how: dict[str, Any] = {
            "namespace": namespace,
            "rendering": rendering,
            "comparison_operators": comparison_operators,
        }
        self._paths: list[str] = []
        self._applied = 0
        self._cluster: str | None = None
        self._text: bytes | None = None
        self._live: LiveObjects | None = None
        self.missing: NoNodesError | None = None
        self._is_known = not isinstance(on, Inventory)
        if isinstance(on, Inventory):
            self._inventory, read = on, on.read_from
            if isinstance(read, ReadFrom) and not read.live and "-" not in (*read.paths, read.cluster):
                self._is_known, self._paths, self._cluster = True, list(read.paths), read.cluster
                self._applied = read.applied
                self._how |= {"namespace": read.namespace, "rendering": read.rendering}
            return
        if isinstance(on, str) and on == LIVE:
            self._live = _live_objects(context, namespace)
        elif context is not None:
            raise UsageError(f'context: {context} requires a live cluster: write Session("live", context="{context}")')
        elif isinstance(on, str | os.PathLike) and os.fspath(on):
            self._cluster = os.fspath(on)
        elif (objects := _objects(on)) and all(isinstance(each, str | os.PathLike) for each in objects):
            paths = paths_of(objects)
            self._cluster = next(filter(is_synthetic, paths), None)
            self._paths = [each for each in paths if each != self._cluster]
        else:
            self._text = _list_of(objects)
            self._paths = ["-"]
        try:
            self._inventory = self._load([])
        except NoNodesError as error:
            self.missing = error

    @property
    def inventory(self) -> Inventory:
        """The cluster.

        Raises:
            InputError: if there are no nodes.
        """
        if self.missing is not None:
            raise self.missing
        return self._inventory

    @property
    def synthetic(self) -> str | None:
        """The specification of a synthetic cluster, such as ``zones=3,nodes=6``; None for other clusters."""
        return self._cluster if self._cluster and is_synthetic(self._cluster) else None

    @property
    def files(self) -> list[str]:
        """The files and folders of the cluster.

        Raises:
            UsageError: if the cluster was not read from files.
        """
        cluster = [self._cluster] if self._cluster and not self.synthetic else []
        found = [each for each in (*cluster, *self._paths) if each != "-"]
        if not found:
            raise UsageError("lint reads manifest files, and this cluster has none: name files")
        return found

    def applied(self, manifests: Manifest | Sequence[Manifest]) -> Inventory:
        """Return the cluster with manifests applied: first the paths, then the objects.

        Raises:
            UsageError: if the session was given an inventory that was not read from files, or objects that other
                objects would have to be applied to.
        """
        if not isinstance(manifests, Iterable | os.PathLike):
            raise UsageError(f"manifests={manifests!r}: use a path, an object or a list of them")
        given = [manifests] if isinstance(manifests, str | os.PathLike | Mapping) else list(manifests)
        paths = [os.fspath(each) for each in given if isinstance(each, str | os.PathLike)]
        objects = [each for each in given if not isinstance(each, str | os.PathLike)]
        if not given:
            return self.inventory
        if not self._is_known:
            what = paths[0] if paths else "manifests"
            raise UsageError(f"{what}: manifests can only be applied to a cluster in files; save the cluster first")
        if not objects:
            return self._load(paths)
        if self._text is not None:
            raise UsageError("manifests: the cluster was given as objects, too; write the manifests to a file")
        return self._load([*paths, "-"], _list_of(objects))

    def _load(self, manifests: Sequence[str], text: bytes | None = None) -> Inventory:
        text = text or self._text
        stdin = sys.stdin.buffer if text is None and sys.stdin is not None else BytesIO(text or b"")
        paths = [*self._paths, *manifests]
        applied = self._applied + len(manifests)
        return load(paths, cluster=self._cluster, stdin=stdin, live=self._live, applied=applied, **self._how)


def _list_of(objects: Sequence[Any]) -> bytes:
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": list(map(plain_object, objects))})


def _live_objects(context: str | None, namespace: str) -> LiveObjects:
    """Read the kubeconfig's cluster in another thread, because a notebook already runs an event loop in this one."""
    from concurrent.futures import ThreadPoolExecutor

    from topospread.extras import require

    require("live")
    from topospread.live.access import Access
    from topospread.live.cluster_lists import WantedLists
    from topospread.live.read_cluster import live_objects

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(live_objects, Access(context=context), WantedLists(otherwise=namespace)).result()


def _objects(on: Any) -> list[Any]:
    try:
        objects = [on] if isinstance(on, Mapping) else list(on)
    except TypeError:
        objects = []
    if not objects or hasattr(on, "columns"):  # the items of a data frame are its columns
        what = type(on).__name__ if objects or not hasattr(on, "__len__") else f"empty {type(on).__name__}"
        raise UsageError(f'on: {what}: expected "live", a path, "zones=3,nodes=6", or a list of objects')
    return objects
