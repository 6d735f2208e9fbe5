"""Ties behaviours of kube-scheduler to the Kubernetes version they entered, or to the gate that switches them.

What changed between versions stands beside the code that does it, as a frozen dataclass of rules:

    @dataclass(frozen=True, slots=True)
    class ImageLocalityRules:
        init_containers: bool = since("1.30", "images of init containers count")

Its defaults are those of the newest version; `rules_for` makes the rules of any other. A field with a plain default
is the same in all. `changes` lists them for the
documentation. Which version a run is about is not known here.
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
    """One behaviour that is not the same in all versions.

    Attributes:
        version: the first that has it; for what a gate switches, ``None``.
        what: what is so from then on, in a user's words.
    """

    version: KubeVersion | None
    what: str


class _Rule(msgspec.Struct, frozen=True):
    value: Callable[[Gates], Any]
    changes: tuple[VersionChange, ...]


def since(version: str, what: str) -> Any:
    """A field that is True from a version on."""
    first = KubeVersion.parse(version)
    return _field(lambda gates: gates.kube_version >= first, VersionChange(first, what))


def until(version: str, what: str) -> Any:
    """A field that is True up to a version; ``what`` says what changed with the one after it."""
    last = KubeVersion.parse(version)
    return _field(
        lambda gates: gates.kube_version <= last, VersionChange(KubeVersion(last.major, last.minor + 1), what)
    )


def by_version(values: Mapping[str, Any], what: Mapping[str, str]) -> Any:
    """A field whose value is that of the newest version listed that is not newer; the first must be the oldest.

    ``what``: version → what changed with it; a value whose change is told elsewhere has none.
    """
    steps = [(KubeVersion.parse(version), value) for version, value in values.items()]
    told = [VersionChange(KubeVersion.parse(version), text) for version, text in what.items()]
    return _field(lambda gates: [value for first, value in steps if first <= gates.kube_version][-1], *told)


def gated(gate: str) -> Any:
    """A field that is True where a feature gate is on; what the gate does is told in ``gate_table.py``."""
    return _field(lambda gates: gates.enabled(gate))


def minor_version() -> Any:
    """A field that is the minor version itself, for tables that are looked up by it."""
    return _field(lambda gates: gates.kube_version.minor)


def by_gates(value: Callable[[Gates], Any], what: Mapping[str, str]) -> Any:
    """A field whose value takes more than one gate or version to tell; ``what`` as in `by_version`."""
    return _field(value, *(VersionChange(KubeVersion.parse(version), text) for version, text in what.items()))


def rules_for(kind: type[Rules], gates: Gates) -> Rules:
    """The rules of one kind as they are in the gates' version."""
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
