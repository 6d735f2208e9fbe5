"""A snapshot's facts about itself: its time, its source, and its missing kinds."""

from __future__ import annotations

from typing import Final

import msgspec

from topospread.api.meta import KubeStruct
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import ConfigError

from .snapshot_lists import OWNERS_AND_SELECTORS, WITHOUT

FIELD: Final = "topospread"
"""Field of the facts in the List; kubectl ignores it."""

FORMAT: Final = "topospread.dev/snapshot/v1"


class SnapshotFacts(KubeStruct):
    """The facts that a snapshot states about itself.

    Attributes:
        format: version of this struct; new fields do not change it.
        taken: time at which reading began, RFC 3339 in UTC.
        kube_version: the API server's gitVersion.
        namespace: the namespace that was read; "" if all were read.
        hashed: whether names were replaced by pseudonyms.
        simulated: whether it is the result of a simulation.
        live: whether it was just read from a live cluster.
        counts: kind → number of objects.
        missing: kind → why it is missing, or limited to one namespace.
    """

    format: str = ""
    taken: str = ""
    kube_version: str = ""
    namespace: str = ""
    hashed: bool = False
    simulated: bool = False
    live: bool = False
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    missing: dict[str, str] = msgspec.field(default_factory=dict)


class _Snapshot(KubeStruct):
    topospread: msgspec.Raw = msgspec.Raw(b"null")


def read_facts(raw: msgspec.Raw) -> SnapshotFacts | None:
    """Return the snapshot's facts; None if they are missing or belong to another program."""
    try:
        facts = msgspec.json.decode(raw, type=SnapshotFacts | None)
    except ValueError:
        return None
    # No file is a live cluster, whatever it states.
    return msgspec.structs.replace(facts, live=False) if facts is not None and facts.format == FORMAT else None


def facts_of(text: bytes) -> SnapshotFacts | None:
    """Return a snapshot's facts; None if the text is not a snapshot in JSON."""
    try:
        return read_facts(msgspec.json.decode(text, type=_Snapshot).topospread)
    except ValueError:
        return None


def warnings_of(facts: SnapshotFacts) -> list[str]:
    """Return warnings about a snapshot."""
    what = "what was read of the cluster" if facts.live else "the snapshot"
    reasons = dict.fromkeys(facts.missing.values())
    found = [_lacking(what, why, [kind for kind, reason in facts.missing.items() if reason == why]) for why in reasons]
    if facts.namespace:
        found.append(
            f'{what} holds the namespace "{facts.namespace}" alone: nodes look emptier than they are, '
            "because pods of other namespaces are missing"
        )
    return found


def _lacking(what: str, why: str, kinds: list[str]) -> str:
    """Return one warning for all kinds that are missing for the same reason."""
    if len(kinds) == 1:
        return f"{what} lacks {kinds[0]} objects ({why}): {_lost(kinds[0])}"
    by: dict[str, list[str]] = {}
    for kind in kinds:
        by.setdefault(_lost(kind), []).append(kind)
    losses = "; ".join(f"{', '.join(names)}: {lost}" for lost, names in by.items())
    return f"{what} lacks objects of {len(kinds)} kinds ({why}): {losses}"


def _lost(kind: str) -> str:
    return WITHOUT.get(kind, "their effect is unknown")


def warnings_when_read(facts: SnapshotFacts) -> list[str]:
    """Return the warnings, without kinds whose absence is reported elsewhere together with the affected pods."""
    missing = {kind: why for kind, why in facts.missing.items() if kind not in OWNERS_AND_SELECTORS}
    return warnings_of(msgspec.structs.replace(facts, missing=missing))


def unread_kinds(facts: SnapshotFacts) -> dict[str, str]:
    """Return each kind whose objects could not be read → the reason.

    Kinds that the API server does not serve have no objects. Kinds that are readable in one namespace are not included.
    """
    return {
        kind: why for kind, why in facts.missing.items() if why != "NotFound" and "outside the namespace" not in why
    }


def note_of(facts: SnapshotFacts) -> str:
    """Return a note such as ``a snapshot of Kubernetes v1.31.4 taken 2026-01-01T00:00:00Z``."""
    of = f" of Kubernetes {facts.kube_version}" if facts.kube_version else ""
    if facts.live:
        what = f"the live cluster{of}, read"
    else:
        what = "the result of a simulation, saved" if facts.simulated else f"a snapshot{of} taken"
    note = f"{what} {facts.taken or 'at an unknown time'}" + (", names hashed" if facts.hashed else "")
    version = _known_version(facts.kube_version)
    if version is not None and version != NEWEST:
        note += f"; --kube-version {version} acts as that version"
    return note


def _known_version(text: str) -> KubeVersion | None:
    try:
        return KubeVersion.parse(text)
    except ConfigError:
        return None
