"""The API server and the schedulers that a plan is made for: their version, gates and names; not what they do."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from topospread.config.gates import Gates, gates_for


class ControlPlane(msgspec.Struct, frozen=True):
    """The programs that make pods of objects, and those that place them.

    Attributes:
        apiserver: the API server's version and feature gates.
        scheduler: kube-scheduler's.
        scheduler_names: the schedulers whose pods are to be placed; others' are counted.
    """

    apiserver: Gates
    scheduler: Gates
    scheduler_names: Collection[str] = ("default-scheduler",)

    @classmethod
    def of_version(
        cls, kube_version: str, *, scheduler: Gates | None = None, apiserver: Gates | None = None
    ) -> ControlPlane:
        """As a version has it by default, but for the gates that are given."""
        return cls(apiserver or gates_for(kube_version, component="apiserver"), scheduler or gates_for(kube_version))
