"""Behaviours of kube-scheduler that depend on the Kubernetes version or on a feature gate.

Each module has its own rules as a frozen dataclass:

    @dataclass(frozen=True, slots=True)
    class ImageLocalityRules:
        init_containers: bool = since("1.30", "images of init containers count")

An instance without arguments has the newest version's rules; `rules_for` returns the rules of any version. A field with
a plain default is equal in all versions. `changes` lists the differences for the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields
from typing import Any, TypeVar

import msgspec

from topospread.config.gates import Gates, gates_for
from topospread.config.versions import NEWEST, KubeVersion

Rules = TypeVar("Rules")

_NEWEST_GATES = gates_for(NEWEST)
_KEY = "topospread.version_rule"


class VersionChange(msgspec.Struct, frozen=True):
    """A behaviour that differs between versions.

    Attributes:
        version: the first version with the behaviour; ``None`` for a feature gate.
        what: the behaviour from then on, in a user's words.
    """

    version: KubeVersion | None
    what: str


class _Rule(msgspec.Struct, frozen=True):
    value: Callable[[Gates], Any]
    changes: tuple[VersionChange, ...]


def since(version: str, what: str) -> Any:
    """Return a field that is True from a version on."""
    first = KubeVersion.parse(version)
    return _field(lambda gates: gates.kube_version >= first, VersionChange(first, what))


def until(version: str, what: str) -> Any:
    """Return a field that is True up to a version; ``what`` describes the change after it."""
    last = KubeVersion.parse(version)
    return _field(
        lambda gates: gates.kube_version <= last, VersionChange(KubeVersion(last.major, last.minor + 1), what)
    )


def by_version(values: Mapping[str, Any], what: Mapping[str, str]) -> Any:
    """Return a field with one value for each range of versions.

    ``values``: first version of a range → value; the oldest supported version must be a key. ``what``: version →
    description of its change; a version without one is described elsewhere.
    """
    steps = [(KubeVersion.parse(version), value) for version, value in values.items()]
    told = [VersionChange(KubeVersion.parse(version), text) for version, text in what.items()]
    return _field(lambda gates: [value for first, value in steps if first <= gates.kube_version][-1], *told)


def gated(gate: str) -> Any:
    """Return a field that is True if a feature gate is on; ``gate_table.py`` describes the gate."""
    return _field(lambda gates: gates.enabled(gate))


def minor_version() -> Any:
    """Return a field whose value is the minor version, to look up tables."""
    return _field(lambda gates: gates.kube_version.minor)


def by_gates(value: Callable[[Gates], Any], what: Mapping[str, str]) -> Any:
    """Return a field whose value depends on several gates or versions; ``what`` as in `by_version`."""
    return _field(value, *(VersionChange(KubeVersion.parse(version), text) for version, text in what.items()))


def rules_for(kind: type[Rules], gates: Gates) -> Rules:
    """Return the rules of one kind for the version of the gates."""
    return kind(**{name: rule.value(gates) for name, rule in _rules(kind)})


def changes(kind: type[Any]) -> list[VersionChange]:
    """Return the changes and their versions, in the order of the fields."""
    return [change for _, rule in _rules(kind) for change in rule.changes]


def _field(value: Callable[[Gates], Any], *told: VersionChange) -> Any:
    return field(default=value(_NEWEST_GATES), metadata={_KEY: _Rule(value, told)})


def _rules(kind: type[Any]) -> Iterator[tuple[str, _Rule]]:
    for each in fields(kind):
        if _KEY in each.metadata:
            yield each.name, each.metadata[_KEY]
