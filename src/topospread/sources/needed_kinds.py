"""The kinds that each command reads from a live cluster.

Other kinds do not affect the command's answer. A test compares every command on random clusters with and without them
(``tests/property/test_needed_kinds.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from topospread.api.meta import KubeObject
from topospread.api.pod import Pod, PodSpec
from topospread.api.storage import VOLUME_KINDS
from topospread.api.workload import CronJob, StatefulSet
from topospread.config.gates import Gates

from .snapshot_lists import ORDER


class NeededKinds(msgspec.Struct, frozen=True):
    """The kinds that an answer depends on.

    Attributes:
        kinds: keys of `KINDS`, in the order of a snapshot.
        volumes: whether `VOLUME_KINDS` are always read. Otherwise they are read only if an object uses volumes.
    """

    kinds: tuple[str, ...] = ORDER
    volumes: bool = True

    def without(self, *kinds: str) -> NeededKinds:
        """Return the set without these kinds."""
        return replace(self, kinds=tuple(each for each in self.kinds if each not in kinds))

    @property
    def with_volumes(self) -> NeededKinds:
        """Return the set with volume kinds always read."""
        return replace(self, volumes=True)

    def under(self, gates: Gates) -> NeededKinds:
        """Return the set with PodGroup if pods may belong to groups."""
        if not gates.enabled("GenericWorkload"):
            return self
        return replace(self, kinds=tuple(each for each in ORDER if each in self.kinds or each == "PodGroup"))

    def beside(self, items: Iterable[KubeObject]) -> NeededKinds:
        """Return the set needed if these objects are applied. CronJobs are needed only if one is replaced."""
        there = list(items)
        named = {type(each).__name__ for each in there}
        kinds = tuple(each for each in ORDER if each in self.kinds or each in named)
        return NeededKinds(kinds, self.volumes or any(map(uses_volumes, there)))


ALL: Final = NeededKinds()
"""All kinds of a snapshot, for commands whose later questions are unknown."""
PLACEMENT: Final = replace(ALL, volumes=False).without("CronJob", "Workload", "PodGroup")
"""Kinds that affect placement, preemption and the pods of controllers."""
PLACEMENT_AND_RUNS: Final = replace(ALL, volumes=False).without("Workload", "PodGroup")
"""Kinds for placement, and for running CronJobs."""


def lint_needs(judged: Iterable[KubeObject]) -> NeededKinds:
    """Return the kinds that lint reads from a cluster.

    Volumes of other pods are omitted, because only the manifests' pods are placed.
    """
    return ALL if any(map(uses_volumes, judged)) else ALL.without(*VOLUME_KINDS)


def uses_volumes(item: KubeObject) -> bool:
    """Return whether an object is a volume object, or a pod or workload whose placement depends on volumes."""
    if type(item).__name__ in VOLUME_KINDS:
        return True
    if isinstance(item, StatefulSet) and item.spec.volume_claim_templates:
        return True
    spec = _pod_spec_of(item)
    return spec is not None and any(each.is_storage for each in spec.volumes or ())


def _pod_spec_of(item: KubeObject) -> PodSpec | None:
    if isinstance(item, Pod):
        return item.spec
    spec = item.spec.job_template.spec if isinstance(item, CronJob) else getattr(item, "spec", None)
    template = getattr(spec, "template", None)
    return None if template is None else template.spec
