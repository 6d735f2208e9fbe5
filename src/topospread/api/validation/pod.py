"""Pods and pod templates as the API server checks them when they are created: metadata and spec as a whole.

Source: ValidatePodCreate, ValidatePodTemplateSpec, ValidatePodSpec and what they call in
pkg/apis/core/validation/validation.go (Kubernetes 1.37 with its default feature gates). Data is decoded
(`schema.decoded`) and defaulted (`defaults`).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any, Final

from . import names
from .containers import (
    PodContext,
    check_containers,
    check_ephemeral_containers,
    check_image_padding,
    check_init_containers,
)
from .defaults import placed_containers
from .field import (
    FieldError,
    Named,
    Options,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_negative,
    not_supported,
    one_of,
    required,
    too_long,
)
from .metadata import check_metadata, check_pod_annotations, check_profiles_match
from .names import check_annotations, check_labels
from .resources import check_overhead, check_pod_resources
from .rules import check_fields
from .security import check_host_process, check_linux_pod, check_pod_security, check_windows_pod
from .selectors import check_affinity, check_spread_constraints, check_tolerations
from .volumes import check_volumes

Json = dict[str, Any]


def check_pod(pod: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a Pod (ValidatePodCreate)."""
    metadata, spec = pod["metadata"], pod["spec"]
    annotations = metadata.get("annotations", {})
    yield from check_metadata(metadata, names.subdomain)
    yield from check_pod_annotations("metadata.annotations", annotations, spec, options)
    yield from check_pod_spec("spec", spec, metadata, options=options)
    if not spec["serviceAccountName"]:
        for index, volume in enumerate(spec.get("volumes", ())):
            for position, source in enumerate(volume.get("projected", {}).get("sources", ())):
                if "serviceAccountToken" in source:
                    path = f"spec.volumes[{index}].projected.sources[{position}].serviceAccountToken"
                    yield forbidden(path, "must not be specified when serviceAccountName is not set")
    yield from not_negative("spec.terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"])
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind, ())):
            yield from check_image_padding(f"spec.{kind}[{index}]", container)
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from check_profiles_match("spec", annotations, spec)


def check_pod_template(path: str, template: Json, *, options: Options) -> Iterator[FieldError]:
    """Check a pod template at ``path``, such as ``spec.template`` (ValidatePodTemplateSpec)."""
    metadata, spec = template["metadata"], template["spec"]
    annotations = metadata.get("annotations", {})
    yield from check_labels(f"{path}.labels", metadata.get("labels", {}))
    yield from check_annotations(f"{path}.annotations", annotations)
    yield from check_pod_annotations(f"{path}.annotations", annotations, spec, options)
    yield from check_pod_spec(f"{path}.spec", spec, None, options=options)
    yield from check_profiles_match(f"{path}.spec", annotations, spec)
    if spec.get("ephemeralContainers"):
        yield forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def check_pod_spec(path: str, spec: Json, metadata: Json | None, *, options: Options) -> Iterator[FieldError]:
    """Check a pod's spec. ``metadata``: metadata of a Pod; None for a template (ValidatePodSpec)."""
    pod_name = metadata.get("name", "") if metadata else ""
    volumes, refused = check_volumes(f"{path}.volumes", spec.get("volumes", ()), pod_name)
    yield from refused
    yield from _check_resource_claims(f"{path}.resourceClaims", spec.get("resourceClaims", ()), metadata)
    claims = [claim["name"] for claim in spec.get("resourceClaims", ()) if claim.get("name")]
    pod = PodContext(spec, volumes, claims, options.allow_privileged)
    yield from check_containers(f"{path}.containers", pod)
    yield from check_init_containers(f"{path}.initContainers", pod)
    yield from check_ephemeral_containers(f"{path}.ephemeralContainers", pod)
    if "resources" in spec:
        yield from check_pod_resources(f"{path}.resources", spec, claims)
    if "overhead" in spec:
        yield from check_overhead(f"{path}.overhead", spec["overhead"])
    yield from check_labels(f"{path}.nodeSelector", spec.get("nodeSelector", {}))
    yield from check_affinity(f"{path}.affinity", spec.get("affinity", {}))
    yield from check_spread_constraints(f"{path}.topologySpreadConstraints", spec.get("topologySpreadConstraints", ()))
    yield from check_tolerations(f"{path}.tolerations", spec.get("tolerations", ()), options)
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates", ())):
        inner, name = f"{path}.schedulingGates[{index}]", gate.get("name", "")
        yield from all_invalid(inner, name, names.label_key(name))
        if name in seen:
            yield duplicate(inner, name)
        seen.add(name)
    yield from check_fields(path, "PodSpec", spec)
    preemption = spec.get("preemptionPolicy")
    if preemption == "":
        yield required(f"{path}.preemptionPolicy")
    elif preemption is not None:
        yield from one_of(f"{path}.preemptionPolicy", preemption, ("PreemptLowerPriority", "Never"))
    for index, gate in enumerate(spec.get("readinessGates", ())):
        condition = gate.get("conditionType", "")
        yield from all_invalid(f"{path}.readinessGates[{index}].conditionType", condition, names.label_key(condition))
    yield from _check_names(path, spec)
    yield from _check_network(path, spec)
    yield from check_pod_security(f"{path}.securityContext", spec)
    yield from _check_host(path, spec)
    yield from check_host_process(path, spec, allow_privileged=options.allow_privileged)
    yield from _check_os(path, spec)
    yield from _check_file_references(path, spec)


def _check_names(path: str, spec: Json) -> Iterator[FieldError]:
    if "runtimeClassName" in spec:
        name = spec["runtimeClassName"]
        yield from all_invalid(f"{path}.runtimeClassName", name, names.subdomain(name))
    override = spec.get("hostnameOverride")
    if override is None:
        return
    inner = f"{path}.hostnameOverride"
    if spec.get("setHostnameAsFQDN"):
        yield forbidden(inner, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        yield forbidden(inner, "may not be specified when hostNetwork is true")
    if len(override.encode()) > 64:
        yield too_long(inner, 64)
    yield from all_invalid(inner, override, names.subdomain(override))


def _check_network(path: str, spec: Json) -> Iterator[FieldError]:
    if spec.get("hostNetwork"):
        for index, container in enumerate(spec.get("containers", ())):
            for position, port in enumerate(container.get("ports", ())):
                host = port.get("hostPort", 0)
                if host and host != port.get("containerPort", 0):
                    field = f"{path}.containers[{index}].ports[{position}].hostPort"
                    yield invalid(field, host, "must match `containerPort` when `hostNetwork` is true")
    yield from _check_dns(f"{path}.dnsConfig", spec)
    for index, alias in enumerate(spec.get("hostAliases", ())):
        inner = f"{path}.hostAliases[{index}]"
        yield from _check_address(f"{inner}.ip", alias.get("ip", ""))
        for position, name in enumerate(alias.get("hostnames", ())):
            yield from all_invalid(f"{inner}.hostnames[{position}]", name, names.subdomain(name))


def _check_dns(path: str, spec: Json) -> Iterator[FieldError]:
    config: Json | None = spec.get("dnsConfig")
    if spec["dnsPolicy"] == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not config.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", detail)
            return
    if config is None:
        return
    servers, searches = config.get("nameservers", []), config.get("searches", [])
    if len(servers) > 3:
        yield invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        yield from _check_address(f"{path}.nameservers[{index}]", server)
    if len(searches) > 32:
        yield invalid(f"{path}.searches", searches, "must not have more than 32 search paths")
    if len(" ".join(searches).encode()) > 2048:
        detail = "must not have more than 2048 characters (including spaces) in the search list"
        yield invalid(f"{path}.searches", searches, detail)
    for index, search in enumerate(searches):
        if search != ".":
            domain = search.removesuffix(".")
            yield from all_invalid(f"{path}.searches[{index}]", domain, names.underscore_subdomain(domain))
    for index, option in enumerate(config.get("options", ())):
        if not option.get("name"):
            yield required(f"{path}.options[{index}]", "must not be empty")


def _check_address(path: str, address: str) -> Iterator[FieldError]:
    """Check an IP address strictly, also in fields that predate strict validation."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        if _is_padded_address(address):
            yield invalid(path, address, "must not have leading 0s")
        else:
            yield invalid(path, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
        return
    if parsed.version == 6:
        if parsed.scope_id is not None:
            yield invalid(path, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
        elif parsed.ipv4_mapped is not None:
            yield invalid(path, address, "must not be an IPv4-mapped IPv6 address")


def _is_padded_address(address: str) -> bool:
    """Return whether the text is an IPv4 address with leading zeros in its numbers."""
    head, colon, tail = address.rpartition(":")
    numbers = tail.split(".")
    if len(numbers) != 4 or not all(number.isascii() and number.isdigit() for number in numbers):
        return False
    try:
        ipaddress.ip_address(head + colon + ".".join(str(int(number)) for number in numbers))
    except ValueError:
        return False
    return True


def _check_host(path: str, spec: Json) -> Iterator[FieldError]:
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{path}.shareProcessNamespace", True, detail)
    if spec.get("hostUsers", True):
        return
    for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(field):
            yield forbidden(f"{path}.{shown}", "when `hostUsers` is false")
    for inner, container in placed_containers(path, spec):
        if container.get("volumeDevices"):
            yield forbidden(f"{inner}.volumeDevices", "when `hostUsers` is false")


def _check_os(path: str, spec: Json) -> Iterator[FieldError]:
    if "os" not in spec:
        return
    name = spec["os"].get("name", "")
    if not name:
        yield required(f"{path}.os.name")
    elif name == "linux":
        yield from check_linux_pod(path, spec)
    elif name == "windows":
        yield from check_windows_pod(path, spec)
    else:
        yield not_supported(f"{path}.os", Named(name), ("linux", "windows"))


def _check_resource_claims(path: str, claims: Sequence[Json], metadata: Json | None) -> Iterator[FieldError]:
    if claims and metadata and "kubernetes.io/config.mirror" in metadata.get("annotations", {}):
        # The API server gives no field here, so the path is "[]".
        yield forbidden("[]", "static pods do not support resource claims")
        return
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        inner, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            yield required(f"{inner}.name")
        elif name in seen:
            yield duplicate(f"{inner}.name", name)
        else:
            yield from all_invalid(f"{inner}.name", name, names.dns_label(name))
        seen.add(name)
        references = ("resourceClaimName", "resourceClaimTemplateName")
        given = [field for field in references if field in claim]
        if len(given) != 1:
            shown = {go: claim.get(field, unset) for go, field, unset in _CLAIM_FIELDS}
            words = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if given
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
            yield invalid(inner, shown, words)
        for field in given:
            yield from all_invalid(f"{inner}.{field}", claim[field], names.subdomain(claim[field]))


_CLAIM_FIELDS: Final = (
    ("Name", "name", ""),
    ("ResourceClaimName", "resourceClaimName", None),
    ("ResourceClaimTemplateName", "resourceClaimTemplateName", None),
)


def _check_file_references(path: str, spec: Json) -> Iterator[FieldError]:
    """Check variables from files: their volume must be an emptyDir (validateFileKeyRefVolumes)."""
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes", ())}
    for where, container in placed_containers(path, spec):
        for position, variable in enumerate(container.get("env", ())):
            reference = variable.get("valueFrom", {}).get("fileKeyRef")
            if reference is None:
                continue
            inner = f"{where}.env[{position}].valueFrom.fileKeyRef.volumeName"
            name = reference.get("volumeName", "")
            volume = volumes.get(name)
            if volume is None:
                yield not_found(inner, name)
            elif "emptyDir" not in volume and volume.keys() - {"name"}:
                yield invalid(inner, name, "referenced volume must be of type emptyDir")
