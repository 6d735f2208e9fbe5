"""The defaults that the API server adds to a decoded pod or template before validation.

Source: pkg/apis/core/v1/defaults.go, and for pods PrepareForCreate in pkg/registry/core/pod/strategy.go and
pkg/api/pod/util.go (Kubernetes 1.37 with its default feature gates). All functions change data from `schema.decoded` in
place. They add only fields that validation reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from topospread.api.pod_defaults import complete_pod_level, complete_requests, is_pod_level, label_key_requirements
from topospread.api.quantity import Quantity

from .resources import aggregated_limits, aggregated_requests

Json = dict[str, Any]

CONTAINER_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS: Final = ("postStart", "preStop")
_PROBE_DEFAULTS: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_FILE_SOURCES: Final = ("secret", "configMap", "downwardAPI", "projected")
_PROJECTED_SOURCES: Final = (
    "secret",
    "downwardAPI",
    "configMap",
    "serviceAccountToken",
    "clusterTrustBundle",
    "podCertificate",
)
_INIT_ANNOTATIONS: Final = tuple(
    f"pod.{stage}.kubernetes.io/init-container{kind}" for stage in ("beta", "alpha") for kind in ("s", "-statuses")
)


def default_pod(pod: Json) -> None:
    """Set a Pod's defaults, also those of its creation (such as pod-level resources), except `merge_label_keys`."""
    spec = pod.setdefault("spec", {})
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for container in containers_of(spec, "containers", "initContainers"):
        resources = container.get("resources", {})
        if "limits" in resources:
            complete_requests(resources.setdefault("requests", {}), resources["limits"])
        if spec.get("hostNetwork"):
            for port in container.get("ports", ()):
                if not port.get("hostPort"):
                    port["hostPort"] = port.get("containerPort", 0)
    _default_spec(spec)
    metadata = pod.setdefault("metadata", {})
    metadata["generation"] = 1
    _drop_disabled(spec, metadata)
    _copy_app_armor_annotations(spec, metadata.get("annotations", {}))
    default_pod_level(spec)


def merge_label_keys(pod: Json) -> None:
    """Add the pod's own values of matchLabelKeys and mismatchLabelKeys to selectors, after mutating admission.

    Repeating this step adds the requirements twice. Source: pkg/registry/core/pod/strategy.go, ``PrepareForCreate``.
    """
    spec, labels = pod["spec"], pod["metadata"].get("labels", {})
    for constraint in spec.get("topologySpreadConstraints", ()):
        _merge_into(constraint, labels)
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = spec.get("affinity", {}).get(kind, {})
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_into(term, labels)
        for weighted in affinity.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
            _merge_into(weighted.get("podAffinityTerm", {}), labels)


def default_template(template: Json) -> None:
    """Set defaults of a pod template, which are fewer than a pod's."""
    spec = template.setdefault("spec", {})
    _default_spec(spec)
    _drop_disabled(spec, template.setdefault("metadata", {}))


def containers_of(spec: Json, *lists: str) -> Iterator[Json]:
    """Yield the containers of a spec, in the order of the lists named (all three lists by default)."""
    for name in lists or CONTAINER_LISTS:
        yield from spec.get(name, ())


def placed_containers(path: str, spec: Json) -> Iterator[tuple[str, Json]]:
    """Yield the containers of a spec, each with its path; ``path`` is the spec's."""
    for name in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(name, ())):
            yield f"{path}.{name}[{index}]", container


def _default_spec(spec: Json) -> None:
    account = spec.get("serviceAccountName") or spec.get("serviceAccount", "")
    spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec["dnsPolicy"] = spec.get("dnsPolicy") or "ClusterFirst"
    spec["restartPolicy"] = spec.get("restartPolicy") or "Always"
    spec.setdefault("terminationGracePeriodSeconds", 30)
    for container in containers_of(spec):
        _default_container(container)
    for volume in spec.get("volumes", ()):
        sources = [volume, *volume.get("projected", {}).get("sources", ())]
        for source in sources:
            for item in source.get("downwardAPI", {}).get("items", ()):
                _default_reference(item)
        claim = volume.get("ephemeral", {}).get("volumeClaimTemplate", {}).get("spec", {})
        _round(claim.get("resources", {}).get("requests"))
    for resources in ({"overhead": spec.get("overhead")}, spec.get("resources", {})):
        for name in ("limits", "requests", "overhead"):
            _round(resources.get(name))


def _default_container(container: Json) -> None:
    container["imagePullPolicy"] = container.get("imagePullPolicy") or "IfNotPresent"
    container["terminationMessagePolicy"] = container.get("terminationMessagePolicy") or "File"
    for port in container.get("ports", ()):
        port["protocol"] = port.get("protocol") or "TCP"
    for variable in container.get("env", ()):
        _default_reference(variable.get("valueFrom", {}))
    resources = container.get("resources", {})
    _round(resources.get("limits"))
    _round(resources.get("requests"))
    for name in _PROBES:
        probe = container.get(name)
        if probe is not None:
            for field, default in _PROBE_DEFAULTS.items():
                probe[field] = probe.get(field) or default
            _default_http(probe.get("httpGet"))
    for name in _HANDLERS:
        _default_http(container.get("lifecycle", {}).get(name, {}).get("httpGet"))


def _default_reference(source: Json) -> None:
    if "fieldRef" in source:
        source["fieldRef"]["apiVersion"] = source["fieldRef"].get("apiVersion") or "v1"


def _default_http(action: Json | None) -> None:
    if action is not None:
        action["path"] = action.get("path") or "/"
        action["scheme"] = action.get("scheme") or "HTTP"


def _round(resources: dict[str, Quantity] | None) -> None:
    for name, quantity in (resources or {}).items():
        if quantity.exponent < -3 and resources is not None:
            resources[name] = quantity.rounded_to_milli()


def _drop_disabled(spec: Json, metadata: Json) -> None:
    """Drop fields whose feature gates are off in 1.37."""
    spec.pop("schedulingGroup", None)
    spec.pop("evictionResponders", None)
    for volume in spec.get("volumes", ()):
        volume.get("emptyDir", {}).pop("mode", None)
        _drop_users(volume)
    for container in containers_of(spec):
        lifecycle = container.get("lifecycle")
        if lifecycle is not None and lifecycle.pop("stopSignal", None) is not None and not lifecycle:
            del container["lifecycle"]
        for mount in container.get("volumeMounts", ()):
            mount.pop("bindMountOptions", None)
        for handler in _handlers(container):
            handler.get("grpc", {}).pop("mode", None)
            handler.get("httpGet", {}).pop("protocol", None)
    for name in _INIT_ANNOTATIONS:
        metadata.get("annotations", {}).pop(name, None)


def _drop_users(volume: Json) -> None:
    """Remove the fields for the files' users from the volume's first source. A second source is an error anyway."""
    kind = next((each for each in _FILE_SOURCES if each in volume), None)
    if kind is None:
        return
    volume[kind].pop("defaultUser", None)
    for item in volume[kind].get("items", ()):
        item.pop("user", None)
    for projection in volume[kind].get("sources", ()):
        source: Json = next((projection[each] for each in _PROJECTED_SOURCES if each in projection), {})
        source.pop("user", None)
        for item in source.get("items", ()):
            item.pop("user", None)


def _handlers(container: Json) -> Iterator[Json]:
    for name in _PROBES:
        yield container.get(name, {})
    for name in _HANDLERS:
        yield container.get("lifecycle", {}).get(name, {})


def _merge_into(term: Json, labels: dict[str, str]) -> None:
    selector = term.get("labelSelector")
    if selector is not None:
        added = label_key_requirements(labels, term.get("matchLabelKeys"), term.get("mismatchLabelKeys"))
        for key, operator, value in added:
            requirement = {"key": key, "operator": operator, "values": [value]}
            selector.setdefault("matchExpressions", []).append(requirement)


def _copy_app_armor_annotations(spec: Json, annotations: dict[str, str]) -> None:
    """Copy deprecated AppArmor annotations to containers without a profile, unless the pod's profile is equal."""
    if spec.get("os", {}).get("name") == "windows" or not annotations:
        return
    for container in containers_of(spec):
        annotation = annotations.get(f"container.apparmor.security.beta.kubernetes.io/{container.get('name', '')}")
        context = container.get("securityContext", {})
        if annotation is None or "appArmorProfile" in context:
            continue
        profile = _app_armor_profile(annotation)
        if profile is not None and profile != spec.get("securityContext", {}).get("appArmorProfile"):
            container["securityContext"] = {**context, "appArmorProfile": profile}


def _app_armor_profile(annotation: str) -> Json | None:
    if annotation == "unconfined":
        return {"type": "Unconfined"}
    if annotation == "runtime/default":
        return {"type": "RuntimeDefault"}
    profile = annotation.removeprefix("localhost/")
    if profile == annotation or not profile or profile != profile.strip() or len(profile.encode()) > 4095:
        return None
    return {"type": "Localhost", "localhostProfile": profile}


def default_pod_level(spec: Json) -> None:
    """Complete ``spec.resources`` from the containers' resources (DefaultPodLevelResources)."""
    resources = spec.get("resources", {})
    if not resources.get("requests") and not resources.get("limits"):
        return
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    container_limits = aggregated_limits(spec)
    complete_pod_level(requests, limits, aggregated_requests(spec), container_limits)
    for name, request in requests.items():
        if is_pod_level(name) and name in container_limits and name not in limits and _limited_everywhere(spec, name):
            limits[name] = max(container_limits[name], request)
    for field, amounts in (("requests", requests), ("limits", limits)):
        if amounts:
            resources[field] = amounts


def _limited_everywhere(spec: Json, name: str) -> bool:
    return all(name in container.get("resources", {}).get("limits", {}) for container in containers_of(spec))
