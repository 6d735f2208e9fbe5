"""StatefulSets → pods with ordinals, in order, with their claims. Existing pods are not updated to a new template.

Sources: pkg/controller/statefulset/{stateful_set_control,stateful_set_utils}.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from topospread.admission.label_keys import reads_own_labels
from topospread.admission.names import parent_and_ordinal
from topospread.api.pod import Pod
from topospread.api.workload import StatefulSet
from topospread.config.versions import KubeVersion

from .claims import with_claims
from .controllers import Controller
from .draft import Draft
from .planned import QueuedPod, Workload
from .removal import is_active, is_leaving
from .revisions import REVISION_HASH_LABEL, note_other_revisions, revision_hash, shown_revision

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
INDEX_LABELS_SINCE = KubeVersion(1, 28)
"""First version in which pods of StatefulSets and indexed Jobs have their index as a label (PodIndexLabel)."""


def plan_stateful_set(draft: Draft, owner: Controller) -> None:
    """Plan a StatefulSet: remove ordinals outside its range, and add missing ones in order."""
    item = owner.object
    if not isinstance(item, StatefulSet):
        raise TypeError(f"{owner.kind} is no StatefulSet")
    there = {ordinal: pod for pod in owner.pods if is_active(pod) and (ordinal := _ordinal(owner, pod)) >= 0}
    leaving = {_ordinal(owner, pod) for pod in owner.pods if is_leaving(pod)}
    desired = draft.desired(owner, item.spec.replicas)
    start = (item.spec.ordinals.start if item.spec.ordinals else 0) or 0
    wanted = range(start, start + desired)
    deleting = item.metadata.deletion_timestamp is not None
    row = draft.row(owner.kind, owner.namespace, owner.name, len(there) if deleting else desired)
    missing = [] if deleting else [ordinal for ordinal in wanted if ordinal not in there and ordinal not in leaving]
    if not deleting:
        draft.remove(there.pop(ordinal) for ordinal in sorted(there.keys() - set(wanted), reverse=True))
    row.template = _template(draft, owner, item, there, needed=bool(missing))
    in_order = item.spec.pod_management_policy != "Parallel"
    draft.keep(row, (pod for pod in owner.pods if pod.terminating or _ordinal(owner, pod) < 0))
    ordinals = leaving & set(wanted)
    if ordinals:
        names = ", ".join(f"{row.name}-{ordinal}" for ordinal in sorted(ordinals))
        row.notes.append(f"the controller recreates terminating pods once they are gone; not simulated: {names}")
    _add(draft, row, item, there | dict.fromkeys(missing), in_order=in_order)
    note_other_revisions(row, there.values())


def _add(draft: Draft, row: Workload, item: StatefulSet, pods: Mapping[int, Pod | None], *, in_order: bool) -> None:
    """Add the pods of a StatefulSet by ordinal. ``pods``: ordinal → pod, None for a missing pod."""
    ordinals = PodMaker(draft, row, item)
    previous: QueuedPod | None = None
    for ordinal in sorted(pods):
        pod = pods[ordinal]
        if pod is None:
            name = f"{item.name}-{ordinal}"
            queued = draft.add(row, ordinals.make(ordinal, name), name, after=previous)
        elif pod.spec.node_name:
            row.existing.append(pod)
            queued = None
        else:
            ordinals.assume_claims(pod.name)
            queued = draft.add(row, pod, pod.name)
        previous = queued if in_order else None


class PodMaker:
    """Creates the pods of one StatefulSet from its template after admission."""

    def __init__(self, draft: Draft, row: Workload, item: StatefulSet) -> None:
        self._draft = draft
        self._row = row
        self._item = item
        self._index_label = draft.gates.kube_version >= INDEX_LABELS_SINCE

    def make(self, ordinal: int, name: str) -> Pod:
        """Return the pod of an ordinal, with its labels and the claims of the claim templates."""
        template = self._row.template
        if template is None:
            raise ValueError(f"{self._row} has no template")
        labels = {**template.labels, **_identity(name, ordinal, with_index=self._index_label)}
        pod = replace(template, metadata=replace(template.metadata, name=name, labels=labels))
        claims = self.assume_claims(name)
        if claims:
            pod = replace(pod, spec=replace(pod.spec, volumes=with_claims(pod.spec.volumes, claims)))
        if any(key in (POD_NAME_LABEL, POD_INDEX_LABEL) for key in reads_own_labels(pod.spec)):
            return self._draft.admission.admit(pod, lenient=True)
        return pod

    def assume_claims(self, name: str) -> dict[str, str]:
        """Return claim template → claim of a pod. Add missing claims to the inventory as assumed."""
        if not self._item.spec.volume_claim_templates:
            return {}
        claims, new = self._draft.volumes.of_stateful_set(self._item, name)
        self._draft.claims_made(self._row, new)
        return claims


def keeps_its_revision(item: StatefulSet, ordinal: int) -> bool:
    """Return whether a recreated pod of the ordinal has the old revision, because of ``partition``.

    Source: pkg/controller/statefulset/stateful_set_utils.go (``newVersionedStatefulSetPod``).
    """
    given = item.spec.update_strategy
    partition = given.rolling_update.partition if given is not None and given.rolling_update is not None else None
    start = (item.spec.ordinals.start if item.spec.ordinals else 0) or 0
    return ordinal < start + (partition or 0)


def of_template(item: StatefulSet, template: Pod, pod: Pod) -> Pod:
    """Return a pod from ``template`` with the name, ordinal labels and claims of ``pod``."""
    labels = {name: pod.labels[name] for name in (POD_NAME_LABEL, POD_INDEX_LABEL) if name in pod.labels}
    claims = {each.name: f"{each.name}-{pod.name}" for each in item.spec.volume_claim_templates or ()}
    spec = replace(template.spec, volumes=with_claims(template.spec.volumes, claims)) if claims else template.spec
    metadata = replace(template.metadata, name=pod.name, labels={**template.labels, **labels})
    return replace(template, metadata=metadata, spec=spec)


def _identity(name: str, ordinal: int, *, with_index: bool) -> dict[str, str]:
    return {POD_NAME_LABEL: name} | ({POD_INDEX_LABEL: str(ordinal)} if with_index else {})


def _ordinal(owner: Controller, pod: Pod) -> int:
    parent, ordinal = parent_and_ordinal(pod.name)
    return ordinal if parent == owner.name else -1


def _template(draft: Draft, owner: Controller, item: StatefulSet, there: Mapping[int, Pod], *, needed: bool) -> Pod:
    """Return the template after admission, with its revision."""
    pod = draft.admitted(owner, owner.new_pod(), needed=needed)
    revision = shown_revision(pod, there.values(), item.status.update_revision if item.status else None)
    if revision is None:
        revision = f"{item.name}-{revision_hash(item.spec.template)}"
    return draft.admitted(owner, owner.new_pod({REVISION_HASH_LABEL: revision}), needed=needed)
