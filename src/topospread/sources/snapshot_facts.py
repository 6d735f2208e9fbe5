"""What a snapshot says of itself, beside its objects: when it was taken, of what, and what it lacks."""

from __future__ import annotations

from typing import Final

import msgspec

from topospread.api.meta import KubeStruct

from .snapshot_lists import WITHOUT

FIELD: Final = "topospread"
"""Where it stands in the List; kubectl ignores it."""

FORMAT: Final = "topospread.dev/snapshot/v1"


class SnapshotFacts(KubeStruct):
    """The snapshot's own word.

    Attributes:
        format: of what stands here; fields may be added within it.
        taken: when taking it began, RFC 3339 in UTC.
        kube_version: the API server's gitVersion.
        namespace: the only one it holds, "" for all.
        hashed: whether names were replaced.
        counts: kind → how many objects.
        missing: kind → why there are none of it.
    """

    format: str = ""
    taken: str = ""
    kube_version: str = ""
    namespace: str = ""
    hashed: bool = False
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    missing: dict[str, str] = msgspec.field(default_factory=dict)


def warnings_of(facts: SnapshotFacts) -> list[str]:
    """What a person must know who goes by the snapshot."""
    found = [
        f"the snapshot lacks {kind} objects ({why}): {WITHOUT.get(kind, 'what they decide is not known')}"
        for kind, why in facts.missing.items()
    ]
    if facts.namespace:
        found.append(
            f'the snapshot holds the namespace "{facts.namespace}" alone: nodes look emptier than they are, as other '
            "namespaces' pods are not in it"
        )
    return found


def note_of(facts: SnapshotFacts) -> str:
    """``a snapshot of Kubernetes v1.31.4 taken 2026-01-01T00:00:00Z, names hashed``."""
    of = f" of Kubernetes {facts.kube_version}" if facts.kube_version else ""
    return f"a snapshot{of} taken {facts.taken or 'at an unknown time'}" + (", names hashed" if facts.hashed else "")
