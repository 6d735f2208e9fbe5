"""Rules about node labels, which topology keys depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from topospread.api.node import Node
from topospread.api.taints import DO_NOT_SCHEDULE_EFFECTS
from topospread.api.well_known_labels import HOSTNAME, REGION, ZONE
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule
from topospread.text import listed

from .selectors import SPREAD

_LABELS = "https://kubernetes.io/docs/reference/labels-annotations-taints/"
_WELL_KNOWN = (HOSTNAME, ZONE, REGION)
_POOL_KEYS = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/provisioner-name",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "doks.digitalocean.com/node-pool",
    "oke.oraclecloud.com/pool.name",
    "k8s.scaleway.com/pool-name",
    "node.openshift.io/machine-set",
    "kops.k8s.io/instancegroup",
)
_POOL_ENDINGS = ("pool", "nodegroup", "node-group")
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_NAMED = 3


def _nodes(given: LintInput) -> list[tuple[Manifest, Node]]:
    """Return the linted nodes, without those of ``--on``."""
    return [(each, each.item) for each in given.of_kind("Node") if isinstance(each.item, Node)]


def named(nodes: Iterable[Node]) -> str:
    """Return the first few node names, and the number of other nodes."""
    return listed([each.name for each in nodes], _NAMED)


def label_path(key: str) -> str:
    """Return the path of a node label."""
    return f"metadata.labels[{key}]"


def _zone_in_regions(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    first: dict[str, Node] = {}
    for manifest, node in _nodes(given):
        zone, region = node.labels.get(ZONE), node.labels.get(REGION)
        if zone is None or region is None:
            continue
        other = first.setdefault(zone, node)
        theirs = other.labels[REGION]
        if theirs != region:
            message = f"zone {zone} is in region {region} here and in {theirs} on {other.name}"
            yield manifest, Problem(label_path(ZONE), message)


def _shared_hostname(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    first: dict[str, str] = {}
    for manifest, node in _nodes(given):
        hostname = node.labels.get(HOSTNAME)
        if hostname is not None and first.setdefault(hostname, node.name) != node.name:
            message = f"{hostname} is the hostname of {first[hostname]} too: both count as one domain"
            yield manifest, Problem(label_path(HOSTNAME), message)


def _hostname_unlike_name(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, node in _nodes(given):
        hostname = node.labels.get(HOSTNAME)
        if hostname is None or hostname.lower() == node.name.lower():
            continue
        longer, shorter = sorted((hostname.lower(), node.name.lower()), key=len, reverse=True)
        if not longer.startswith(f"{shorter}."):
            yield manifest, Problem(label_path(HOSTNAME), f"the hostname {hostname} is not the node's name {node.name}")


def topology_keys(given: LintInput) -> list[str]:
    """Return the relevant topology keys: the well-known ones and those of constraints."""
    own = (each.topology_key for _, pods in given.sources for _, each in pods.constraints())
    return list(dict.fromkeys((*_WELL_KNOWN, *(key for key in own if key))))


def _labelled_in_part(given: LintInput, key: str) -> dict[str, str]:
    """Return the nodes that lack a key which other nodes of their pool have, each with its pool."""
    pools = {
        node.name: {
            f"{key}={value}"
            for key, value in node.labels.items()
            if key in _POOL_KEYS or key.rpartition("/")[2].lower().endswith(_POOL_ENDINGS)
        }
        for node in given.nodes
    }
    labelled = {pool for node in given.nodes if key in node.labels for pool in pools[node.name]}
    found = {}
    for node in given.nodes:
        both = sorted(pools[node.name] & labelled) if key not in node.labels else ()
        if both:
            found[node.name] = both[0]
    return found


def _pool_in_part(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    nodes = _nodes(given)
    for key in topology_keys(given) if nodes else ():
        pool_of = _labelled_in_part(given, key)
        for manifest, node in nodes:
            if node.name in pool_of:
                message = f"no label {key}, which other nodes of {pool_of[node.name]} have{misspelt(node, key)}"
                yield manifest, Problem("metadata.labels", message)


def _lacks_key(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    nodes = _nodes(given)
    for key in topology_keys(given) if nodes else ():
        with_key = sum(key in node.labels for node in given.nodes)
        if not with_key:
            continue
        in_part = _labelled_in_part(given, key)
        for manifest, node in nodes:
            if key not in node.labels and node.name not in in_part and not _set_apart(node):
                message = f"no label {key}, which {with_key} of {len(given.nodes)} nodes have{misspelt(node, key)}"
                yield manifest, Problem("metadata.labels", message)


def _set_apart(node: Node) -> bool:
    """Return whether a taint keeps ordinary pods off the node."""
    taints = node.spec.taints or ()
    return any(role in node.labels for role in _CONTROL_PLANE) or any(
        taint.effect in DO_NOT_SCHEDULE_EFFECTS for taint in taints
    )


def misspelt(node: Node, key: str) -> str:
    """Return a similar label of the node in brackets, as a hint; "" without one."""
    names = {label.rpartition("/")[2]: label for label in node.labels if label != key}
    close = get_close_matches(key.rpartition("/")[2], names, 1, cutoff=0.6)
    return f" (is {names[close[0]]} meant?)" if close else ""


def _node(name: str, labels: str, *, hostname: str = "") -> str:
    own = f"kubernetes.io/hostname: {hostname or name}"
    head = f"---\napiVersion: v1\nkind: Node\nmetadata:\n  name: {name}\n  labels:\n    {own}\n"
    more = "".join(f"    {line}\n" for line in labels.splitlines())
    return f'{head}{more}status:\n  allocatable: {{cpu: "4", memory: 8Gi, pods: "110"}}\n'


_A, _B = f"{ZONE}: zone-a", f"{ZONE}: zone-b"
_EAST, _WEST = f"{REGION}: east\n", f"{REGION}: west\n"
_GOOD = Example(_node("node-1", _A) + _node("node-2", _B))

RULES = (
    Rule(
        id="zone-in-two-regions",
        sentence="A zone is in two regions.",
        why=(
            "Kubernetes expects a zone name in one region only. Nodes of two places count as one domain, and "
            "volumes are bound in the wrong one."
        ),
        link=f"{_LABELS}#topologykubernetesiozone",
        severity="warning",
        check=_zone_in_regions,
        wrong=Example(_node("node-1", _EAST + _A) + _node("node-2", _WEST + _A)),
        right=Example(_node("node-1", _EAST + _A) + _node("node-2", _WEST + _B)),
    ),
    Rule(
        id="hostname-shared",
        sentence="Several nodes have the same hostname label.",
        why=(
            "A constraint over kubernetes.io/hostname counts them as one domain, so replicas are counted "
            "together or rejected."
        ),
        link=f"{_LABELS}#kubernetesiohostname",
        severity="warning",
        check=_shared_hostname,
        wrong=Example(_node("node-1", _A) + _node("node-2", _A, hostname="node-1")),
        right=_GOOD,
    ),
    Rule(
        id="hostname-unlike-name",
        sentence="A node's hostname label is not its name.",
        why="Volumes and selectors that use the name find no node. Some clouds name nodes like this on purpose.",
        link=f"{_LABELS}#kubernetesiohostname",
        severity="hint",
        check=_hostname_unlike_name,
        wrong=Example(_node("node-1", _A, hostname="localhost")),
        right=_GOOD,
    ),
    Rule(
        id="pool-labelled-in-part",
        sentence="Some nodes of a pool lack a topology key.",
        why="Nodes without the key take no pods of a hard constraint, and their pods are not counted.",
        link=f"{SPREAD}#node-labels",
        severity="warning",
        check=_pool_in_part,
        wrong=Example(_node("node-1", f"pool: web\n{_A}") + _node("node-2", "pool: web")),
        right=Example(_node("node-1", f"pool: web\n{_A}") + _node("node-2", f"pool: web\n{_B}")),
    ),
    Rule(
        id="node-lacks-key",
        sentence="Some nodes that take any pod lack a topology key.",
        why=(
            "They take no pods of a hard constraint, and their pods are not counted. The built-in default "
            "constraints expect both hostname and zone."
        ),
        link=f"{SPREAD}#internal-default-constraints",
        severity="warning",
        check=_lacks_key,
        wrong=Example(_node("node-1", _A) + _node("node-2", "zone: zone-b")),
        right=_GOOD,
    ),
)
