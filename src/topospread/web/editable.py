"""What of a workload can be changed by hand, as it is now and where it stands in its object; it changes nothing."""

from __future__ import annotations

from typing import Any

from topospread.workloads.scale import KIND_OF

from .standing import WorkloadRow

Json = dict[str, Any]

_PODS = {"Pod": "/spec", "CronJob": "/spec/jobTemplate/spec/template/spec"}
_HAVE_TEMPLATES = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"})
_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
_ROLLED = frozenset({"Deployment", "StatefulSet", "DaemonSet"})


def editable(workload: WorkloadRow) -> Json:
    """The workload as a step names it, its replicas where they can be changed, and its own constraints."""
    kind, namespace, name = workload.key
    alias = next((short for short, long in KIND_OF.items() if long == kind), kind.lower())
    template = workload.template
    own = (template.spec.topology_spread_constraints or []) if template is not None else []
    path = _PODS.get(kind, "/spec/template/spec" if kind in _HAVE_TEMPLATES else "")
    return {
        "target": f"{namespace}/{alias}/{name}",
        "object": f"{kind}/{namespace}/{name}",
        "replicas": workload.replicas if kind in _SCALED else None,
        "rolls": kind in _ROLLED,
        "constraints": [
            {
                "path": f"{path}/topologySpreadConstraints/{position}",
                "topologyKey": each.topology_key,
                "maxSkew": each.max_skew,
                "minDomains": each.min_domains,
                "whenUnsatisfiable": each.when_unsatisfiable,
                "nodeAffinityPolicy": each.node_affinity_policy or "Honor",
                "nodeTaintsPolicy": each.node_taints_policy or "Ignore",
            }
            for position, each in enumerate(own if path else ())
        ],
    }
