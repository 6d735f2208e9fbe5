"""Signatures of pods: kube-scheduler may reuse the scores of a pod for the next pod with an equal signature.

Each plugin adds the pod fields that it reads. A plugin that counts other pods does not sign, so the pod has no
signature.
Source: ``SignPod`` of the plugins, ``computeBatchablePlugins`` in framework.go, kube-scheduler/framework/signers.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from topospread.api.node_selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from topospread.api.pod import Pod, PodSpec
from topospread.cluster import PodClass
from topospread.cluster.objects import ClusterObjects
from topospread.config.version_rules import gated, rules_for, since
from topospread.plugins.dynamic_resources.claims import class_behind
from topospread.plugins.image_locality import normalized_image_name
from topospread.plugins.node_declared_features import NodeDeclaredFeatures

from .framework import Framework

_POINTS = ("pre_filter", "filter", "pre_score", "score")
_VOLUMES = frozenset({"NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone"})
_RESOURCES = frozenset({"NodeResourcesBalancedAllocation", "NodeResourcesFit"})
_TOLERATIONS = frozenset({"NodeUnschedulable", "TaintToleration"})
_OTHERS = ("DynamicResources", "ImageLocality", "InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodeName")
_SIGNING = frozenset({*_VOLUMES, *_RESOURCES, *_TOLERATIONS, *_OTHERS, "NodePorts", "PodTopologySpread"})
"""The plugins that sign pods. A profile with any other filter or score plugin has no batches."""
_NO_SCALARS = frozenset({"cpu", "memory", "ephemeral-storage"})
_ENCODER = msgspec.json.Encoder(enc_hook=repr, order="deterministic")


@dataclass(frozen=True, slots=True)
class SignatureRules:
    """The differences between Kubernetes versions in signatures."""

    in_force: bool = gated("OpportunisticBatching")
    declares_features: bool = gated("NodeDeclaredFeatures")
    extended_resources: bool = gated("DRAExtendedResource")
    by_device_class: bool = since(
        "1.36",
        "With DRAExtendedResource, pods that request no resource of a DeviceClass are batched. Before, no pod was.",
    )


class Signer:
    """Signs the pods of a profile."""

    def __init__(self, framework: Framework, objects: ClusterObjects) -> None:
        self._framework = framework
        self._objects = objects
        self._named = frozenset(name for point in _POINTS for name in framework.profile.enabled(point))
        self._rules = rules_for(SignatureRules, framework.gates)
        self._latest: tuple[Pod | None, Hashable] = (None, None)

    @property
    def signs(self) -> bool:
        """Return whether the profile signs any pods."""
        named, rules, profile = self._named, self._rules, self._framework.profile
        if not rules.in_force or profile.has_extenders or not named <= _SIGNING:
            return False
        if "PodTopologySpread" in named and profile.args.pod_topology_spread.constraints_in_force:
            return False
        if "NodeDeclaredFeatures" in named and not rules.declares_features:
            return False
        return not (named & _RESOURCES and rules.extended_resources and not rules.by_device_class)

    def signature(self, pod: Pod, pod_class: PodClass) -> Hashable:
        """Return the signature of a pod; ``None`` if it has none."""
        if pod_class.may_need_devices and self._needs_devices(pod_class):
            return None
        if pod is not self._latest[0]:
            self._latest = pod, self._signed(pod, pod_class)
        return self._latest[1]

    def _needs_devices(self, pod_class: PodClass) -> bool:
        if pod_class.pod.spec.resource_claims and "DynamicResources" in self._named:
            return True
        if not self._rules.extended_resources or not self._named & _RESOURCES:
            return False
        classes = self._objects.device_classes.values()
        return any(amount and class_behind(name, classes) is not None for name, amount in pod_class.request.items())

    def _signed(self, pod: Pod, pod_class: PodClass) -> Hashable:
        named, spec, affinity = self._named, pod.spec, pod.spec.affinity
        if "PodTopologySpread" in named and spec.topology_spread_constraints:
            return None
        between = affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)
        if "InterPodAffinity" in named and between:
            return None
        parts: list[object] = []
        if "InterPodAffinity" in named and not self._ignores_labels:
            parts.append(pod.metadata.labels)
        if named & _RESOURCES:
            parts.append({n: v for n, v in pod_class.request.items() if v or n not in _NO_SCALARS})
        if named & _VOLUMES:
            mounted = (each for each in spec.volumes or () if each.config_map is None and each.secret is None)
            parts.append(_sorted(replace(each, name="") for each in mounted))
        if named & _TOLERATIONS:
            parts.append(sorted(spec.tolerations or (), key=lambda each: (each.key or "", each.value or "")))
        if "NodePorts" in named:
            parts.append(_host_ports(spec))
        if "NodeName" in named:
            parts.append(pod_class.node_name)
        if "NodeAffinity" in named:
            parts += [_node_affinity(pod), spec.node_selector]
        if "ImageLocality" in named:
            containers = (*(spec.containers or ()), *(spec.init_containers or ()))
            parts.append(sorted({normalized_image_name(each.image or "") for each in containers}))
        if "NodeDeclaredFeatures" in named:
            parts.append(NodeDeclaredFeatures(self._framework.gates.kube_version.minor).needed_by(spec))
        return _ENCODER.encode(parts)

    @property
    def _ignores_labels(self) -> bool:
        return self._framework.profile.args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods


def _sorted(parts: Iterable[object]) -> list[bytes]:
    return sorted(map(_ENCODER.encode, parts))


def _host_ports(spec: PodSpec) -> list[int]:
    containers = (*(spec.containers or ()), *(spec.init_containers or ()))
    return sorted({port.host_port for each in containers for port in each.ports or () if port.host_port})


def _node_affinity(pod: Pod) -> object:
    """Return the required and the preferred terms, each in order; ``None`` without node affinity."""
    node = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if node is None:
        return None
    required = node.required_during_scheduling_ignored_during_execution or NodeSelector()
    preferred = node.preferred_during_scheduling_ignored_during_execution or ()
    weighed = [(each.weight, _term(each.preference or NodeSelectorTerm())) for each in preferred]
    return _sorted(map(_term, required.node_selector_terms or ())), _sorted(weighed)


def _term(term: NodeSelectorTerm) -> object:
    return _requirements(term.match_expressions or ()), _requirements(term.match_fields or ())


def _requirements(requirements: Sequence[NodeSelectorRequirement]) -> list[bytes]:
    return _sorted(replace(each, values=sorted(each.values or ())) for each in requirements)
