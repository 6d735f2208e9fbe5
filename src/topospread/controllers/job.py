"""Jobs and one run of a CronJob → the pods that may run now; later pods are not simulated.

Sources: pkg/controller/job/{job_controller,indexed_job_utils}.go, pkg/controller/cronjob/utils.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from topospread.admission.label_keys import reads_own_labels
from topospread.admission.names import generated_uid
from topospread.admission.policies import not_judged
from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod
from topospread.api.workload import CronJob, Job, JobSpec
from topospread.whole_number import whole_number

from .controllers import Controller, owner_reference
from .draft import Draft
from .planned import Workload
from .removal import is_active, is_leaving, removal_order_of_job
from .stateful_set import INDEX_LABELS_SINCE

INDEX_LABEL = "batch.kubernetes.io/job-completion-index"
JOB_CONTROLLER = "kubernetes.io/job-controller"
_MAX_PREFIX = 58
_MOST_INDEXES = 1_000_000
"""Maximum number of indexes read from one interval, because a short text can name two billion indexes."""


def plan_job(draft: Draft, owner: Controller) -> None:
    """Plan a Job: the pods that may run at once now. A finished Job is not a workload."""
    item = owner.object
    if not isinstance(item, Job):
        raise TypeError(f"{owner.kind} is no Job")
    active = [pod for pod in owner.pods if is_active(pod)]
    if _is_over(item) and not active:
        return
    succeeded = _succeeded(item, owner.pods)
    row = draft.row(owner.kind, owner.namespace, owner.name, 0)
    if _stands_still(row, item):
        row.replicas = len(active)
    else:
        row.replicas = _wanted_active(draft, owner, item.spec, len(succeeded), len(active))
    removed = _surplus(item.spec, active, len(active) - row.replicas)
    draft.remove(removed)
    gone = {id(pod) for pod in removed}
    draft.keep(row, (pod for pod in owner.pods if id(pod) not in gone))
    left = [pod for pod in active if id(pod) not in gone]
    missing = max(row.replicas - len(left) - _holding_place(item.spec, owner.pods), 0)
    row.template = draft.admitted(owner, owner.new_pod(), needed=missing > 0)
    if draft.gates.enabled("WorkloadWithJob") and _gets_group(item, owner.pods):
        row.template = not_judged(row.template, f"PodGroup of the Job {owner.name}")
    if _is_indexed(item.spec):
        _add_indexed(
            draft, row, row.template, _free_indexes(item, owner.pods, {*succeeded, *_indexes_of(left)}, missing)
        )
    else:
        draft.replicate(row, row.template, missing, owner.name)


def _gets_group(item: Job, pods: Sequence[Pod]) -> bool:
    """Return whether the controller makes a PodGroup for the Job (``getManagementMode``, ``isNewJob``)."""
    alone = item.metadata.controller is None and item.spec.template.spec.scheduling_group is None
    return alone and not pods and not (item.status and (item.status.succeeded or item.status.failed))


def _free_indexes(item: Job, pods: Iterable[Pod], taken: set[int], count: int) -> list[int]:
    """Return the first ``count`` indexes without a running, succeeded or failed pod (``firstPendingIndexes``)."""
    completions = item.spec.completions or 0
    taken |= set(_parsed(item.status.failed_indexes if item.status else None, completions))
    if item.spec.pod_replacement_policy == "Failed":
        taken |= set(_indexes_of(pod for pod in pods if is_leaving(pod)))
    return list(islice((index for index in range(completions) if index not in taken), count))


def _wanted_active(draft: Draft, owner: Controller, spec: JobSpec, succeeded: int, active: int) -> int:
    """Return the number of pods that may run now (``manageJob``)."""
    completions = spec.completions
    if completions is None and spec.parallelism is None:
        completions = 1
    needed = 0 if spec.suspend else None if completions is None else max(completions - succeeded, 0)
    parallelism = draft.desired(owner, spec.parallelism, "parallelism", needed=needed)
    if spec.suspend:
        return 0
    if completions is None:
        return active if succeeded else parallelism
    return max(min(completions - succeeded, parallelism), 0)


def _stands_still(row: Workload, item: Job) -> bool:
    """Return whether the Job's controller creates no pods, and add a note with the reason."""
    if item.metadata.deletion_timestamp or _is_over(item):
        return True
    if item.spec.managed_by not in (None, "", JOB_CONTROLLER):
        row.notes.append(f"{item.spec.managed_by} manages it: its pods are not created here")
        return True
    if item.spec.suspend:
        row.notes.append("it is suspended: it has no pods")
    return False


def _is_over(item: Job) -> bool:
    status = item.status
    if status is None:
        return False
    over = {condition.type for condition in status.conditions or () if condition.status == "True"}
    return bool(status.completion_time or over & {"Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"})


def _is_indexed(spec: JobSpec) -> bool:
    return spec.completion_mode == "Indexed"


def _succeeded(item: Job, pods: Iterable[Pod]) -> Sequence[int]:
    """Return the completed indexes; for a Job without indexes, one number for each succeeded pod.

    They are from the Job's status, or from its Succeeded pods if the status is missing.
    """
    done = [pod for pod in pods if pod.phase == "Succeeded"]
    status = item.status
    if _is_indexed(item.spec):
        completions = item.spec.completions or 0
        indexes = {*_parsed(status.completed_indexes if status else None, completions), *_indexes_of(done)}
        return sorted(index for index in indexes if index < completions)
    return range(max((status.succeeded or 0) if status else 0, len(done)))


def _parsed(intervals: str | None, completions: int) -> Iterable[int]:
    """Parse indexes such as ``1,3-5`` below ``completions`` (``parseIndexesFromString``); skip invalid parts."""
    for interval in (intervals or "").split(","):
        first, dash, last = interval.partition("-")
        begin, end = whole_number(first), whole_number(last if dash else first)
        if begin is not None and end is not None:
            yield from range(begin, min(end + 1, completions, begin + _MOST_INDEXES))


def _indexes_of(pods: Iterable[Pod]) -> Iterable[int]:
    return (index for pod in pods if (index := _index(pod)) is not None)


def _index(pod: Pod) -> int | None:
    """Return the completion index from the pod's annotation; from its label if it has no annotations."""
    annotations = pod.metadata.annotations
    text = (annotations.completion_index if annotations else None) or pod.labels.get(INDEX_LABEL, "")
    return whole_number(text)


def _holding_place(spec: JobSpec, pods: Iterable[Pod]) -> int:
    """Return the number of terminating pods that the controller replaces only after they have ended."""
    if spec.pod_replacement_policy != "Failed":
        return 0
    return sum(map(is_leaving, pods))


def _surplus(spec: JobSpec, active: Sequence[Pod], surplus: int) -> list[Pod]:
    """Return the pods to remove; pods with a repeated or without an index come first (``activePodsForRemoval``)."""
    removed: list[Pod] = []
    if _is_indexed(spec):
        by_index: dict[int | None, list[Pod]] = {}
        for pod in active:
            by_index.setdefault(_index(pod), []).append(pod)
        for index, pods in by_index.items():
            valid = index is not None and index < (spec.completions or 0)
            removed += removal_order_of_job(pods)[: len(pods) - valid]
    if len(removed) < surplus:
        gone = {id(pod) for pod in removed}
        rest = removal_order_of_job([pod for pod in active if id(pod) not in gone])
        removed += rest[: surplus - len(removed)]
    return removed


def _add_indexed(draft: Draft, row: Workload, template: Pod, indexes: Iterable[int]) -> None:
    labelled = draft.gates.kube_version >= INDEX_LABELS_SINCE
    reads_index = INDEX_LABEL in set(reads_own_labels(template.spec))
    for index in indexes:
        end = f"-{index}-"
        prefix = row.name[: _MAX_PREFIX - len(end)] + end
        pod = template
        if labelled:
            labels = {**template.labels, INDEX_LABEL: str(index)}
            pod = replace(pod, metadata=replace(pod.metadata, labels=labels))
            if reads_index:
                pod = draft.admission.admit(pod, lenient=True)
        draft.add(row, pod, next(draft.names.generate(row.namespace, prefix)))


def run_of(item: CronJob) -> Job:
    """Return the Job of one CronJob run, without the time that the controller adds to the name."""
    name = f"{item.name}-run"
    metadata = ObjectMeta(
        name=name,
        namespace=item.namespace,
        uid=generated_uid("Job", item.namespace, name),
        owner_references=[owner_reference("CronJob", item)],
    )
    return Job(api_version="batch/v1", kind="Job", metadata=metadata, spec=item.spec.job_template.spec)
