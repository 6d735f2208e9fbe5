"""One cluster, configuration and Kubernetes version, of which any number of questions are asked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.served import versions_of
from topospread.config.versions import NEWEST
from topospread.errors import UsageError

if TYPE_CHECKING:
    from topospread.answer import Answer
    from topospread.answers.status import Status
    from topospread.answers.why import Why
    from topospread.config.gates import Gates
    from topospread.config.profile import Configuration

Given: TypeAlias = "Inventory | str | os.PathLike[str] | Mapping[str, Any] | Sequence[Any]"
"""A cluster: what `topospread.load` returns, paths, ``zones=3,nodes=6``, objects as dictionaries, or a client's."""

_MADE_UP = re.compile(r"[a-z]+=[^/]*\d")
_CLASS = re.compile(r"(?:V\d+(?:alpha\d+|beta\d+)?)?(\w+)")
"""The kind in the name of a client's class: ``V1Pod``, ``Pod``."""


class Session:
    """A cluster that is read once; questions are methods, and every answer is the one that the command gives.

    Args:
        on: the cluster: an inventory, paths, a synthetic cluster (``zones=3,nodes=6``), or objects: dictionaries, or
            objects of the clients kubernetes, kr8s and lightkube.
        kube_version: the Kubernetes version to act as.
        config: kube-scheduler's configuration, or its file.
        gates: kube-scheduler's feature gates; by default the version's.
        apiserver_gates: the API server's feature gates; by default the version's.

    Raises:
        UsageError: if an argument has an unusable type or value.
        InputError: if the input cannot be read.
    """

    def __init__(
        self,
        on: Given,
        *,
        kube_version: str = str(NEWEST),
        config: Configuration | str | os.PathLike[str] | None = None,
        gates: Gates | None = None,
        apiserver_gates: Gates | None = None,
    ) -> None:
        if not isinstance(kube_version, str):
            raise UsageError(f'kube_version: {kube_version!r} is not text: write "1.30"')
        self.kube_version = kube_version
        self._given: dict[str, Any] = {"config": config, "gates": gates, "apiserver_gates": apiserver_gates}
        self.inventory = _inventory(on)
        self.promises = Promises(self)

    def __repr__(self) -> str:
        return f"<Session {len(self.inventory.nodes)} nodes, {len(self.inventory.pods)} pods, v{self.kube_version}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release nothing: a session holds no connection."""

    def but(self, **changed: Any) -> Session:
        """Return a session on the same cluster with other options, such as ``kube_version``, ``config`` or ``on``."""
        return Session(**{"on": self.inventory, "kube_version": self.kube_version, **self._given, **changed})

    def status(self, **more: Any) -> Status:
        """Return whether every pod has a node and every hard constraint holds: `topospread.status`."""
        found: Status = self.ask("status", **more)
        return found

    def why(self, target: str, **more: Any) -> Why:
        """Return why a pod has a node or none: `topospread.why`."""
        found: Why = self.ask("why", target, **more)
        return found

    def simulate(self, **more: Any) -> Any:
        """Return whether all pods find nodes: `topospread.simulate`."""
        return self.ask("simulate", **more)

    def drill(self, *steps: Any, **more: Any) -> Any:
        """Return what steps, such as ``steps.Fail``, do to the cluster: `topospread.drill`."""
        return self.ask("drill", steps, **more)

    def capacity(self, *targets: str, **more: Any) -> Answer:
        """Return whether more pods fit: `topospread.capacity`."""
        found: Answer = self.ask("capacity", *targets, **more)
        return found

    def rebalance(self, **more: Any) -> Answer:
        """Return which evictions fix skew: `topospread.rebalance`."""
        found: Answer = self.ask("rebalance", **more)
        return found

    def ask(self, question: str, *arguments: Any, **more: Any) -> Any:
        """Ask a question of the module by its name, with the session's options."""
        function = getattr(import_module("topospread"), question)
        found = function(self.inventory, *arguments, kube_version=self.kube_version, **{**self._given, **more})
        return found.answer() if question == "simulate" else found


class Promises:
    """Questions on what a loss leaves of workloads."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def show(self, *targets: str, **more: Any) -> Answer:
        """Return what losses leave: `topospread.promise_show`."""
        found: Answer = self._session.ask("promise_show", targets, **more)
        return found

    def check(self, *targets: str, **more: Any) -> Answer:
        """Return whether promises are kept: `topospread.promise_check`."""
        found: Answer = self._session.ask("promise_check", targets, **more)
        return found

    def design(self, *targets: str, **more: Any) -> Answer:
        """Return a design that keeps what is wanted: `topospread.promise_design`."""
        found: Answer = self._session.ask("promise_design", targets, **more)
        return found


def _inventory(on: Given) -> Inventory:
    from topospread.sources.inputs import paths_of
    from topospread.sources.load import load

    if isinstance(on, Inventory):
        return on
    if isinstance(on, str) and _MADE_UP.match(on) and not os.path.exists(on):
        return load([], cluster=on)
    if isinstance(on, str | os.PathLike):
        return load(paths_of(on))
    objects: list[Any] = [on] if isinstance(on, Mapping) else list(on)
    if objects and all(isinstance(each, str | os.PathLike) for each in objects):
        return load(paths_of(objects))
    items = list(map(plain_object, objects))
    return load(["-"], stdin=BytesIO(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items})))


def plain_object(given: Any) -> dict[str, Any]:
    """Return an object of a client library as a dictionary with Kubernetes' own keys; none of them is imported.

    Raises:
        UsageError: if it is no Kubernetes object.
    """
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(raw := getattr(given, "raw", None), Mapping):  # kr8s
        found: Any = dict(raw)
    elif hasattr(given, "attribute_map"):  # kubernetes
        found = _of_model(given)
    elif callable(to_dict := getattr(given, "to_dict", None)):  # lightkube
        found = to_dict()
    else:
        raise UsageError(f"{type(given).__name__}: expected a Kubernetes object: a dictionary or a client's object")
    kind = _CLASS.fullmatch(type(given).__name__)
    found["kind"] = found.get("kind") or (kind[1] if kind else "")
    found["apiVersion"] = found.get("apiVersion") or next(iter(versions_of(found["kind"])), "v1")
    return dict(found)


def _of_model(value: Any) -> Any:
    """Return a model of the client kubernetes as plain data, without the fields that are not set."""
    if hasattr(value, "attribute_map"):
        fields = ((key, getattr(value, name)) for name, key in value.attribute_map.items())
        return {key: _of_model(each) for key, each in fields if each is not None}
    if isinstance(value, Mapping):
        return {key: _of_model(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_of_model(each) for each in value]
    return value
