"""Rules about fields of a constraint that do nothing, or not what they are written for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from topospread.api.meta import KubeObject
from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.api.workload import CronJob, DaemonSet, Deployment, Job, StatefulSet

from .examples import constraint, deployment
from .pod_source import HASH, PodSource
from .problem import Edit, Problem
from .rule import Example, Rule, of_pods
from .selector_rules import SPREAD

_REVISION_HASH = "controller-revision-hash"
_OF_JOBS = frozenset(
    {
        "controller-uid",
        "job-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "batch.kubernetes.io/job-completion-index",
    }
)
ADDED_BY_CONTROLLERS: Mapping[type[KubeObject], frozenset[str]] = {
    Deployment: frozenset({HASH}),
    StatefulSet: frozenset({_REVISION_HASH, "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"}),
    DaemonSet: frozenset({_REVISION_HASH, "pod-template-generation"}),
    Job: _OF_JOBS,
    CronJob: _OF_JOBS,
}
"""Labels that pods have besides those of their template."""

_OF_ONE_POD = frozenset(
    {
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
    }
)
_WELL_KNOWN = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "hostname": "kubernetes.io/hostname",
    "host": "kubernetes.io/hostname",
    "node": "kubernetes.io/hostname",
}


def _soft_min_domains(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        when = each.when_unsatisfiable
        if each.min_domains is not None and when is not None and when != DO_NOT_SCHEDULE:
            field = f"{path}.minDomains"
            yield Problem(field, f"minDomains means nothing with {when}", (Edit("remove", field),))


def _private_key(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        key = each.topology_key or ""
        if key and "/" not in key:
            known = _WELL_KNOWN.get(key.lower())
            hint = f": most clusters have {known}" if known else ", which not every cluster has"
            yield Problem(f"{path}.topologyKey", f"{key} is a private label key{hint}")


def _missing_key(pods: PodSource) -> Iterator[Problem]:
    added = ADDED_BY_CONTROLLERS.get(type(pods.item), frozenset())
    for path, each in pods.constraints():
        for index, key in enumerate(each.match_label_keys or ()):
            if key in pods.labels or key in added or pods.open_labels:
                continue
            field = f"{path}.matchLabelKeys[{index}]"
            fix = (Edit("replace", field, _REVISION_HASH),) if key == HASH and _REVISION_HASH in added else ()
            message = f"the pods have no label {key}: kube-scheduler ignores it"
            yield Problem(field, message + (f"; they have {_REVISION_HASH}" if fix else ""), fix)


def _key_of_one_pod(pods: PodSource) -> Iterator[Problem]:
    added = ADDED_BY_CONTROLLERS.get(type(pods.item), frozenset())
    for path, each in pods.constraints():
        for index, key in enumerate(each.match_label_keys or ()):
            if key in _OF_ONE_POD & added:
                message = f"each pod has a {key} of its own: it counts nothing but itself"
                yield Problem(f"{path}.matchLabelKeys[{index}]", message)


def stateful_set(spec: str) -> str:
    """The StatefulSet that a Deployment of the examples would be."""
    kind = deployment(spec).replace("kind: Deployment", "kind: StatefulSet")
    return kind.replace("spec:\n  replicas", "spec:\n  serviceName: web\n  replicas", 1)


_LABELS = "labelSelector:\n  matchLabels: {app: web}\n"
_OWN = _LABELS + "matchLabelKeys: [pod-template-hash]"
_GOOD = Example(deployment(constraint(_OWN)))

RULES = (
    Rule(
        id="min-domains-soft",
        sentence="minDomains stands beside DoNotSchedule.",
        why="It says when the minimum counts as 0, which only a hard constraint asks: the API server refuses it.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="error",
        check=of_pods(_soft_min_domains),
        wrong=Example(deployment(constraint(_OWN + "\nminDomains: 3", when="ScheduleAnyway"))),
        right=Example(deployment(constraint(_OWN + "\nminDomains: 3"))),
        fix="Removes minDomains.",
    ),
    Rule(
        id="private-topology-key",
        sentence="A topologyKey is qualified, as topology.kubernetes.io/zone is.",
        why="Nobody sets a label such as zone by itself: in a cluster without it the pods of a hard constraint stay "
        "pending.",
        link=f"{SPREAD}#node-labels",
        severity="hint",
        check=of_pods(_private_key),
        wrong=Example(deployment(constraint(_OWN, key="zone"))),
        right=_GOOD,
    ),
    Rule(
        id="match-label-key-missing",
        sentence="The pods have every label that matchLabelKeys names.",
        why="Keys that are not among the pod's labels are ignored: the constraint counts more than it says.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=of_pods(_missing_key),
        wrong=Example(stateful_set(constraint(_OWN))),
        right=Example(stateful_set(constraint(_LABELS + "matchLabelKeys: [controller-revision-hash]"))),
        fix="Writes controller-revision-hash, which pods of a StatefulSet have, in place of pod-template-hash.",
    ),
    Rule(
        id="match-label-key-of-one-pod",
        sentence="matchLabelKeys names labels that pods have in common.",
        why="With a label that is another on each pod, every pod counts itself alone and stands wherever it likes.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=of_pods(_key_of_one_pod),
        wrong=Example(stateful_set(constraint(_LABELS + "matchLabelKeys: [statefulset.kubernetes.io/pod-name]"))),
        right=Example(stateful_set(constraint(_LABELS + "matchLabelKeys: [controller-revision-hash]"))),
    ),
)
