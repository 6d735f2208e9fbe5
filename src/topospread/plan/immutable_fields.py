"""Fields that an update must not change, because the API server refuses it.

Source: Validate…Update in pkg/apis/{apps,batch,core,scheduling,storage}/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, Final

from topospread.api.validation import validate_decoded
from topospread.api.validation.field import Options
from topospread.api.validation.schema import STRUCT_OF_ANY, WrongTypeError, decoded
from topospread.lint.lint_input import Manifest
from topospread.sources.hooks import is_passing
from topospread.sources.versions import to_current

_SELECTOR: Final = ("spec.selector",)
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "DaemonSet"), _SELECTOR),
    "StatefulSet": (*_SELECTOR, "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"),
    "Job": (
        *(*_SELECTOR, "spec.completionMode", "spec.completions", "spec.podFailurePolicy", "spec.successPolicy"),
        *("spec.backoffLimitPerIndex", "spec.managedBy", "spec.template"),
    ),
    "Pod": ("spec",),
    "PersistentVolumeClaim": ("spec.accessModes", "spec.storageClassName", "spec.volumeMode"),
    "PriorityClass": ("value", "preemptionPolicy"),
    "Service": ("spec.clusterIP",),
    "StorageClass": ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
}
_DEFAULTS: Final = {
    "spec.podManagementPolicy": "OrderedReady",
    "spec.completionMode": "NonIndexed",
    "spec.volumeMode": "Filesystem",
    "preemptionPolicy": "PreemptLowerPriority",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
_SET_BY_SERVER: Final = ("spec.clusterIP", "spec.storageClassName")
"""Fields that the API server sets. If the old manifest omits one, the stored value may equal the new one."""
_MUTABLE_IN_POD: Final = frozenset({"activeDeadlineSeconds", "schedulingGates", "tolerations"})
_PULL: Final = "imagePullPolicy"
_UNREAD: Final = frozenset(
    {"apiVersion", "kind", "status", "creationTimestamp", "generation", "terminationMessagePath"}
)
"""Fields that are not compared, because the API server sets them."""
_FILLED_IN: Final[Mapping[str, tuple[object, ...]]] = {
    **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly"), (False,)),
    "defaultMode": (420,),
    "enableServiceLinks": (True,),
    "schedulerName": ("default-scheduler",),
}
"""Field → its default, which equals a missing field."""
_REPLACED: Final = {
    "argocd.argoproj.io/sync-options": ("Replace=true", "Force=true"),
    "kustomize.toolkit.fluxcd.io/force": ("enabled", "Enabled"),
}
"""Annotation → values with which GitOps tools recreate an object that cannot be updated."""


def changed_immutable_fields(old: Manifest, new: Manifest) -> Iterator[str]:
    """Yield the paths of fields that differ and that an update must not change."""
    if new.kind not in _FIELDS or old.value == new.value or (_is_replaced(old) and _is_replaced(new)):
        return
    was, now = _normal(old), _normal(new)
    if was is None or now is None:
        return
    for both in zip(*map(_containers, (old.value, new.value, was, now)), strict=False):
        if not all(each.get(_PULL) for each in both):  # the API server's default depends on the image
            for each in both[2:]:
                each.pop(_PULL, None)
    for path in _FIELDS[new.kind]:
        one, other = (_at(side, path) for side in (was, now))
        is_open = path in _SET_BY_SERVER and one is None and other != "None"
        if one != other and not is_open and not _may_change(path, was, now):
            yield path


def _is_replaced(manifest: Manifest) -> bool:
    """Return whether a tool recreates the object instead of updating it. It counts only if both states say so."""
    metadata = manifest.value.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    asked = any(word in str(annotations.get(key, "")) for key, words in _REPLACED.items() for word in words)
    return asked or not manifest.item.metadata.name or is_passing(manifest.item, manifest.location)


def _may_change(path: str, was: Any, now: Any) -> bool:
    spec = was.get("spec", {})
    if path == "spec.template":
        return bool(spec.get("suspend"))
    if path == "spec.completions":  # an Indexed Job can change it together with parallelism
        return bool(spec.get("completionMode") == "Indexed")
    if path == "spec.clusterIP":
        external = (side.get("spec", {}).get("type") == "ExternalName" for side in (was, now))
        return any(external) or _at(now, path) is None
    return False


def _normal(manifest: Manifest) -> Any:
    """Return an object with defaults and without empty values; None if it does not decode."""
    try:
        made = decoded(to_current(dict(manifest.value), manifest.kind), STRUCT_OF_ANY[manifest.kind])
    except WrongTypeError:
        return None
    validate_decoded(manifest.kind, made, Options(True))
    if manifest.kind == "Pod":
        kept = {name: each for name, each in made.get("spec", {}).items() if name not in _MUTABLE_IN_POD}
        made["spec"] = kept
        for each in _containers(made):
            each.pop("image", None)
    return _without_empty(made)


def _containers(value: Any) -> list[Any]:
    """Return the containers of a Pod, or of a template."""
    spec = value.get("spec") or {}
    spec = (spec.get("template") or {}).get("spec") or {} if "template" in spec else spec
    found = (each for name in ("containers", "initContainers") for each in spec.get(name) or ())
    return [each for each in found if isinstance(each, dict)]


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        made = {name: _without_empty(each) for name, each in value.items() if name not in _UNREAD}
        return {name: each for name, each in made.items() if each not in (None, "", {}, [], *_FILLED_IN.get(name, ()))}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


def _at(value: Any, path: str) -> Any:
    found = reduce(lambda one, name: one.get(name, {}) if isinstance(one, dict) else {}, path.split("."), value)
    return _DEFAULTS.get(path) if found == {} else found
