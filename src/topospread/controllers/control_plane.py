"""The API server and the schedulers that a plan is made for: version, feature gates and names."""

from __future__ import annotations

import msgspec

from topospread.config.gates import Gates, gates_for


class ControlPlane(msgspec.Struct, frozen=True):
    """The versions and feature gates of the API server and kube-scheduler.

    Attributes:
        apiserver: version and feature gates of the API server.
        scheduler: version and feature gates of kube-scheduler.
        refuses: whether new pods that the API server denies are left out. If False, they are not judged.
        retries: whether controllers create pods that exceed a quota once other pods are deleted, as in a drill.
    """

    apiserver: Gates
    scheduler: Gates
    refuses: bool = True
    retries: bool = False

    @classmethod
    def of_version(cls, kube_version: str) -> ControlPlane:
        """Return a version's defaults."""
        return cls(gates_for(kube_version, component="apiserver"), gates_for(kube_version))
