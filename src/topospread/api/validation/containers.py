"""Containers of all kinds, their probes, mounts and devices, as the API server checks them.

Source: validateContainers, validateInitContainers, validateEphemeralContainers and what they call in
pkg/apis/core/validation/validation.go (Kubernetes 1.37 with its default feature gates).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from . import names
from .environment import check_environment, check_environment_sources
from .field import (
    FieldError,
    Named,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    one_of,
    required,
    too_many,
)
from .names import check_descending, check_no_backsteps
from .resources import check_container_resources
from .rules import check_fields
from .security import check_container_security

# The API server's validation of volume mounts and devices of containers.
# Source: ValidateVolumeMounts, ValidateVolumeDevices and what they call in pkg/apis/core/validation/validation.go.


def check_mounts(path: str, container: Json, volumes: Mapping[str, Json]) -> Iterator[FieldError]:
    """Check ``volumeMounts``. ``volumes``: name → valid volume of the pod."""
    devices = {each.get("name", ""): each.get("devicePath", "") for each in container.get("volumeDevices", ())}
    mounted: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        inner = f"{path}[{index}]"
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{inner}.name")
        if name not in volumes:
            yield not_found(f"{inner}.name", name)
        if not target:
            yield required(f"{inner}.mountPath")
        if target in mounted:
            yield invalid(f"{inner}.mountPath", target, "must be unique")
        mounted.add(target)
        if name in devices:
            yield invalid(f"{inner}.name", name, "must not already exist in volumeDevices")
        if target in devices.values():
            yield invalid(f"{inner}.mountPath", target, "must not already exist as a path in volumeDevices")
        # In errors about a mount's path, mode or propagation, the API server omits the mount's index.
        sub_path, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
        if sub_path:
            yield from check_descending(f"{path}.subPath", sub_path)
        if expression:
            if sub_path:
                yield invalid(f"{inner}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
            yield from check_descending(f"{path}.subPathExpr", expression)
        yield from _check_options(path, mount, privileged=bool(container.get("securityContext", {}).get("privileged")))


def _check_options(path: str, mount: Json, *, privileged: bool) -> Iterator[FieldError]:
    propagation, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    yield from check_fields(path, "VolumeMount", mount)
    if propagation == "Bidirectional" and not privileged:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(f"{path}.mountPropagation", detail)
    field = f"{path}.recursiveReadOnly"
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield forbidden(field, "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield forbidden(field, "may only be specified when mountPropagation is None or not specified")


def check_devices(path: str, container: Json, volumes: Mapping[str, Json]) -> Iterator[FieldError]:
    """Check ``volumeDevices``. ``volumes``: name → valid volume of the pod."""
    mounts = {each.get("name", ""): each.get("mountPath", "") for each in container.get("volumeMounts", ())}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices", ())):
        inner = f"{path}[{index}]"
        name, target = device.get("name", ""), device.get("devicePath", "")
        yield from _check_device(inner, device, volumes)
        if name in names:
            yield invalid(f"{inner}.name", name, "must be unique")
        if target in paths:
            yield invalid(f"{inner}.devicePath", target, "must be unique")
        if target and any(check_no_backsteps(inner, target)):
            yield invalid(f"{inner}.devicePath", target, "can not contain backsteps ('..')")
        else:
            paths.add(target)
        if name in mounts:
            yield invalid(f"{inner}.name", name, "must not already exist in volumeMounts")
        if target in mounts.values():
            yield invalid(f"{inner}.devicePath", target, "must not already exist as a path in volumeMounts")
        if name:
            names.add(name)


def _check_device(path: str, device: Json, volumes: Mapping[str, Json]) -> Iterator[FieldError]:
    name, volume = device.get("name", ""), volumes.get(device.get("name", ""))
    if not name:
        yield required(f"{path}.name")
    if volume is None:
        yield not_found(f"{path}.name", name)
    elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
        detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid(f"{path}.name", name, detail)
    if not device.get("devicePath"):
        yield required(f"{path}.devicePath")


# Probes and lifecycle handlers of containers as the API server checks them.
# Source: validateProbe, validateHandler, validateLifecycle and what they call in
# pkg/apis/core/validation/validation.go.

_PROBE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
_LIFECYCLE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "sleep")


def check_probes(path: str, container: Json, grace_period: int | None) -> Iterator[FieldError]:
    """Check liveness, readiness and startup probe of a container."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is None:
            continue
        inner = f"{path}.{name}"
        yield from _check_probe(inner, probe, grace_period)
        grace = probe.get("terminationGracePeriodSeconds")
        if name == "readinessProbe":
            if grace is not None:
                yield invalid(f"{inner}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
        elif probe["successThreshold"] != 1:
            yield invalid(f"{inner}.successThreshold", probe["successThreshold"], "must be 1")


def _check_probe(path: str, probe: Json, grace_period: int | None) -> Iterator[FieldError]:
    yield from _check_handler(path, probe, _PROBE_HANDLERS, grace_period)
    yield from check_fields(path, "Probe", probe)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")


def check_lifecycle(path: str, lifecycle: Json, grace_period: int | None) -> Iterator[FieldError]:
    """Check postStart and preStop of a container."""
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            yield from _check_handler(f"{path}.{name}", lifecycle[name], _LIFECYCLE_HANDLERS, grace_period)


def _check_handler(path: str, handler: Json, kinds: tuple[str, ...], grace_period: int | None) -> Iterator[FieldError]:
    given = [kind for kind in kinds if kind in handler]
    if not given:
        yield required(path, "must specify a handler type")
        return
    for kind in given[1:]:
        yield forbidden(f"{path}.{kind}", "may not specify more than 1 handler type")
    inner, action = f"{path}.{given[0]}", handler[given[0]]
    if given[0] == "exec":
        yield from check_fields(inner, "ExecAction", action)
    elif given[0] == "httpGet":
        yield from _check_port(f"{inner}.port", action.get("port", 0))
        yield from check_fields(inner, "HTTPGetAction", action)
        for header in action.get("httpHeaders", ()):
            name = header.get("name", "")
            yield from all_invalid(f"{inner}.httpHeaders", name, names.http_header(name))
    elif given[0] == "sleep":
        seconds = action.get("seconds", 0)
        if grace_period is not None and not 0 <= seconds <= grace_period:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_period})"
            yield invalid(inner, seconds, detail)
    else:
        yield from _check_port(f"{inner}.port", action.get("port", 0))


def _check_port(path: str, port: int | str) -> Iterator[FieldError]:
    reasons = names.port_number(port) if isinstance(port, int) else names.port_name(port)
    yield from all_invalid(path, port, reasons)


Json = dict[str, Any]

_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS: Final = ("Restart", "RestartAllContainers")
_RULES_ALONE: Final = "must specify restartPolicy when restart rules are used"
_ONLY_SIDECARS: Final = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


class PodContext(msgspec.Struct, frozen=True):
    """The parts of the pod that its containers' validation depends on.

    Attributes:
        spec: the pod's spec, decoded and defaulted.
        volumes: name → valid volume of the pod.
        claims: names in the pod's resourceClaims.
        allow_privileged: whether the cluster allows privileged containers.
    """

    spec: Json
    volumes: Mapping[str, Json]
    claims: Sequence[str]
    allow_privileged: bool

    @property
    def grace_period(self) -> int | None:
        """``terminationGracePeriodSeconds``."""
        seconds: int | None = self.spec.get("terminationGracePeriodSeconds")
        return seconds

    @property
    def host_users(self) -> bool:
        """True if the containers use the node's user namespace, which is the default."""
        return bool(self.spec.get("hostUsers", True))


def check_containers(path: str, pod: PodContext) -> Iterator[FieldError]:
    """Check ``containers``; ``path`` is the list's path."""
    containers = pod.spec.get("containers", ())
    if not containers:
        yield required(path)
    seen: set[str] = set()
    for index, container in enumerate(containers):
        inner = f"{path}[{index}]"
        yield from _check_common(inner, container, pod)
        name = container.get("name", "")
        if name in seen:
            yield duplicate(f"{inner}.name", name)
        seen.add(name)
        yield from _check_handlers(inner, container, pod)
        yield from _check_restart_policy(inner, container)
    yield from _check_host_ports(path, containers)


def check_init_containers(path: str, pod: PodContext) -> Iterator[FieldError]:
    """Check ``initContainers``; ``path`` is the list's path."""
    seen = {container.get("name", "") for container in pod.spec.get("containers", ())}
    for index, container in enumerate(pod.spec.get("initContainers", ())):
        inner = f"{path}[{index}]"
        yield from _check_common(inner, container, pod)
        if "restartPolicy" in container:
            yield from _check_restart_policy(inner, container)
        elif container.get("restartPolicyRules"):
            yield required(f"{inner}.restartPolicy", _RULES_ALONE)
        name = container.get("name", "")
        if name in seen:
            yield duplicate(f"{inner}.name", name)
        elif name:
            seen.add(name)
        # Init containers run one at a time, so check each alone. The API server's path then always has index 0.
        yield from _check_host_ports(path, [container])
        if container.get("restartPolicy") == "Always":
            yield from _check_handlers(inner, container, pod)
            continue
        for field in _ONLY_SIDECARS:
            if field in container:
                yield forbidden(f"{inner}.{field}", "may not be set for init containers without restartPolicy=Always")
        for position, policy in enumerate(container.get("resizePolicy", ())):
            if policy.get("restartPolicy") == "RestartContainer":
                detail = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                field = f"{inner}.resizePolicy[{position}].restartPolicy"
                yield invalid(field, Named(policy["restartPolicy"]), detail)


def check_ephemeral_containers(path: str, pod: PodContext) -> Iterator[FieldError]:
    """Check ``ephemeralContainers``; ``path`` is the list's path."""
    others = {each.get("name", "") for kind in ("containers", "initContainers") for each in pod.spec.get(kind, ())}
    seen = set(others)
    for index, container in enumerate(pod.spec.get("ephemeralContainers", ())):
        inner = f"{path}[{index}]"
        yield from _check_common(inner, container, pod)
        yield from check_image_padding(inner, container)
        name, target = container.get("name", ""), container.get("targetContainerName", "")
        if name in seen:
            yield duplicate(f"{inner}.name", name)
        seen.add(name)
        if target and target not in others:
            yield not_found(f"{inner}.targetContainerName", target)
        for field in _NOT_EPHEMERAL:
            if field in container and (field != "resources" or container[field]):
                yield forbidden(f"{inner}.{field}", "cannot be set for an Ephemeral Container")
        for position, mount in enumerate(container.get("volumeMounts", ())):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    where = f"{inner}.volumeMounts[{position}].{field}"
                    yield forbidden(where, "cannot be set for an Ephemeral Container")


def check_image_padding(path: str, container: Json) -> Iterator[FieldError]:
    """Check that an image has no surrounding whitespace. The API server does not check this in templates."""
    image = container.get("image", "")
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _check_common(path: str, container: Json, pod: PodContext) -> Iterator[FieldError]:
    yield from check_fields(path, "Container", container)
    yield from _check_ports(f"{path}.ports", container.get("ports", ()))
    yield from check_environment(f"{path}.env", container.get("env", ()))
    yield from check_environment_sources(f"{path}.envFrom", container.get("envFrom", ()))
    yield from check_mounts(f"{path}.volumeMounts", container, pod.volumes)
    yield from check_devices(f"{path}.volumeDevices", container, pod.volumes)
    yield from check_container_resources(f"{path}.resources", container.get("resources", {}), pod.claims)
    never = pod.spec["restartPolicy"] == "Never"
    yield from _check_resize_policy(f"{path}.resizePolicy", container.get("resizePolicy", ()), never_restarts=never)
    if "securityContext" in container:
        yield from check_container_security(
            f"{path}.securityContext",
            container["securityContext"],
            host_users=pod.host_users,
            allow_privileged=pod.allow_privileged,
        )


def _check_handlers(path: str, container: Json, pod: PodContext) -> Iterator[FieldError]:
    yield from check_lifecycle(f"{path}.lifecycle", container.get("lifecycle", {}), pod.grace_period)
    yield from check_probes(path, container, pod.grace_period)


def _check_ports(path: str, ports: Sequence[Json]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        inner = f"{path}[{index}]"
        name = port.get("name", "")
        reasons = names.port_name(name) if name else ()
        yield from all_invalid(f"{inner}.name", name, reasons)
        if name in seen:
            yield duplicate(f"{inner}.name", name)
        elif name and not reasons:
            seen.add(name)
        yield from check_fields(inner, "ContainerPort", port)


def _check_host_ports(path: str, containers: Sequence[Json]) -> Iterator[FieldError]:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            entry = f"{port['protocol']}/{port.get('hostIP', '')}/{port['hostPort']}"
            if entry in taken:
                yield duplicate(f"{path}[{index}].ports[{position}].hostPort", entry)
            taken.add(entry)


def _check_resize_policy(path: str, policies: Sequence[Json], *, never_restarts: bool) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        resource, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if resource in seen:
            yield duplicate(f"{path}[{index}]", Named(resource))
        seen.add(resource)
        for value, known in ((resource, ("cpu", "memory")), (restart, ("NotRequired", "RestartContainer"))):
            if not value:
                yield required(path)
            elif value not in known:
                yield not_supported(path, Named(value), known)
        if never_restarts and restart != "NotRequired":
            yield invalid(path, Named(restart), "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _check_restart_policy(path: str, container: Json) -> Iterator[FieldError]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules", ())
    if policy is None:
        if rules:
            yield required(f"{path}.restartPolicy", _RULES_ALONE)
    else:
        yield from one_of(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    if len(rules) > 20:
        yield too_many(f"{path}.restartPolicyRules", len(rules), 20)
    for index, rule in enumerate(rules):
        yield from _check_restart_rule(f"{path}.restartPolicyRules[{index}]", rule)


def _check_restart_rule(path: str, rule: Json) -> Iterator[FieldError]:
    yield from one_of(f"{path}.action", rule.get("action", ""), _RESTART_ACTIONS)
    exit_codes = rule.get("exitCodes")
    if exit_codes is None:
        yield required(f"{path}.exitCodes", "must be specified")
        return
    yield from one_of(f"{path}.exitCodes.operator", exit_codes.get("operator", ""), ("In", "NotIn"))
    count = len(exit_codes.get("values", ()))
    if count > 255:
        yield too_many(f"{path}.exitCodes.values", count, 255)
