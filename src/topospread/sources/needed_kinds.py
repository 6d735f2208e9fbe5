"""The kinds that each command's answer depends on: a live cluster is asked for no others.

What is left out is what the code behind a command never looks at; a test asks every command about random clusters with
and without the kinds that are left out here (``tests/property/test_needed_kinds.py``).
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
        volumes: those of `VOLUME_KINDS` among them are needed in any case; otherwise only once something uses volumes.
    """

    kinds: tuple[str, ...] = ORDER
    volumes: bool = True

    def without(self, *kinds: str) -> NeededKinds:
        """Return the kinds without these."""
        return replace(self, kinds=tuple(each for each in self.kinds if each not in kinds))

    @property
    def with_volumes(self) -> NeededKinds:
        """The kinds with those of volumes in any case."""
        return replace(self, volumes=True)

    def under(self, gates: Gates) -> NeededKinds:
        """Return the kinds with PodGroup if pods may belong to groups."""
        if not gates.enabled("GenericWorkload"):
            return self
        return replace(self, kinds=tuple(each for each in ORDER if each in self.kinds or each == "PodGroup"))

    def beside(self, items: Iterable[KubeObject]) -> NeededKinds:
        """Return the kinds needed if these objects are applied to the cluster: their CronJobs replace those there."""
        there = list(items)
        named = {type(each).__name__ for each in there}
        kinds = tuple(each for each in ORDER if each in self.kinds or each in named)
        return NeededKinds(kinds, self.volumes or any(map(uses_volumes, there)))


ALL: Final = NeededKinds()
"""Everything that a snapshot has: for what anything may be asked of afterwards."""
PLACEMENT: Final = replace(ALL, volumes=False).without("CronJob", "Workload", "PodGroup")
"""What decides on where pods go, whom they evict, and what controllers make in their place."""
PLACEMENT_AND_RUNS: Final = replace(ALL, volumes=False).without("Workload", "PodGroup")
"""With CronJobs that are to run."""


def lint_needs(judged: Iterable[KubeObject]) -> NeededKinds:
    """Return the kinds that lint needs of a cluster: it places only the manifests' pods, so others' volumes do not
    matter.
    """
    return ALL if any(map(uses_volumes, judged)) else ALL.without(*VOLUME_KINDS)


def uses_volumes(item: KubeObject) -> bool:
    """Return whether an object is one of volumes, or makes or is a pod for which plugins look at them."""
    if type(item).__name__ in VOLUME_KINDS:
        return True
    if isinstance(item, StatefulSet) and item.spec.volume_claim_templates:
        return True
    spec = _pod_spec_of(item)
    return spec is not None and any(each.is_storage for each in spec.volumes or ())


def _pod_spec_of(item: KubeObject) -> PodSpec | None:
    """The spec of the pods that an object is or makes; ``None`` where it makes none."""
    if isinstance(item, Pod):
        return item.spec
    spec = item.spec.job_template.spec if isinstance(item, CronJob) else getattr(item, "spec", None)
    template = getattr(spec, "template", None)
    return None if template is None else template.spec
