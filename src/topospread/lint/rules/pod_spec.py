"""Rules about other pod fields that disable or contradict spread constraints."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.labels import InvalidSelectorError
from topospread.api.node_selection import NodeSelectorTerm, PodAffinityTerm
from topospread.api.pod import Pod, PodSpec
from topospread.api.rollout import strategy_of
from topospread.api.spread import DO_NOT_SCHEDULE, HONOR, TopologySpreadConstraint
from topospread.api.well_known_labels import HOSTNAME, REGION, ZONE
from topospread.api.workload import DaemonSet, Deployment
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.pod_source import (
    HASH,
    PodSource,
    explicit_replicas,
    keeping_apart,
    own_selector,
    selects_itself,
)
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.rule import Example, Rule, of_pods

from .selectors import SPREAD

_ASSIGN = "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/"
PART_OF: dict[str, tuple[str, ...]] = {HOSTNAME: (ZONE, REGION), ZONE: (REGION,)}
"""Topology key → keys of the larger domains that contain its domains."""


def _one_domain(pods: PodSource) -> Iterator[Problem]:
    for path, each in pods.constraints():
        key = each.topology_key or ""
        value = only_value(pods.spec, key)
        if value is not None and each.effective_node_affinity_policy == HONOR:
            message = f"the pods may run only where {key} is {value}, so they are not spread"
            yield Problem(f"{path}.topologyKey", message)


def only_value(spec: PodSpec, key: str) -> str | None:
    """Return the only label value that nodeSelector or required node affinity allows; None for several."""
    if key in (spec.node_selector or {}):
        return (spec.node_selector or {})[key]
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = required.node_selector_terms if required else None
    values = {_value_of(term, key) for term in terms or ()}
    return values.pop() if len(values) == 1 else None


def _value_of(term: NodeSelectorTerm, key: str) -> str | None:
    for each in term.match_expressions or ():
        if each.key == key and each.operator == "In" and len(set(each.values or ())) == 1:
            return (each.values or [""])[0]
    return None


def _against_affinity(pods: PodSource) -> Iterator[Problem]:
    replicas = explicit_replicas(pods)
    affinity = pods.spec.affinity.pod_affinity if pods.spec.affinity else None
    terms = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    gathered = [term.topology_key for term in terms or () if selects_itself(term, pods)]
    for path, each in pods.constraints():
        key, skew = each.topology_key or "", each.max_skew
        if each.when_unsatisfiable != DO_NOT_SCHEDULE or skew is None or not _counts_itself(pods, each):
            continue
        by = next((near for near in gathered if near == key or key in PART_OF.get(near, ())), None)
        if by is not None and (replicas is None or replicas > skew):
            message = f"required pod affinity keeps all pods in one {by}, but maxSkew {skew} admits at most {skew} "
            yield Problem(path, message + f"to one {key} while another is empty")


def _counts_itself(pods: PodSource, each: TopologySpreadConstraint) -> bool:
    try:
        return own_selector(each).matches(pods.labels)
    except InvalidSelectorError:
        return False


def _anti_affinity(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, pods in given.sources:
        replicas = explicit_replicas(pods)
        if isinstance(pods.item, Pod | DaemonSet) or (replicas is not None and replicas < 2):
            continue
        if any(each.topology_key == HOSTNAME for _, each in pods.constraints()):
            continue
        for field, term in keeping_apart(pods):
            if term.topology_key == HOSTNAME:
                message = "at most one pod per node: with more replicas than nodes, some stay pending"
                if not manifest.refused and _surge_waits(pods, term):
                    message += ", and so do surge pods if every node has one"
                yield manifest, Problem(field, message)


def _surge_waits(pods: PodSource, term: PodAffinityTerm) -> bool:
    """Return whether a rolling update creates surplus pods that old pods keep off their nodes."""
    strategy = strategy_of(pods.item) if isinstance(pods.item, Deployment) else None
    return strategy is not None and strategy.max_surge > 0 and HASH not in (term.match_label_keys or ())


def _daemon_set(pods: PodSource) -> Iterator[Problem]:
    constraints = [each for _, each in pods.constraints()] if isinstance(pods.item, DaemonSet) else []
    if not constraints:
        return
    path = f"{pods.path}.topologySpreadConstraints"
    ignoring = any(
        each.effective_node_affinity_policy != HONOR and each.when_unsatisfiable == DO_NOT_SCHEDULE
        for each in constraints
    )
    message = "each pod of a DaemonSet is tied to its node: "
    if ignoring:
        yield Problem(path, message + "with nodeAffinityPolicy Ignore, constraints can only leave pods pending")
    else:
        yield Problem(path, message + "constraints have no effect", (FieldEdit("remove", path),))


def _node_name(pods: PodSource) -> Iterator[Problem]:
    if isinstance(pods.item, Pod) or not pods.spec.node_name:
        return
    if any(True for _ in pods.constraints()):
        message = "nodeName puts every pod on one node without kube-scheduler, so no constraint applies"
        yield Problem(f"{pods.path}.nodeName", message)


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_ZONES = constraint(_OWN)
_HOSTS = constraint(_OWN, key=HOSTNAME)
_ZONES_TOO = constraint(_OWN, when="ScheduleAnyway").removeprefix("topologySpreadConstraints:\n")
_GOOD = Example(deployment(_ZONES))
_TERM = "topologyKey: {key}\n      labelSelector: {{matchLabels: {{app: web}}}}\n"
_REQUIRED = "affinity:\n  {kind}:\n    requiredDuringSchedulingIgnoredDuringExecution:\n    - " + _TERM


def _daemon(spec: str) -> str:
    return deployment(spec).replace("kind: Deployment", "kind: DaemonSet").replace("  replicas: 6\n", "")


RULES = (
    Rule(
        id="one-domain-selected",
        sentence="Pods with a spread constraint may run in one domain only.",
        why="nodeSelector and node affinity leave nodes of one domain, so there is never a skew.",
        link=f"{SPREAD}#interaction-with-node-affinity-and-node-selectors",
        severity="warning",
        check=of_pods(_one_domain),
        wrong=Example(deployment("nodeSelector: {topology.kubernetes.io/zone: zone-a}\n" + _ZONES)),
        right=Example(deployment("nodeSelector: {disk: ssd}\n" + _ZONES)),
    ),
    Rule(
        id="affinity-against-spread",
        sentence="Required pod affinity and a spread constraint use the same key.",
        why="Every pod must join the first pod's domain, but the constraint admits only maxSkew pods there.",
        link=f"{SPREAD}#comparison-with-podaffinity-podantiaffinity",
        severity="warning",
        check=of_pods(_against_affinity),
        wrong=Example(
            deployment(_REQUIRED.format(kind="podAffinity", key="topology.kubernetes.io/zone") + _ZONES, replicas=3)
        ),
        right=_GOOD,
    ),
    Rule(
        id="anti-affinity-for-spread",
        sentence="Required anti-affinity spreads replicas over nodes.",
        why=(
            "It allows one pod per node, however many replicas there are. A hard constraint over the hostname "
            "does the same with few replicas and spreads any number evenly. Add a zone constraint too, because "
            "a pod's own constraints replace the built-in defaults over zones."
        ),
        link=f"{SPREAD}#comparison-with-podaffinity-podantiaffinity",
        severity="hint",
        check=_anti_affinity,
        wrong=Example(deployment(_REQUIRED.format(kind="podAntiAffinity", key=HOSTNAME))),
        right=Example(deployment(_HOSTS + _ZONES_TOO)),
    ),
    Rule(
        id="daemon-set-spread",
        sentence="A DaemonSet has topology spread constraints.",
        why=(
            "Its controller creates one pod for each node and ties it to that node, so the constraints have no effect."
        ),
        link="https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#how-daemon-pods-are-scheduled",
        severity="warning",
        check=of_pods(_daemon_set),
        wrong=Example(_daemon(constraint("labelSelector:\n  matchLabels: {app: web}"))),
        right=Example(_daemon("")),
        fix="Removes the constraints.",
    ),
    Rule(
        id="node-name-in-template",
        sentence="Pods with a spread constraint have a nodeName.",
        why="kube-scheduler does not place them, so all replicas run on that node.",
        link=f"{_ASSIGN}#nodename",
        severity="warning",
        check=of_pods(_node_name),
        wrong=Example(deployment("nodeName: node-1\n" + _ZONES)),
        right=_GOOD,
    ),
)
