"""Comparison of pod templates as revisions, and a hash for a revision that has no hash yet.

Templates are compared with the API server's defaults, in the fields that topospread reads. It does not notice a change
of an environment variable alone. Source: pkg/controller/deployment/util/deployment_util.go (``EqualIgnoreHash``),
pkg/controller/statefulset/stateful_set_utils.go, pkg/controller/daemon/update.go.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from topospread.admission.defaults import DEFAULT_SCHEDULER_NAME
from topospread.admission.names import safe_hash
from topospread.api.pod import Container, Pod, PodTemplateSpec
from topospread.api.quantity import QuantityError, parse_quantity
from topospread.api.timestamps import seconds

from .planned import Workload

TEMPLATE_HASH_LABEL = "pod-template-hash"
REVISION_HASH_LABEL = "controller-revision-hash"

_ENCODER = msgspec.json.Encoder(enc_hook=str)
_WHOLE = "topospread.dev/whole"
_AMOUNTS = frozenset({"requests", "limits", "overhead"})


def canonical(template: PodTemplateSpec) -> bytes:
    """Return the template's content without ``pod-template-hash``, the same for templates of one revision."""
    return _canonical(_ENCODER.encode(template))


@lru_cache(maxsize=4096)
def _canonical(template: bytes) -> bytes:
    data: dict[str, Any] = json.loads(template)
    metadata = data.get("metadata", {})
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key != TEMPLATE_HASH_LABEL}
    annotations = metadata.get("annotations") or {}
    annotations.pop(_WHOLE, None)  # the full text, which differs in defaults and the hash
    spec = data.get("spec", {})
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("schedulerName", DEFAULT_SCHEDULER_NAME)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for port in container.get("ports") or ():
            port.setdefault("protocol", "TCP")
            if spec.get("hostNetwork") and not port.get("hostPort"):
                port["hostPort"] = port.get("containerPort")
    content = {"labels": labels, "annotations": annotations or None, "spec": _tidy(spec)}
    return json.dumps(content, sort_keys=True).encode()


TEMPLATE_CHANGED = "the template changed"
"""Beginning of the note on a workload without pods of its current template."""


def revision_hash(template: PodTemplateSpec) -> str:
    """Return a hash of the template. It is not the hash that controllers compute, which covers all fields."""
    return safe_hash(canonical(template))


def _tidy(value: Any, name: str = "") -> Any:
    """Return the value without nulls, false and empty lists, but with empty selectors. Quantities are canonical."""
    if isinstance(value, dict):
        if name in _AMOUNTS:
            return {key: _amount(amount) for key, amount in value.items()}
        items = {key: _tidy(item, key) for key, item in value.items()}
        return {k: v for k, v in items.items() if v not in (None, False, []) and (v != {} or k.endswith("elector"))}
    return [_tidy(item) for item in value] if isinstance(value, list) else value


def _amount(amount: str | float | None) -> str:
    try:
        return str(parse_quantity(amount or 0))
    except QuantityError:
        return str(amount)


def shown_revision(template: Pod, pods: Iterable[Pod], named: str | None = None) -> str | None:
    """Return the ``controller-revision-hash`` of the pods that may be made from a template; None without such pods.

    The input has no ControllerRevisions, so pods are compared with the template. Additional containers and tolerations
    are ignored, and node affinity, which the DaemonSet controller writes.

    Args:
        template: a pod of the template after admission.
        pods: the workload's pods, which an API server may have changed further.
        named: the newest revision in the workload's status, which may be older than the manifest.
    """
    there = list(pods)
    if named:
        of_it = [pod for pod in there if pod.labels.get(REVISION_HASH_LABEL) == named]
        return named if not of_it or any(_shows(template, pod) for pod in of_it) else None
    alike = [pod for pod in there if REVISION_HASH_LABEL in pod.labels and _shows(template, pod)]
    youngest = max(alike, key=lambda pod: seconds(pod.metadata.creation_timestamp) or 0.0, default=None)
    return youngest.labels[REVISION_HASH_LABEL] if youngest else None


def note_other_revisions(row: Workload, pods: Collection[Pod]) -> None:
    """Add a note if the workload has pods that are recognised as of other revisions."""
    template = row.template
    if template is not None:
        revision = template.labels.get(REVISION_HASH_LABEL)
        other = sum(
            pod.labels.get(REVISION_HASH_LABEL, revision) != revision or not _shows(template, pod) for pod in pods
        )
        note_old_pods(row, other, changed=other == len(pods))


def note_old_pods(row: Workload, count: int, *, changed: bool) -> None:
    """Add the note on old pods if there are any.

    ``changed``: whether no pod is from the current template yet.
    """
    if count:
        they = "its existing pod stays" if count == 1 else f"{count} existing pods stay"
        why = TEMPLATE_CHANGED if changed else "a rollout is under way"
        row.notes.append(f"{why}: {they} of the old revision; the rollout itself is not simulated")


def _shows(template: Pod, pod: Pod) -> bool:
    spec, there = template.spec, pod.spec
    wanted = {key: value for key, value in template.labels.items() if key != REVISION_HASH_LABEL}
    return (
        wanted.items() <= pod.labels.items()
        and (spec.node_selector or {}).items() <= (there.node_selector or {}).items()
        and (spec.priority_class_name or "") == (there.priority_class_name or "")
        and bool(spec.host_network) == bool(there.host_network)
        and _keys(spec.topology_spread_constraints) == _keys(there.topology_spread_constraints)
        and _are_there(spec.containers, there.containers)
        and _are_there(spec.init_containers, there.init_containers)
    )


def _keys(constraints: Iterable[Any] | None) -> list[tuple[object, ...]]:
    return [
        (each.topology_key, each.when_unsatisfiable, each.max_skew, each.effective_min_domains)
        for each in constraints or ()
    ]


def _are_there(containers: list[Container] | None, there: list[Container] | None) -> bool:
    by_name: Mapping[str, Container] = {each.name: each for each in there or ()}
    return all(each.name in by_name and _alike(each, by_name[each.name]) for each in containers or ())


def _alike(left: Container, right: Container) -> bool:
    return (left.image or "") == (right.image or "") and _requests(left) == _requests(right)


def _requests(container: Container) -> dict[str, str]:
    requests = container.resources.requests if container.resources else None
    return {name: _amount(amount) for name, amount in (requests or {}).items()}
