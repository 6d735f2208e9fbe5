"""Rules about CSIStorageCapacities, with which kube-scheduler finds room for new volumes."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.storage import CSIStorageCapacity
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule


def _without_capacity(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    """Source: plugins/volumebinding/volume_binding.go (``Score``), which reads ``capacity`` without a check."""
    if not given.gates.enabled("StorageCapacityScoring"):
        return
    for manifest in given.of_kind("CSIStorageCapacity"):
        item = manifest.item
        if isinstance(item, CSIStorageCapacity) and item.maximum_volume_size is not None and item.capacity is None:
            message = "kube-scheduler ends with a panic when it scores a node for a volume that fits in here"
            yield manifest, Problem("maximumVolumeSize", message)


def _pool(capacity: str) -> Example:
    return Example(
        f"""\
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {{name: fast-zone-a}}
storageClassName: fast
{capacity}maximumVolumeSize: 100Gi
nodeTopology: {{matchLabels: {{topology.kubernetes.io/zone: zone-a}}}}
"""
    )


RULES = (
    Rule(
        id="storage-capacity-missing",
        sentence="A CSIStorageCapacity has maximumVolumeSize but no capacity.",
        why=(
            "Since 1.37 kube-scheduler scores nodes by the capacity. It crashes without one, restarts, and "
            "crashes at the same pod."
        ),
        link="https://kubernetes.io/docs/concepts/storage/storage-capacity/",
        severity="warning",
        check=_without_capacity,
        wrong=_pool(""),
        right=_pool("capacity: 500Gi\n"),
    ),
)
