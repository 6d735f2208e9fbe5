"""The user names of kube-controller-manager's controllers. They show that a controller created an object.

Source: cmd/kube-controller-manager/app/apps.go, core.go and batch.go (the name that each controller's client gets).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CONTROLLER_MANAGER: Final = "system:kube-controller-manager"
"""The user of every controller if kube-controller-manager runs without --use-service-account-credentials."""

_ACCOUNTS: Final[Mapping[tuple[str, str], str]] = {
    ("Pod", "ReplicaSet"): "replicaset-controller",
    ("Pod", "ReplicationController"): "replication-controller",
    ("Pod", "StatefulSet"): "statefulset-controller",
    ("Pod", "DaemonSet"): "daemon-set-controller",
    ("Pod", "Job"): "job-controller",
    ("ReplicaSet", "Deployment"): "deployment-controller",
    ("Job", "CronJob"): "cronjob-controller",
}
CREATORS: Final = {kinds: f"system:serviceaccount:kube-system:{account}" for kinds, account in _ACCOUNTS.items()}
"""(kind, kind of its owner) → the user name of the controller that creates such objects."""
