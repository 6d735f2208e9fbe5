"""The properties of new objects that admission policies match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

RESOURCES: Final = {
    "Pod": ("", "v1", "pods"),
    "ReplicationController": ("", "v1", "replicationcontrollers"),
    "Deployment": ("apps", "v1", "deployments"),
    "ReplicaSet": ("apps", "v1", "replicasets"),
    "StatefulSet": ("apps", "v1", "statefulsets"),
    "DaemonSet": ("apps", "v1", "daemonsets"),
    "Job": ("batch", "v1", "jobs"),
    "CronJob": ("batch", "v1", "cronjobs"),
}
"""Kind → API group, version and resource."""


class NewObject(NamedTuple):
    """A new object, reduced to the fields for ``matchConstraints`` and ``matchResources`` of policies.

    Attributes:
        kind: key of `RESOURCES`.
        name: the object's name; "" for a generated name.
    """

    kind: str
    namespace: str
    name: str
    labels: Mapping[str, str]

    @property
    def resource(self) -> tuple[str, str, str]:
        """API group, version and resource."""
        return RESOURCES[self.kind]

    @property
    def qualified(self) -> str:
        """The resource's name in the API server's messages: ``pods``, ``deployments.apps``."""
        group, _, resource = self.resource
        return f"{resource}.{group}" if group else resource
