"""Evaluate a template's constraints on the given nodes: domains and usable nodes.

Each template is evaluated alone, with the nodes and the pods that are already on them.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from topospread.admission.pod_admission import Admission
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.spread import TopologySpreadConstraint
from topospread.api.taints import UNSCHEDULABLE_TAINT, untolerated
from topospread.api.workload import DaemonSet
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration
from topospread.config.profile import Configuration
from topospread.config.request_rules import request_rules
from topospread.errors import InputError
from topospread.lint.pod_source import keeping_apart
from topospread.plugins.interface import PluginError
from topospread.plugins.node_inclusion import Inclusion
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, spread_arithmetic
from topospread.scheduling.framework import Framework
from topospread.simulation.hypothetical_domains import grow_each
from topospread.simulation.run import as_served

from .lint_input import LintInput, Manifest, once_per_input
from .pod_source import PodSource


class ConstraintOnNodes(msgspec.Struct, frozen=True, eq=False):
    """One constraint of a template, evaluated on the nodes.

    Attributes:
        path: path of the constraint in the object.
        given: the constraint as written.
        counts: the engine's counts for the nodes.
        grown: the engine's counts with one more node of each pool; None without pools.
    """

    path: str
    given: TopologySpreadConstraint
    counts: ConstraintArithmetic
    grown: ConstraintArithmetic | None = None


class TemplateOnNodes(msgspec.Struct, frozen=True, eq=False):
    """A template, evaluated on the nodes.

    Attributes:
        cluster: the nodes and their pods.
        pod: one of the template's pods, after admission.
        constraints: its constraints.
        selected: nodes that match nodeSelector and node affinity, bool[rows].
        open: the selected nodes that are not cordoned and have no untolerated taint, bool[rows].
    """

    manifest: Manifest
    pods: PodSource
    cluster: Cluster
    pod: Pod
    constraints: tuple[ConstraintOnNodes, ...]
    selected: Bools
    open: Bools

    def nodes(self, which: Bools) -> list[Node]:
        """Return the nodes of a row mask."""
        nodes = self.cluster.nodes.nodes
        return [node for row in np.flatnonzero(which).tolist() if (node := nodes[row]) is not None]

    def having(self, key: str) -> Bools:
        """Return the nodes with a label, bool[rows]."""
        table = self.cluster.nodes
        return np.asarray(table.labels(key).codes[: table.size] >= 0)

    def values(self, key: str, which: Bools) -> dict[str, list[Node]]:
        """Return value of a label → nodes with this value."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes(which & self.having(key)):
            found.setdefault(node.labels[key], []).append(node)
        return found


@once_per_input
def templates_on_nodes(given: LintInput) -> list[TemplateOnNodes]:
    """Return every template with constraints or self-anti-affinity that kube-scheduler places. Cached."""
    return list(_all(given, cluster_of(given))) if given.nodes else []


def _new_cluster(given: LintInput) -> Cluster:
    """Return a new cluster with the given nodes and their pods."""
    cluster = Cluster(request_rules(given.gates))
    for node in given.nodes:
        cluster.add_node(as_served(node))
    for pod in given.inventory.pods:
        if pod.spec.node_name:
            cluster.add_pod(pod)
    return cluster


cluster_of = once_per_input(_new_cluster)
"""The cluster with the given nodes and their pods, shared by all rules. Each rule undoes its trial placements."""


@once_per_input
def grown_cluster(given: LintInput) -> Cluster:
    """Return the cluster with one more node of each pool."""
    if not given.pools:
        return cluster_of(given)
    cluster = _new_cluster(given)
    grow_each(cluster, given.pools)
    return cluster


def configuration_of(given: LintInput) -> Configuration:
    """Return the given scheduler configuration, or the default one."""
    return given.configuration or default_configuration(given.version, given.gates)


def frameworks_of(given: LintInput) -> dict[str, Framework]:
    """Return scheduler name → plugins of its profile."""
    profiles = configuration_of(given).profiles
    return {profile.scheduler_name: Framework(profile, given.gates) for profile in profiles}


def _all(given: LintInput, cluster: Cluster) -> Iterator[TemplateOnNodes]:
    admission = Admission(given.inventory, gates_for(given.version, component="apiserver"))
    frameworks = frameworks_of(given)
    larger = grown_cluster(given) if given.pools else None
    for manifest, pods in given.sources:
        spread = pods.spec.topology_spread_constraints or any(True for _ in keeping_apart(pods))
        if manifest.refused or not spread or pods.spec.node_name:
            continue
        if isinstance(pods.item, DaemonSet):
            continue
        framework = frameworks.get(pods.spec.scheduler_name or "default-scheduler")
        plugin = framework.plugins.get("PodTopologySpread") if framework is not None else None
        if not isinstance(plugin, PodTopologySpread):
            continue
        metadata = ObjectMeta(namespace=pods.item.namespace, labels=pods.labels)
        try:
            pod = admission.admit(Pod(metadata=metadata, spec=pods.spec), lenient=True)
            pod_class = PodClass(
                -1, pod, "", cluster.rules
            )  # never placed, so the class is not registered in the cluster
            counts = {each.position: each for each in spread_arithmetic(plugin, pod_class, cluster)}
            grown = () if larger is None else spread_arithmetic(plugin, pod_class, larger)
        except (InputError, PluginError):
            continue  # The rule `validation` reports the error.
        then = {each.position: each for each in grown}
        held = [
            ConstraintOnNodes(path, each, counts[position], then.get(position))
            for position, (path, each) in enumerate(pods.constraints())
            if position in counts
        ]
        yield TemplateOnNodes(manifest, pods, cluster, pod, tuple(held), *_where(pod_class, cluster, given))


def _where(pod_class: PodClass, cluster: Cluster, given: LintInput) -> tuple[Bools, Bools]:
    """Return the nodes that the pod's selectors allow, and the subset that is open to it."""
    table = cluster.nodes
    everything = slice(0, table.size)
    operators = given.gates.enabled("TaintTolerationComparisonOperators")
    inclusion = Inclusion(pod_class, table, operators)
    selected = inclusion(everything, honors_affinity=True, honors_taints=False)
    admitted = selected & inclusion.tolerated(everything)
    tolerations = pod_class.pod.spec.tolerations or ()
    if untolerated([UNSCHEDULABLE_TAINT], tolerations, comparison_operators=operators):
        admitted &= ~table.unschedulable[everything]
    return selected, admitted
