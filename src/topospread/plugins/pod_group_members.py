"""The PodGroup of a pod, and the priority that counts for the pod."""

from __future__ import annotations

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import Key


def group_key(pod: Pod) -> Key | None:
    """Return namespace and name of the pod's PodGroup; ``None`` for a pod without one."""
    group = pod.spec.scheduling_group
    return None if group is None else (pod.namespace, group.pod_group_name)


def pod_priority(cluster: Cluster, pod_class: PodClass) -> int:
    """Return the priority of a pod's group if it has a group, else the pod's priority (``GetPodPriority``)."""
    key = group_key(pod_class.pod)
    group = None if key is None else cluster.objects.pod_groups.get(key)
    return pod_class.priority if group is None else group.spec.priority or 0
