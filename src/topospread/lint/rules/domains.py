"""Rules about constraints on the given nodes: missing topology keys, too few domains, closed domains."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.spread import HONOR
from topospread.api.taints import UNSCHEDULABLE_TAINT, untolerated
from topospread.api.well_known_labels import HOSTNAME
from topospread.api.workload import DaemonSet
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.pod_source import explicit_replicas
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.related_objects import autoscaled
from topospread.lint.rule import Example, Rule
from topospread.text import agreeing, counted, listed

from .node_labels import misspelt, named
from .pod_spec import only_value
from .selectors import SPREAD

if TYPE_CHECKING:
    from topospread.lint.template_on_nodes import ConstraintOnNodes, TemplateOnNodes

_NAMED = 3
_REQUIRED = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
_EXCLUDED = "excluded by nodeSelector or node affinity"
_LIMITATIONS = f"{SPREAD}#known-limitations"


def _every(given: LintInput) -> Iterator[tuple[TemplateOnNodes, ConstraintOnNodes]]:
    from topospread.lint.template_on_nodes import templates_on_nodes

    for template in templates_on_nodes(given):
        for held in template.constraints:
            yield template, held


def _no_node_matches(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    wanting = [
        (manifest, pods)
        for manifest, pods in given.sources
        if (pods.spec.node_selector or pods.spec.affinity) and not (manifest.refused or pods.spec.node_name)
        if pods.replicas != 0 and not isinstance(pods.item, DaemonSet)
    ]
    if not wanting or not given.nodes:
        return
    import numpy as np

    from topospread.lint.template_on_nodes import grown_cluster
    from topospread.plugins.interface import PluginError
    from topospread.plugins.node_matching import required_mask

    cluster = grown_cluster(given)
    nodes = [each for each in cluster.nodes.nodes if each is not None]
    rows = np.array([cluster.nodes.row_of[each.name] for each in nodes])
    none = f"none of {len(given.nodes)} nodes{' and no pool' if given.pools else ''}"
    for manifest, pods in wanting:
        try:
            mask = required_mask(pods.spec, cluster.nodes)
            if mask is None or mask(rows).any():
                continue
        except PluginError:
            continue  # The rule `validation` reports the error.
        selector = pods.spec.node_selector or {}
        lacking = [key for key, value in selector.items() if all(each.labels.get(key) != value for each in nodes)]
        message = f"{none} matches: every pod stays pending"
        if lacking:
            labels = listed([f"{key}={selector[key]}" for key in lacking], _NAMED)
            message = f"{none} has {labels}: every pod stays pending"
            if all(lacking[0] not in each.labels for each in nodes):
                message += misspelt(nodes[0], lacking[0])
        by_selector = not any(selector.items() <= each.labels.items() for each in nodes)
        field = "nodeSelector" if by_selector else _REQUIRED
        yield manifest, Problem(f"{pods.path}.{field}", message)


def _key_on_no_node(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held in _every(given):
        key = held.counts.topology_key
        if held.counts.hard and not template.having(key).any():
            message = f"none of {len(given.nodes)} nodes has {key}: every pod stays pending"
            yield template.manifest, Problem(f"{held.path}.topologyKey", message + misspelt(given.nodes[0], key))


def _soft_key(given: LintInput) -> Iterator[tuple[TemplateOnNodes, ConstraintOnNodes, list[str]]]:
    """Yield (template, soft constraint, other soft keys that some node has) for soft keys that no node has."""
    for template, held in _every(given):
        if not held.counts.hard and not template.having(held.counts.topology_key).any():
            soft = [each.counts.topology_key for each in template.constraints if not each.counts.hard]
            yield template, held, [key for key in dict.fromkeys(soft) if template.having(key).any()]


def _soft_key_on_no_node(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held, others in _soft_key(given):
        if not others:
            key = held.counts.topology_key
            message = f"none of {len(given.nodes)} nodes has {key}: none is preferred{misspelt(given.nodes[0], key)}"
            yield template.manifest, Problem(f"{held.path}.topologyKey", message)


def _stops_scoring(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held, others in _soft_key(given):
        if others:
            key = held.counts.topology_key
            message = (
                f"none of {len(given.nodes)} nodes has {key}: the pods are not spread over {', '.join(others)} either"
            )
            yield template.manifest, Problem(f"{held.path}.topologyKey", message + misspelt(given.nodes[0], key))


def _key_on_some_nodes(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held in _every(given):
        key = held.counts.topology_key
        has = template.having(key)
        lacking = template.nodes(template.open & ~has)
        if has.any() and lacking:
            open_nodes = int(template.open.sum())
            what = "they take no pod" if held.counts.hard else "they get score 0, and their pods are not counted"
            lack = agreeing(f"lack {key} ({named(lacking)}): {what}", len(lacking))
            message = f"{len(lacking)} of {open_nodes} nodes open to the pods {lack}"
            yield template.manifest, Problem(f"{held.path}.topologyKey", message + misspelt(lacking[0], key))


def _too_few_domains(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    from topospread.simulation.hypothetical_domains import min_domains_outlook

    for template, held in _every(given):
        counts = held.counts
        if held.given.min_domains is None or not counts.lacks_domains:
            continue
        domains = counted(len(counts.domains), "eligible domain")
        exist = agreeing("exist", len(counts.domains))
        message = f"minDomains is {counts.min_domains}, but only {domains} {exist} for {counts.topology_key}"
        message += f": each takes at most {counted(counts.max_skew, 'pod')}"
        bounds = autoscaled(given, template.pods.item)
        replicas = (explicit_replicas(template.pods) if bounds is None else bounds.most) or 0
        left = replicas - sum(max(counts.max_skew, each.matching) for each in counts.domains)
        if left > 0 and counts.counts_itself:
            message += f", so at least {left} of {replicas} replicas {agreeing('stay', left)} pending"
        field, edits = f"{held.path}.minDomains", tuple[FieldEdit, ...]()
        if counts.domains and (held.grown is None or held.grown.lacks_domains):
            edits = (FieldEdit("replace", field, len(counts.domains)),)
        if held.grown is not None:
            message += f"; with the pools, minDomains {min_domains_outlook(counts, held.grown)}"
        yield template.manifest, Problem(field, message, edits)


def _fewer_replicas(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held in _every(given):
        bounds, counts = autoscaled(given, template.pods.item), held.counts
        replicas = explicit_replicas(template.pods) if bounds is None else bounds.most
        if isinstance(template.pods.item, Pod) or not replicas or counts.topology_key == HOSTNAME:
            continue
        if 1 < replicas < len(counts.domains):
            left = len(counts.domains) - replicas
            message = f"{replicas} replicas for {len(counts.domains)} domains of {counts.topology_key}: "
            message += f"{left} hold{'' if left > 1 else 's'} none"
            yield template.manifest, Problem(held.path, message)


def _one_domain(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held in _every(given):
        counts = held.counts
        if len(counts.domains) != 1 or counts.min_domains > 1 or counts.domains[0].nodes < 2:
            continue
        if only_value(template.pods.spec, counts.topology_key) is None:
            message = f"all {counts.domains[0].nodes} nodes are in one domain of {counts.topology_key}"
            message += f", {counts.domains[0].name}: the pods are not spread over it"
            yield template.manifest, Problem(f"{held.path}.topologyKey", message)


def _skewed(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for template, held in _every(given):
        counts = held.counts
        if counts.hard and counts.skew > counts.max_skew:
            most = max(counts.domains, key=lambda domain: domain.matching)
            message = f"{most.name} holds {most.matching} pods and the minimum is {counts.minimum}: the skew is "
            message += f"{counts.skew}, and no controller moves running pods"
            yield template.manifest, Problem(f"{held.path}.maxSkew", message)


def _pinned(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    from topospread.plugins.pod_topology_spread import minimum_in_force

    for template, held in _every(given):
        counts = held.counts
        closed = _closed_domains(template, held) if counts.hard and counts.counts_itself else {}
        if not closed or len(closed) == len(counts.domains):
            continue
        replicas = _least_replicas(given, template)
        there = sum(domain.matching for domain in counts.domains)
        least = min(domain.matching for domain in counts.domains if domain.name in closed)
        most = minimum_in_force(len(counts.domains), least, counts.min_domains) + counts.max_skew
        # The number of pods that still fit into the open domains while the closed domains keep their pods.
        room = sum(max(0, most - domain.matching) for domain in counts.domains if domain.name not in closed)
        beyond = (1 if replicas is None else replicas - there) - room
        if beyond > 0:
            why = "; ".join(dict.fromkeys(_reason(node, template) for nodes in closed.values() for node in nodes))
            still = "no further pod fits" if replicas is None else f"{beyond} of {replicas} pods stay pending"
            message = f"{_listed(closed)} counted and takes no pods ({why}): {still}"
            yield template.manifest, Problem(held.path, message, _policy(template, held, closed, given))


def _listed(closed: Collection[str]) -> str:
    return f"{'each of ' if len(closed) > 1 else ''}{listed(closed, _NAMED)} is"


def _closed_domains(template: TemplateOnNodes, held: ConstraintOnNodes) -> dict[str, list[Node]]:
    """Return domains that count but admit no pods, with their nodes."""
    if template.open.all():
        return {}
    key = held.counts.topology_key
    shut = template.values(key, ~template.open)
    for value in template.values(key, template.open):
        shut.pop(value, None)
    return {domain.name: shut[domain.name] for domain in held.counts.domains if domain.name in shut} if shut else {}


def _reason(node: Node, template: TemplateOnNodes) -> str:
    taints = untolerated(node.spec.taints or (), template.pod.spec.tolerations or ())
    if node.spec.unschedulable or UNSCHEDULABLE_TAINT.key in {taint.key for taint in taints}:
        return "cordoned"
    if taints:
        return f"tainted {taints[0].key}:{taints[0].effect}"
    return _EXCLUDED


def _least_replicas(given: LintInput, template: TemplateOnNodes) -> int | None:
    """Return the minimum number of pods; None for a pod or an unknown number."""
    if isinstance(template.pods.item, Pod):
        return None
    bounds = autoscaled(given, template.pods.item)
    return explicit_replicas(template.pods) if bounds is None else bounds.least


def _policy(
    template: TemplateOnNodes, held: ConstraintOnNodes, closed: dict[str, list[Node]], given: LintInput
) -> tuple[FieldEdit, ...]:
    """Return the edit of a node policy that excludes the closed domains, if there is one."""
    if not given.gates.enabled("NodeInclusionPolicyInPodTopologySpread"):
        return ()
    nodes = [node for there in closed.values() for node in there]
    tolerations = template.pod.spec.tolerations or ()
    if all(untolerated(node.spec.taints or (), tolerations) for node in nodes):
        field, there = "nodeTaintsPolicy", held.given.node_taints_policy
    elif all(_reason(node, template) == _EXCLUDED for node in nodes):
        field, there = "nodeAffinityPolicy", held.given.node_affinity_policy
    else:
        return ()
    return (FieldEdit("add" if there is None else "replace", f"{held.path}.{field}", HONOR),)


_OWN = "labelSelector:\n  matchLabels: {app: web}\nmatchLabelKeys: [pod-template-hash]"
_SOFT = constraint(_OWN, when="ScheduleAnyway")
_SOFT_NODES = constraint(_OWN, key=HOSTNAME, when="ScheduleAnyway").removeprefix("topologySpreadConstraints:\n")
_RACKS = constraint(_OWN, key="example.com/rack")
_THREE = "zones=3,nodes=6"
_TAINTED = "zones=3,nodes=6,taint=zone-c:dedicated=batch:NoSchedule"
_GOOD = Example(deployment(constraint(_OWN)), cluster=_THREE)


def _pod(node: int) -> str:
    head = f"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-{node}\n  labels: {{app: web}}\n"
    container = "  containers:\n  - {name: web, image: registry.k8s.io/pause:3.10}\n"
    return f"{head}spec:\n  nodeName: node-{node}\n{container}"


RULES = (
    Rule(
        id="no-node-matches",
        sentence="No node matches the pods' nodeSelector and required node affinity.",
        why="Every pod stays pending until a node gets the labels.",
        link="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodeselector",
        severity="warning",
        check=_no_node_matches,
        wrong=Example(deployment("nodeSelector: {disktype: ssd}"), cluster="nodes=3"),
        right=Example(deployment("nodeSelector: {disktype: ssd}"), cluster="nodes=3,label=disktype=ssd"),
        needs="nodes",
    ),
    Rule(
        id="topology-key-on-no-node",
        sentence="No node has the topologyKey of a hard constraint.",
        why="A hard constraint rejects nodes without the label, so every pod stays pending.",
        link=f"{SPREAD}#implicit-conventions",
        severity="error",
        check=_key_on_no_node,
        wrong=Example(deployment(constraint(_OWN, key="topology.kubernetes.io/rack")), cluster=_THREE),
        right=_GOOD,
        needs="nodes",
    ),
    Rule(
        id="soft-key-on-no-node",
        sentence="No node has the topologyKey of a soft constraint.",
        why="kube-scheduler ignores this constraint when it scores nodes.",
        link=f"{SPREAD}#internal-default-constraints",
        severity="hint",
        check=_soft_key_on_no_node,
        wrong=Example(deployment(_SOFT), cluster="nodes=3"),
        right=Example(deployment(_SOFT), cluster=_THREE),
        needs="nodes",
    ),
    Rule(
        id="soft-key-stops-scoring",
        sentence="No node has the topologyKeys of all soft constraints.",
        why="A node that lacks one key gets no score for the other keys either, so the pods are not spread.",
        link=f"{SPREAD}#internal-default-constraints",
        severity="warning",
        check=_stops_scoring,
        wrong=Example(deployment(_SOFT + _SOFT_NODES), cluster="nodes=3"),
        right=Example(deployment(_SOFT + _SOFT_NODES), cluster=_THREE),
        needs="nodes",
    ),
    Rule(
        id="topology-key-on-some-nodes",
        sentence="Some nodes that the pods may use lack the topologyKey.",
        why="They take no pods of a hard constraint, and their pods are not counted.",
        link=f"{SPREAD}#implicit-conventions",
        severity="warning",
        check=_key_on_some_nodes,
        wrong=Example(deployment(_RACKS), cluster="nodes=3,label=node-1:example.com/rack=r1"),
        right=Example(
            deployment(_RACKS),
            cluster="nodes=3,label=node-1:example.com/rack=r1,label=node-2:example.com/rack=r2,"
            "label=node-3:example.com/rack=r1",
        ),
        needs="nodes",
    ),
    Rule(
        id="min-domains-over-cluster",
        sentence="minDomains is larger than the number of domains in the cluster.",
        why="The minimum then counts as 0: each domain takes maxSkew pods, and further pods wait for a new domain.",
        link=f"{SPREAD}#spread-constraint-definition",
        severity="warning",
        check=_too_few_domains,
        wrong=Example(deployment(constraint(_OWN + "\nminDomains: 5")), cluster=_THREE),
        right=Example(deployment(constraint(_OWN + "\nminDomains: 3")), cluster=_THREE),
        needs="nodes",
        fix="Sets minDomains to the number of domains, unless a pool can add enough domains.",
    ),
    Rule(
        id="replicas-under-domains",
        sentence="There are fewer replicas than domains.",
        why="Some domains have no replica, so their clients are served from other domains.",
        link="https://kubernetes.io/docs/setup/best-practices/multiple-zones/",
        severity="hint",
        check=_fewer_replicas,
        wrong=Example(deployment(constraint(_OWN), replicas=2), cluster=_THREE),
        right=Example(deployment(constraint(_OWN), replicas=3), cluster=_THREE),
        needs="nodes",
    ),
    Rule(
        id="one-domain-in-cluster",
        sentence="All nodes are in one domain of a topologyKey.",
        why="kube-scheduler knows only domains with nodes. Without minDomains the only domain takes every replica.",
        link=_LIMITATIONS,
        severity="hint",
        check=_one_domain,
        wrong=Example(deployment(constraint(_OWN)), cluster="zones=1,nodes=3"),
        right=_GOOD,
        needs="nodes",
    ),
    Rule(
        id="skewed-already",
        sentence="Running pods exceed a hard constraint.",
        why=(
            "kube-scheduler evaluates a constraint when it places a pod. The skew after a scale-down, an outage "
            "or a new zone stays until pods are deleted."
        ),
        link=_LIMITATIONS,
        severity="hint",
        check=_skewed,
        wrong=Example(deployment(constraint(_OWN)) + _pod(1) + _pod(4), cluster=_THREE),
        right=Example(deployment(constraint(_OWN)) + _pod(1) + _pod(2), cluster=_THREE),
        needs="nodes",
    ),
    Rule(
        id="closed-domain-pins-minimum",
        sentence="A hard constraint counts a domain whose nodes take none of the pods.",
        why=(
            "Cordoned and tainted nodes count unless nodeTaintsPolicy is Honor. Their domain keeps the minimum "
            "low. Each other domain takes at most maxSkew pods more, so further pods stay pending."
        ),
        link=_LIMITATIONS,
        severity="warning",
        check=_pinned,
        wrong=Example(deployment(constraint(_OWN)), cluster=_TAINTED),
        right=Example(deployment(constraint(_OWN + "\nnodeTaintsPolicy: Honor")), cluster=_TAINTED),
        needs="nodes",
        fix="Sets nodeTaintsPolicy (or nodeAffinityPolicy) to Honor if that leaves the domain out.",
    ),
)
