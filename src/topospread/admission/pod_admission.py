"""Admission of a pod before kube-scheduler sees it: defaults and the admission plugins that are on.

The steps are in the API server's order: defaulting, LimitRanger, Priority, DefaultTolerationSeconds, RuntimeClass, then
the fields that the API server adds when it stores the pod. `new_pods` refuses pods, and `quotas` checks quotas.
Webhooks and ExtendedResourceToleration (off by default) are not modelled. Sources:
plugin/pkg/admission/{limitranger,priority,defaulttolerationseconds,runtimeclass},
pkg/kubeapiserver/options/plugins.go, pkg/registry/core/pod/strategy.go.

All functions are idempotent. They do not change their arguments; results share unchanged parts with the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.meta import ResourceList
from topospread.api.pod import Container, Pod, PodSpec, ResourceRequirements
from topospread.api.pod_groups import PodGroup
from topospread.api.policy import LimitRange, LimitRangeItem, PriorityClass
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.api.validation.field import Named, not_supported
from topospread.config.gates import Gates
from topospread.config.versions import KubeVersion
from topospread.errors import InvalidError, Place

from .defaults import rounded, with_defaults, with_defaults_after_admission
from .label_keys import invalid_label_keys, reads_own_labels, with_label_keys_merged
from .tolerations import merged_tolerations, with_default_toleration_seconds

SYSTEM_PRIORITY_CLASSES: Mapping[str, int] = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
"""PriorityClass → priority, for classes that every cluster has (pkg/apis/scheduling/v1/helpers.go)."""

_COMPARISON_SINCE = KubeVersion(1, 35)
_PREEMPTS = "PreemptLowerPriority"
_ENCODER = msgspec.json.Encoder(enc_hook=str)


class _Refusal(Exception):  # noqa: N818 it never leaves this module
    """The denial of a pod by an admission plugin: the field and the API server's message."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(message)


class _Class(msgspec.Struct, frozen=True):
    """The values that a PriorityClass gives a pod."""

    name: str
    value: int
    preemption_policy: str


class Admission:
    """The API server's admission of pods, with the objects of one inventory and the gates of one version.

    Attributes:
        made_invalid: whether merging label keys made any admitted pod invalid; `new_pods` denies such pods.
        warnings: distinct sentences about pods that are admitted here although the API server would deny them.
    """

    def __init__(self, inventory: Inventory, gates: Gates) -> None:
        self.made_invalid = False
        self.warnings: dict[str, None] = {}
        self._gates = gates
        self._inventory = inventory
        self._container_defaults: dict[str, list[ResourceRequirements]] = {}
        for limit_range in inventory.limit_ranges:
            defaults = container_defaults(limit_range)
            if defaults.requests or defaults.limits:
                self._container_defaults.setdefault(limit_range.namespace or "default", []).append(defaults)
        self._classes = {name: _Class(name, value, _PREEMPTS) for name, value in SYSTEM_PRIORITY_CLASSES.items()}
        self._classes |= {each.name: _class(each) for each in inventory.priority_classes}
        self._default_class = _default_class(inventory.priority_classes)
        self._learnt_classes: dict[str, _Class] | None = None
        self._runtime_classes = {each.name: each for each in inventory.runtime_classes}
        self._admitted: dict[tuple[object, ...], PodSpec | None] = {}

    def admit(self, pod: Pod, place: Place | None = None, path: str = "", *, lenient: bool = False) -> Pod:
        """Return the pod as kube-scheduler receives it; the same object if nothing is added.

        A pod that the API server has stored is returned without changes.

        Args:
            pod: a pod with namespace and labels; the name is optional.
            place: place of the pod, or of its workload, in the input.
            path: path of the pod in the object at ``place``, ``spec.template.``; empty for a Pod itself.
            lenient: whether to admit the pod despite errors, because it already exists.

        Raises:
            InvalidError: if the API server would refuse the pod, in its words.
        """
        if is_stored(pod):
            return pod
        node_name = pod.spec.node_name
        anywhere = replace(pod, spec=replace(pod.spec, node_name=None)) if node_name else pod
        labels = anywhere.labels
        own = tuple((key, labels.get(key)) for key in reads_own_labels(anywhere.spec))
        key = (anywhere.namespace, _ENCODER.encode(anywhere.spec), own, lenient, bool(path))
        if key not in self._admitted:
            try:
                spec = self._admit(anywhere, lenient, made=bool(path))
            except _Refusal as denied:
                where = (place or Place()).at(path + denied.field)
                raise InvalidError([status_message(pod, denied.message)], where) from None
            except QuantityError as error:
                raise InvalidError([str(error)], (place or Place()).at("")) from None
            self._admitted[key] = None if spec == anywhere.spec else spec
        admitted = self._admitted[key]
        if admitted is None:
            return pod
        return replace(pod, spec=replace(admitted, node_name=node_name) if node_name else admitted)

    def _admit(self, pod: Pod, lenient: bool, *, made: bool) -> PodSpec:
        if not lenient:
            _refuse_comparison_operators(pod.spec, self._gates)
        spec = with_defaults(pod.spec, self._gates)
        for defaults in self._container_defaults.get(pod.namespace or "default", ()):
            spec = _with_container_defaults(spec, defaults)
        spec = self._with_priority(spec, lenient, made=made)
        spec = with_default_toleration_seconds(spec)
        spec = self._with_runtime_class(spec, lenient)
        spec = with_label_keys_merged(spec, pod.labels, self._gates)
        self.made_invalid |= any(invalid_label_keys(spec, self._gates))
        return with_defaults_after_admission(spec, self._gates)

    def admit_group(self, group: PodGroup) -> PodGroup:
        """Return a PodGroup with the priority and preemption policy of its PriorityClass."""
        spec = group.spec
        if spec.priority is not None:
            return group
        found = self._class_of(PodSpec(priority_class_name=spec.priority_class_name), lenient=True)
        policy = spec.preemption_policy or found.preemption_policy
        return replace(group, spec=replace(spec, priority=found.value, preemption_policy=policy))

    def _with_priority(self, spec: PodSpec, lenient: bool, *, made: bool) -> PodSpec:
        found = self._class_of(spec, lenient)
        priority, policy = spec.priority, spec.preemption_policy
        refusals: dict[str, str] = {}
        if priority is not None and priority != found.value:
            refusals["spec.priority"] = (
                f"the integer value of priority ({priority}) must not be provided in pod spec; priority admission "
                f"controller computed {found.value} from the given PriorityClass name"
            )
        if policy and policy != found.preemption_policy:
            refusals["spec.preemptionPolicy"] = (
                f"the string value of PreemptionPolicy ({policy}) must not be provided in pod spec; priority "
                f"admission controller computed {found.preemption_policy} from the given PriorityClass name"
            )
        for field, words in refusals.items():
            # Users give a bare Pod a priority without a class to try out its effect, so only warn about it.
            only_warn = lenient or not (made or spec.priority_class_name)
            self._refuse(field, words, only_warn=only_warn, silent=lenient)
        name = spec.priority_class_name or ("" if refusals else found.name) or None
        priority = found.value if priority is None else priority
        policy = policy or found.preemption_policy
        if (name, priority, policy) == (spec.priority_class_name, spec.priority, spec.preemption_policy):
            return spec
        return replace(spec, priority_class_name=name, priority=priority, preemption_policy=policy)

    def _class_of(self, spec: PodSpec, lenient: bool) -> _Class:
        """Return the values of the pod's PriorityClass, of the default class without one."""
        name = spec.priority_class_name
        if not name:
            return self._default_class
        found = self._classes.get(name) or self._learnt(name)
        if found is not None:
            return found
        if spec.priority is None and not lenient:
            message = f"no PriorityClass with name {name} was found"
            raise _Refusal("spec.priorityClassName", message)
        if not lenient:
            self.warnings[f"no PriorityClass with name {name} was found: pods keep their own priority"] = None
        return _Class(name, spec.priority or 0, spec.preemption_policy or _PREEMPTS)

    def _learnt(self, name: str) -> _Class | None:
        """Return the values of a PriorityClass that is missing from the input, as its stored pods have them."""
        if self._learnt_classes is None:
            self._learnt_classes = {}
            for pod in self._inventory.pods:
                spec = pod.spec
                if is_stored(pod) and spec.priority_class_name and spec.priority is not None:
                    learnt = _Class(spec.priority_class_name, spec.priority, spec.preemption_policy or _PREEMPTS)
                    self._learnt_classes.setdefault(learnt.name, learnt)
        return self._learnt_classes.get(name)

    def _with_runtime_class(self, spec: PodSpec, lenient: bool) -> PodSpec:
        name = spec.runtime_class_name
        runtime_class = self._runtime_classes.get(name) if name else None
        if name and runtime_class is None:
            words = f'pod rejected: RuntimeClass "{name}" not found'
            self._refuse("spec.runtimeClassName", words, only_warn=lenient, silent=lenient)
            return spec
        fixed = rounded(runtime_class.overhead.pod_fixed) if runtime_class and runtime_class.overhead else None
        if spec.overhead and fixed is None:
            words = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            self._refuse("spec.overhead", words, only_warn=True, silent=lenient)
        elif spec.overhead and not _same_amounts(fixed, spec.overhead):
            words = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            self._refuse("spec.overhead", words, only_warn=lenient, silent=lenient)
        elif fixed and not spec.overhead:
            spec = replace(spec, overhead=dict(fixed))
        scheduling = runtime_class.scheduling if runtime_class else None
        if scheduling is None:
            return spec
        selector = dict(spec.node_selector or {})
        for key, value in (scheduling.node_selector or {}).items():
            if selector.setdefault(key, value) != value:
                words = (
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {selector[key]}"
                )
                self._refuse("spec.nodeSelector", words, only_warn=lenient, silent=lenient)
        tolerations = merged_tolerations(spec.tolerations or [], scheduling.tolerations or [])
        if selector == (spec.node_selector or {}) and tolerations == (spec.tolerations or []):
            return spec
        return replace(spec, node_selector=selector or None, tolerations=tolerations or None)

    def _refuse(self, field: str, message: str, *, only_warn: bool, silent: bool = False) -> None:
        if not only_warn:
            raise _Refusal(field, message)
        if not silent:
            self.warnings[f"the API server would refuse {field}: {message}; topospread accepts it"] = None


def _refuse_comparison_operators(spec: PodSpec, gates: Gates) -> None:
    """Raise _Refusal for tolerations with the operator Lt or Gt if their gate is off."""
    if gates.enabled("TaintTolerationComparisonOperators"):
        return
    known = ("Equal", "Exists", "Lt", "Gt") if gates.kube_version >= _COMPARISON_SINCE else ("Equal", "Exists")
    for index, toleration in enumerate(spec.tolerations or ()):
        if toleration.operator in ("Lt", "Gt"):
            field = f"spec.tolerations[{index}].operator"
            raise _Refusal(field, not_supported(field, Named(toleration.operator), known).message)


def status_message(pod: Pod, words: str, *, is_invalid: bool = False) -> str:
    """Return the message of the API server's response; ``…`` is the random suffix of a generated name."""
    name = pod.name or (pod.metadata.generate_name or "") + "…"
    return f'Pod "{name}" is invalid: {words}' if is_invalid else f'pods "{name}" is forbidden: {words}'


def is_stored(pod: Pod) -> bool:
    """Return whether an API server stored the pod.

    Such a pod has a uid or resourceVersion. It also has a schedulerName, which manifests rarely set and API servers
    always set.
    """
    return pod.metadata.is_stored and bool(pod.spec.scheduler_name)


def _class(each: PriorityClass) -> _Class:
    return _Class(each.name, each.value, each.preemption_policy or _PREEMPTS)


def _default_class(classes: Iterable[PriorityClass]) -> _Class:
    """Return the globalDefault class; of several, the one with the lowest value; without one, priority 0."""
    defaults = [each for each in classes if each.global_default]
    return _class(min(defaults, key=lambda each: each.value)) if defaults else _Class("", 0, _PREEMPTS)


def container_defaults(limit_range: LimitRange) -> ResourceRequirements:
    """Return a LimitRange's default limits and requests for containers without their own.

    An unset default limit is the maximum. An unset default request is the default limit, or else the minimum. Source:
    ``SetDefaults_LimitRangeItem``, ``defaultContainerResourceRequirements``.
    """
    requests: ResourceList = {}
    limits: ResourceList = {}
    for item in limit_range.spec.limits or ():
        if item.type == "Container":
            item_limits, item_requests = _item_defaults(item)
            limits |= item_limits
            requests |= item_requests
    return ResourceRequirements(requests=rounded(requests), limits=rounded(limits))


def _item_defaults(item: LimitRangeItem) -> tuple[ResourceList, ResourceList]:
    limits = {**(item.max or {}), **(item.default or {})}
    requests = {**(item.min or {}), **limits, **(item.default_request or {})}
    return limits, requests


def _with_container_defaults(spec: PodSpec, defaults: ResourceRequirements) -> PodSpec:
    containers = [_with_resources(each, defaults) for each in spec.containers or ()]
    init_containers = [_with_resources(each, defaults) for each in spec.init_containers or ()]
    if containers == (spec.containers or []) and init_containers == (spec.init_containers or []):
        return spec
    return replace(spec, containers=containers, init_containers=init_containers or None)


def _with_resources(container: Container, defaults: ResourceRequirements) -> Container:
    resources = container.resources or ResourceRequirements()
    requests = {**(defaults.requests or {}), **(resources.requests or {})}
    limits = {**(defaults.limits or {}), **(resources.limits or {})}
    if requests == (resources.requests or {}) and limits == (resources.limits or {}):
        return container
    return replace(container, resources=replace(resources, requests=requests or None, limits=limits or None))


def _same_amounts(left: ResourceList | None, right: ResourceList | None) -> bool:
    first, second = ({n: parse_quantity(q or 0) for n, q in (each or {}).items()} for each in (left, right))
    return first == second
