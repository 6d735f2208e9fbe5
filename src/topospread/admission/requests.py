"""The creation of a pod or workload as CEL policies receive it: the full object, its namespace and the request.

The object is parsed from the full text that `whole_text` stored when it was read. Fields that admission or controllers
change are copied from topospread's typed pod.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.meta import KubeObject, OwnerReference
from topospread.api.node import Namespace
from topospread.api.pod import Container, Pod
from topospread.api.validation.schema import WrongTypeError
from topospread.api.well_known_labels import NAMESPACE_NAME
from topospread.cel.values import Unknown

from .new_objects import RESOURCES
from .validating import Request
from .written_objects import overlaid, written

Json = dict[str, Any]

_CHANGED: Final = tuple(
    """nodeSelector tolerations priority priorityClassName preemptionPolicy overhead schedulerName affinity
    topologySpreadConstraints resources""".split()  # noqa: SIM905 - a list of 10 strings is harder to read
)
"""Fields of a pod's spec that admission plugins and controllers change."""
_CHANGED_BEFORE: Final = tuple(name for name in _CHANGED if name not in ("affinity", "topologySpreadConstraints"))
"""The fields in `_CHANGED` that change before the API server merges labels into selectors."""
STORED: Final = frozenset({"uid", "creationTimestamp", "managedFields", "generation"})
"""Fields of metadata that the API server sets when it stores an object."""
_OF_ORDINALS: Final = ("statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index")
_PARTLY: Final = frozenset({("spec", "volumes")})
GENERATION: Final = "deprecated.daemonset.template.generation"
_LIMIT_RANGER: Final = "kubernetes.io/limit-ranger"
_TOKEN: Final = "topospread-token"
_SYNTHETIC: Final = frozenset(
    "pod-template-hash controller-revision-hash controller-uid batch.kubernetes.io/controller-uid".split()  # noqa: SIM905
)
_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_UNREADABLE: Final = "the stored text of its fields is unreadable"
"""Reason for an anonymous snapshot, whose texts are hashed and so cannot be parsed."""
_TOKEN_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_NAME: Final = Unknown("the generated name of a volume", is_sound=True)
_TOKEN_VOLUME: Final[Json] = {
    "name": _TOKEN_NAME,
    "projected": {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                    ]
                }
            },
        ],
        "defaultMode": 420,
    },
}


class Target(NamedTuple):
    """A new object before it is stored, as mutating policies see and change it.

    Attributes:
        seen: the object with `Unknown` for each unknown value, as expressions see it.
        plain: the object without its unknown values, as patches change it.
        partly_known: paths of lists to which controllers add items that are not known.
    """

    kind: str
    seen: Json
    plain: Json
    request: Json
    namespace: Json | None
    partly_known: frozenset[tuple[str, ...]] = frozenset()


class NotWrittenError(Exception):
    """The full object is not known; the message gives the reason."""


class Requests:
    """Builds the creation requests that policies read, with the namespaces of an inventory."""

    def __init__(self, inventory: Inventory) -> None:
        read = inventory.read_namespaces
        self._bounded = {each.namespace or "default" for each in inventory.limit_ranges}
        self._namespaces = {each.name: each for each in inventory.namespaces if each.name in read}

    def of_pod(self, pod: Pod) -> Request:
        """Return the request that creates a pod.

        Raises:
            NotWrittenError: if a part of the pod is not known.
        """
        return self._request("Pod", self._alternatives(pod, _CHANGED))

    def of_new_pod(self, pod: Pod) -> list[Target]:
        """Return the possible forms of a new pod before the API server merges labels into its selectors.

        Raises:
            NotWrittenError: if a part of the pod is not known.
        """
        found = []
        owner = pod.metadata.controller
        of_stateful_set = owner is not None and owner.kind == "StatefulSet" and not pod.name
        for each in self._alternatives(pod, _CHANGED_BEFORE):
            metadata = {name: value for name, value in each["metadata"].items() if name not in STORED}
            if not pod.name and not of_stateful_set:
                del metadata["name"]
            spec = each["spec"]
            if of_stateful_set:
                labels: Json = {
                    key: Unknown(f"the label {key}", is_sound=True, may_be_absent=True) for key in _OF_ORDINALS
                }
                metadata["labels"] = {**labels, **metadata.get("labels", {})}
                spec = {**spec, "volumes": Unknown("the pod's volumes", may_be_absent=True)}
            if owner is not None and owner.kind == "DaemonSet":
                spec = {**spec, "affinity": Unknown("the pod's affinity", is_sound=True)}
            seen = {**each, "metadata": metadata, "spec": spec, "status": {}}
            plain = _known({**each, "metadata": metadata, "spec": {**each["spec"], "affinity": spec.get("affinity")}})
            known = {**plain["metadata"].get("labels", {}), **pod.labels}
            request = self._request("Pod", (seen,)) if "name" in metadata else self._unnamed(seen)
            found.append(_target(seen, plain, known, request, _PARTLY if of_stateful_set else frozenset()))
        return found

    def of_new_workload(self, kind: str, item: KubeObject) -> Target:
        """Return a new workload as mutating policies see it.

        Raises:
            NotWrittenError: if a part of the workload is not known.
        """
        if kind == "Job":
            raise NotWrittenError("the fields that the API server adds to a Job are unknown")
        written_item = _written(kind, _whole(item))
        metadata = {name: value for name, value in written_item["metadata"].items() if name not in STORED}
        if kind == "DaemonSet":
            metadata["annotations"] = {**metadata.get("annotations", {}), GENERATION: "0"}
        seen = {**written_item, "metadata": metadata}
        plain = _known(seen)
        labels = plain["metadata"].get("labels", {})
        return _target(seen, plain, labels, self._request(kind, (seen,)), frozenset())

    def _alternatives(self, pod: Pod, changed: tuple[str, ...]) -> tuple[Json, ...]:
        """Return the possible forms of a new pod; the fields in ``changed`` come from the typed pod."""
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "Job" and _INDEX in pod.labels:
            raise NotWrittenError("the Job controller's changes to the pod are unknown")
        found = dict(_written_pod(_text(pod, "pod")))
        found["metadata"] = _metadata(pod, found["metadata"], owner)
        if pod.namespace in self._bounded:
            noted = Unknown("the annotation of LimitRanger", is_sound=True, may_be_absent=True)
            annotations = found["metadata"].get("annotations")
            found["metadata"]["annotations"] = {**annotations, _LIMIT_RANGER: noted} if annotations else noted
        found["spec"] = _spec(pod, found["spec"], owner, changed)
        return tuple({**found, "spec": each} for each in _with_account(found["spec"]))

    def _unnamed(self, seen: Json) -> Request:
        request = self._request("Pod", ({**seen, "metadata": {**seen["metadata"], "name": ""}},))
        return request._replace(request={key: each for key, each in request.request.items() if key != "name"})

    def of_workload(self, kind: str, item: KubeObject) -> Request:
        """Return the request that creates a workload.

        Raises:
            NotWrittenError: if a part of the object is unknown.
        """
        return self._request(kind, (_written(kind, _whole(item)),))

    def of_new_replica_set(self, deployment: KubeObject) -> Target:
        """Return the ReplicaSet of a new Deployment, as mutating policies see it.

        Raises:
            NotWrittenError: if a part of the ReplicaSet is not known.
        """
        request = self.of_replica_set(deployment)
        made = request.alternatives[0]
        metadata = {name: value for name, value in made["metadata"].items() if name not in STORED}
        metadata["name"] = Unknown("the name of the ReplicaSet", is_sound=True)
        metadata["annotations"] = Unknown("the ReplicaSet's annotations", may_be_absent=True)
        seen = {**made, "metadata": metadata}
        plain = _known(seen)
        return _target(seen, plain, plain["metadata"].get("labels", {}), request, frozenset())

    def of_replica_set(self, deployment: KubeObject) -> Request:
        """Return the request that creates a new Deployment's ReplicaSet.

        Raises:
            NotWrittenError: if a part of the object is unknown.
        """
        given = _whole(deployment)["spec"]
        kept = {name: given[name] for name in ("replicas", "minReadySeconds", "selector", "template") if name in given}
        made = _written(
            "ReplicaSet", {"apiVersion": "apps/v1", "metadata": {"namespace": deployment.namespace}, "spec": kept}
        )
        spec, marked = made["spec"], {"pod-template-hash": Unknown("the label pod-template-hash", is_sound=True)}
        template = spec["template"]["metadata"]
        template["labels"] = {**template.get("labels", {}), **marked}
        spec["selector"]["matchLabels"] = {**spec["selector"].get("matchLabels", {}), **marked}
        owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment.name, "controller": True}
        made["metadata"] |= {
            "labels": template["labels"],
            "annotations": Unknown("the ReplicaSet's annotations"),
            "ownerReferences": [
                {
                    **owner,
                    "uid": Unknown("the owner's uid", is_sound=True),
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        }
        return self._request("ReplicaSet", (made,))

    def _request(self, kind: str, alternatives: tuple[Json, ...]) -> Request:
        group, version, resource = RESOURCES[kind]
        of_kind = {"group": group, "version": version, "kind": kind}
        of_resource = {"group": group, "version": version, "resource": resource}
        metadata = alternatives[0]["metadata"]
        request = {
            "kind": of_kind,
            "resource": of_resource,
            "requestKind": of_kind,
            "requestResource": of_resource,
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "operation": "CREATE",
            "userInfo": {
                "username": Unknown("the user that creates it", is_sound=True),
                "groups": Unknown("the user's groups", is_sound=True),
                "uid": Unknown("the user's uid", is_sound=True, may_be_absent=True),
                "extra": Unknown("the user's extra fields", may_be_absent=True),
            },
            "dryRun": False,
            "options": Unknown("request.options"),
        }
        return Request(alternatives, request, self._namespace(metadata["namespace"]))

    def _namespace(self, name: str) -> Json:
        known = self._namespaces.get(name)
        labels: Any = Unknown("the namespace's labels", may_be_absent=True)
        annotations: Any = Unknown("the namespace's annotations", may_be_absent=True)
        if known is not None:
            labels = {**known.labels, NAMESPACE_NAME: name}
            annotations = _annotations(known)
        metadata = {
            "name": name,
            "labels": labels,
            "annotations": annotations,
            **{key: Unknown(f"the namespace's {key}") for key in ("uid", "resourceVersion", "creationTimestamp")},
            "finalizers": Unknown("the namespace's finalizers", may_be_absent=True),
        }
        metadata = {key: value for key, value in metadata.items() if value is not None}
        return {"metadata": metadata, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def _annotations(namespace: Namespace) -> Any:
    kept = namespace.metadata.annotations
    if kept is None or kept.whole is None:
        return Unknown("the namespace's annotations", may_be_absent=True)
    try:
        return _parsed(kept.whole)["metadata"].get("annotations") or None
    except NotWrittenError:
        return Unknown("the namespace's annotations", may_be_absent=True)


def _text(item: KubeObject, what: str) -> str:
    annotations = item.metadata.annotations
    if annotations is None or annotations.whole is None:
        raise NotWrittenError(f"topospread kept only some fields of the {what}")
    return annotations.whole


def _whole(item: KubeObject) -> Json:
    found = _parsed(_text(item, "workload"))
    return found | {"metadata": {**found.get("metadata", {}), "namespace": item.namespace or "default"}}


def _parsed(text: str) -> Json:
    try:
        found = json.loads(text)
        metadata = found.setdefault("metadata", {})
        metadata.get("annotations", {}).items(), found["spec"].items()
    except (ValueError, RecursionError, AttributeError, KeyError):
        raise NotWrittenError(_UNREADABLE) from None
    return dict(found)


def _written(kind: str, given: Json) -> Json:
    try:
        return written(kind, given)
    except (WrongTypeError, ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise NotWrittenError(_UNREADABLE) from None


@lru_cache(maxsize=256)
def _written_pod(whole: str) -> Json:
    return _written("Pod", {**_parsed(whole), "apiVersion": "v1"})


def _metadata(pod: Pod, base: Json, owner: OwnerReference | None) -> Json:
    metadata = {**base, "namespace": pod.namespace or "default"}
    if pod.labels:
        metadata["labels"] = {
            key: Unknown(f"the label {key}", is_sound=True) if key in _SYNTHETIC and owner else value
            for key, value in pod.labels.items()
        }
    if owner is None:
        return metadata
    of_replica_set = owner.kind == "ReplicaSet"
    prefix = Unknown("metadata.generateName", is_sound=True) if of_replica_set else pod.metadata.generate_name
    metadata |= {
        "name": pod.name or Unknown("the generated name", is_sound=True),
        "generateName": prefix,
        "ownerReferences": [
            {
                "apiVersion": owner.api_version,
                "kind": owner.kind,
                "name": Unknown("the name of the ReplicaSet", is_sound=True) if of_replica_set else owner.name,
                "uid": Unknown("the owner's uid", is_sound=True),
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    if owner.kind == "Job":
        metadata["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    return metadata


def _target(seen: Json, plain: Json, labels: Json, request: Request, partly: frozenset[tuple[str, ...]]) -> Target:
    kind = seen["kind"]
    kept = {name: plain["metadata"][name] for name in ("name", "namespace", "annotations") if name in plain["metadata"]}
    metadata = {**kept, "labels": labels} if labels else kept
    known = {"apiVersion": plain["apiVersion"], "kind": kind, "metadata": metadata, "spec": plain["spec"]}
    return Target(kind, seen, known, request.request, request.namespace, partly)


def _known(value: Any) -> Any:
    """Return a value without its unknown parts; the service account's token volume gets a fixed name."""
    if isinstance(value, dict):
        return {
            key: _TOKEN if each is _TOKEN_NAME else _known(each)
            for key, each in value.items()
            if each is _TOKEN_NAME or not (isinstance(each, Unknown) or each is None)
        }
    return [_known(each) for each in value] if isinstance(value, list) else value


def without_token(spec: Json) -> Json:
    """Return a pod's spec without the token volume that service account admission adds, and without its mounts."""
    found = dict(spec)
    for name in ("containers", "initContainers"):
        if name in spec:
            found[name] = [_without(each, "volumeMounts") for each in spec[name]]
    return _without(found, "volumes")


def _without(holder: Json, name: str) -> Json:
    if all(each.get("name") != _TOKEN for each in holder.get(name, ())):
        return holder
    left = [each for each in holder[name] if each.get("name") != _TOKEN]
    return {key: left if key == name else each for key, each in holder.items() if key != name or left}


def _spec(pod: Pod, base: Json, owner: OwnerReference | None, changed: tuple[str, ...]) -> Json:
    given: Json = msgspec.to_builtins(pod.spec, enc_hook=str)
    spec = {**base, **{name: overlaid("PodSpec", name, given[name]) for name in changed if name in given}}
    if "resources" in base and "resources" in given:
        spec["resources"] = {**base["resources"], **spec["resources"]}
    for name, containers in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        if containers and len(containers) == len(base.get(name, ())):
            spec[name] = [_container(one, typed) for one, typed in zip(base[name], containers, strict=True)]
    volumes = {each["name"]: each for each in base.get("volumes", ())}
    for volume in given.get("volumes", ()):
        if "persistentVolumeClaim" in volume and volume != volumes.get(volume["name"]):
            volumes[volume["name"]] = overlaid("PodSpec", "volumes", [volume])[0]
    if volumes:
        spec["volumes"] = list(volumes.values())
    if owner is not None and owner.kind == "StatefulSet":
        spec["hostname"] = pod.name or Unknown("the generated name", is_sound=True)
        spec["subdomain"] = Unknown("the StatefulSet's serviceName", is_sound=True, may_be_absent=True)
    return spec


def _container(base: Json, typed: Container) -> Json:
    resources = msgspec.to_builtins(typed.resources, enc_hook=str) if typed.resources is not None else None
    if not resources:
        return base
    return {**base, "resources": {**base["resources"], **overlaid("Container", "resources", resources)}}


def _with_account(spec: Json) -> list[Json]:
    """Return the possible specs after service account admission.

    There are two, with and without a mounted token, if this depends on the service account, which is unknown.
    """
    account = spec.get("serviceAccountName") or "default"
    spec = {**spec, "serviceAccountName": account, "serviceAccount": account}
    if not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = Unknown("the service account's imagePullSecrets", may_be_absent=True)
    mounts = spec.get("automountServiceAccountToken")
    if mounts is False:
        return [spec]
    mounted = dict(spec)
    mount = {"name": _TOKEN_NAME, "readOnly": True, "mountPath": _TOKEN_PATH}
    added = False
    for name in ("containers", "initContainers"):
        if name not in spec:
            continue
        mounted[name] = []
        for each in spec[name]:
            there = each.get("volumeMounts", [])
            if any(one.get("mountPath") == _TOKEN_PATH for one in there):
                mounted[name].append(each)
            else:
                added = True
                mounted[name].append({**each, "volumeMounts": [*there, mount]})
    if added:
        mounted["volumes"] = [*spec.get("volumes", []), _TOKEN_VOLUME]
    return [mounted] if mounts else [mounted, spec]
