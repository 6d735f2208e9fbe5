"""Volumes of a pod, and claims of pods and StatefulSets, as the API server checks them.

Source: ValidateVolumes, validateVolumeSource and what they call in pkg/apis/core/validation/validation.go
(Kubernetes 1.37). `object_volumes` checks volume sources whose files come from API objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from topospread.api.quantity import ZERO

from . import names
from .field import (
    FieldError,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    one_of,
    printed,
    required,
    too_long,
)
from .names import check_annotations, check_descending, check_labels, check_no_backsteps
from .object_volumes import check_downward_api, check_keys, check_projected
from .rules import check_fields
from .schema import field_struct
from .selectors import check_label_selector

# Claim templates of pods and StatefulSets as the API server checks them.
# Source: ValidatePersistentVolumeClaimTemplate and ValidatePersistentVolumeClaimSpec in
# pkg/apis/core/validation/validation.go (Kubernetes 1.37).

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def check_claim_template(path: str, template: Json) -> Iterator[FieldError]:
    """Check the template of an ephemeral volume's claim: its metadata may have only labels and annotations."""
    metadata = template.get("metadata", {})
    yield from check_annotations(f"{path}.metadata.annotations", metadata.get("annotations", {}))
    yield from check_labels(f"{path}.metadata.labels", metadata.get("labels", {}))
    for field, value in metadata.items():
        if field not in ("labels", "annotations") and value not in ("", 0):
            shown = {"uid": "uID"}.get(field, field)
            yield forbidden(f"{path}.metadata.{shown}", "cannot be set")
    yield from check_claim_spec(f"{path}.spec", template.get("spec", {}))


def check_claim_spec(path: str, spec: Json) -> Iterator[FieldError]:
    """Check ``spec`` of a PersistentVolumeClaim."""
    modes = spec.get("accessModes", ())
    yield from check_fields(path, "PersistentVolumeClaimSpec", spec)
    yield from check_label_selector(f"{path}.selector", spec.get("selector"))
    for mode in modes:
        yield from one_of(f"{path}.accessModes", mode, _ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in _ACCESS_MODES[:3] for mode in modes):
        yield forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    storage = spec.get("resources", {}).get("requests", {}).get("storage")
    if storage is None:
        yield required(f"{path}.resources[storage]")
    elif storage.sign <= 0:
        yield invalid(f"{path}.resources[storage]", str(storage), "must be greater than zero")
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, each in (("dataSource", source), ("dataSourceRef", reference)):
        if each is not None:
            yield from _check_data_source(f"{path}.{field}", each)
    if source is None or reference is None:
        return
    # In this error, the API server prints the path in place of the value.
    if reference.get("namespace"):
        yield invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(source.get(field) != reference.get(field) for field in ("apiGroup", "kind", "name")):
        yield invalid(path, {}, "must match dataSourceRef")


def _check_data_source(path: str, source: Json) -> Iterator[FieldError]:
    group, kind = source.get("apiGroup", ""), source.get("kind", "")
    yield from check_fields(path, "TypedObjectReference", source)
    if not group and kind != "PersistentVolumeClaim":
        yield invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")


Json = dict[str, Any]
Check = Callable[[str, Json], Iterator[FieldError]]

_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_ISCSI_NAMES: Final = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\t\n\f\r ]+)\Z"),
    "eui": re.compile(r"\Aeui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"\Anaa.[A-Za-z0-9]{32}\Z"),
}


def check_volumes(path: str, volumes: Sequence[Json], pod_name: str) -> tuple[dict[str, Json], list[FieldError]]:
    """Return the valid volumes by name, and the errors of the other volumes. ``pod_name`` may be ""."""
    valid: dict[str, Json] = {}
    refused: list[FieldError] = []
    created = {f"{pod_name}-{each.get('name', '')}" for each in volumes if "ephemeral" in each} if pod_name else set()
    for index, volume in enumerate(volumes):
        inner = f"{path}[{index}]"
        name = volume.get("name", "")
        problems = list(_check_source(inner, volume, pod_name))
        if not name:
            problems.append(required(f"{inner}.name"))
        else:
            problems += all_invalid(f"{inner}.name", name, names.dns_label(name))
        if name in valid:
            problems.append(duplicate(f"{inner}.name", name))
        if problems:
            refused += problems
        else:
            valid[name] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        if claim in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            refused.append(invalid(f"{inner}.persistentVolumeClaim.claimName", claim, detail))
    return valid, refused


def _check_source(path: str, volume: Json, pod_name: str) -> Iterator[FieldError]:
    # In the API server's order: check the first source; each further source is an error. Without one, it is an
    # emptyDir.
    given = [kind for kind in _CHECKS if kind in volume]
    if "ephemeral" in given[:1] and pod_name and volume.get("name"):
        claim = f"{pod_name}-{volume['name']}"
        reasons = (f"PVC name {printed(claim)}: {reason}" for reason in names.subdomain(claim))
        yield from all_invalid(f"{path}.name", volume["name"], reasons)
    for position, kind in enumerate(given):
        if position == 0:
            inner = f"{path}.{_FIRST_FIELDS.get(kind, kind)}"
            yield from check_fields(inner, field_struct("Volume", kind), volume[kind])
            yield from _CHECKS[kind](inner, volume[kind])
        else:
            yield forbidden(f"{path}.{_SECOND_FIELDS.get(kind, kind)}", "may not specify more than 1 volume type")
    if volume.get("iscsi", {}).get("initiatorName") is not None:
        name = volume.get("name", "")
        if len(f"{name}:{volume['iscsi'].get('targetPortal', '')}".encode()) > 64:
            detail = (
                "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
                "iscsi.initiatorName is specified."
            )
            yield invalid(f"{path}.name", name, detail)


_FIRST_FIELDS: Final = {"gcePersistentDisk": "persistentDisk"}
_SECOND_FIELDS: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Volume source → name in the API server's error for a second source, where it differs."""


def _nothing_more(_path: str, _source: Json) -> Iterator[FieldError]:
    return iter(())


def _check_empty_dir(path: str, source: Json) -> Iterator[FieldError]:
    if source.get("sizeLimit", ZERO).sign < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _check_host_path(path: str, source: Json) -> Iterator[FieldError]:
    target = source.get("path", "")
    if not target:
        yield required(f"{path}.path")
        return
    yield from check_no_backsteps(f"{path}.path", target)
    yield from one_of(f"{path}.type", source.get("type", ""), _HOST_PATH_TYPES)


def _check_git_repo(path: str, source: Json) -> Iterator[FieldError]:
    yield from check_descending(f"{path}.directory", source.get("directory", ""))


def _check_partition(path: str, source: Json) -> Iterator[FieldError]:
    partition = source.get("partition", 0)
    if not 0 <= partition <= 255:
        yield invalid(f"{path}.partition", partition, "must be between 1 and 255, inclusive")


def _check_nfs(path: str, source: Json) -> Iterator[FieldError]:
    target = source.get("path", "")
    if not target.startswith("/"):
        yield invalid(f"{path}.path", target, "must be an absolute path")


def _check_iscsi(path: str, source: Json) -> Iterator[FieldError]:
    for field, error_field in (("iqn", "iqn"), ("initiatorName", "initiatorname")):
        name = source.get(field)
        if name or (field == "initiatorName" and name is not None):
            pattern = _ISCSI_NAMES.get(name[:3])
            if pattern is None:
                detail = "must be valid format starting with iqn, eui, or naa"
                yield invalid(f"{path}.{error_field}", name, detail)
            elif not pattern.search(name):
                yield invalid(f"{path}.{error_field}", name, "must be valid format")
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        yield required(f"{path}.secretRef")


def _check_flocker(path: str, source: Json) -> Iterator[FieldError]:
    name, identity = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not identity:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and identity:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def _check_secret_reference(path: str, source: Json) -> Iterator[FieldError]:
    if "secretRef" in source and not source["secretRef"].get("name"):
        yield required(f"{path}.secretRef.name")


def _check_quobyte(path: str, source: Json) -> Iterator[FieldError]:
    detail = "must be a host:port pair or multiple pairs separated by commas"
    registry = source.get("registry", "")
    if not registry:
        yield required(f"{path}.registry", detail)
    elif len(source.get("tenant", "").encode()) >= 65:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    elif any(not _is_host_and_port(pair) for pair in registry.split(",")):
        yield invalid(f"{path}.registry", registry, detail)


_is_host_and_port = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*):[^\[\]:]*").fullmatch


def _check_fibre_channel(path: str, source: Json) -> Iterator[FieldError]:
    names_given, ids_given = source.get("targetWWNs", []), source.get("wwids", [])
    if not names_given and not ids_given:
        yield required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if names_given and ids_given:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        yield invalid(f"{path}.targetWWNs", names_given, detail)
    if names_given and "lun" not in source:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif names_given:
        yield from all_invalid(f"{path}.lun", source["lun"], names.in_range(source["lun"], 0, 255))


def _check_flex_volume(path: str, source: Json) -> Iterator[FieldError]:
    for option in source.get("options", {}):
        owner = "." + option.partition("/")[0].lower()
        if owner.endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}.options[{option}]", option, "kubernetes.io and k8s.io namespaces are reserved")


def _check_azure_disk(path: str, source: Json) -> Iterator[FieldError]:
    uri, kind = source.get("diskURI", ""), source.get("kind", "Shared")
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        form = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
        yield not_supported(f"{path}.diskURI", uri, (form,))
    elif kind != "Managed" and not uri.startswith("https://"):
        form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
        yield not_supported(f"{path}.diskURI", uri, (form,))


def _check_csi(path: str, source: Json) -> Iterator[FieldError]:
    driver = source.get("driver", "")
    if not driver:
        yield required(f"{path}.driver")
    else:
        if len(driver.encode()) > 63:
            yield too_long(f"{path}.driver", 63)
        yield from all_invalid(f"{path}.driver", driver, names.subdomain(driver.lower()))
    if "nodePublishSecretRef" in source:
        secret = source["nodePublishSecretRef"].get("name", "")
        if not secret:
            yield required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from all_invalid(f"{path}.name", secret, names.subdomain(secret))


def _check_ephemeral(path: str, source: Json) -> Iterator[FieldError]:
    if "volumeClaimTemplate" not in source:
        yield required(f"{path}.volumeClaimTemplate")
    else:
        yield from check_claim_template(f"{path}.volumeClaimTemplate", source["volumeClaimTemplate"])


_CHECKS: Final[dict[str, Check]] = {
    "emptyDir": _check_empty_dir,
    "hostPath": _check_host_path,
    "gitRepo": _check_git_repo,
    "gcePersistentDisk": _check_partition,
    "awsElasticBlockStore": _check_partition,
    "secret": check_keys,
    "nfs": _check_nfs,
    "iscsi": _check_iscsi,
    "glusterfs": _nothing_more,
    "flocker": _check_flocker,
    "persistentVolumeClaim": _nothing_more,
    "rbd": _nothing_more,
    "cinder": _check_secret_reference,
    "cephfs": _nothing_more,
    "quobyte": _check_quobyte,
    "downwardAPI": check_downward_api,
    "fc": _check_fibre_channel,
    "flexVolume": _check_flex_volume,
    "configMap": check_keys,
    "azureFile": _nothing_more,
    "vsphereVolume": _nothing_more,
    "photonPersistentDisk": _nothing_more,
    "portworxVolume": _nothing_more,
    "azureDisk": _check_azure_disk,
    "storageos": _check_secret_reference,
    "projected": check_projected,
    "scaleIO": _nothing_more,
    "csi": _check_csi,
    "ephemeral": _check_ephemeral,
    "image": _nothing_more,
}
"""Volume source → its checks besides required fields, in the API server's order."""
