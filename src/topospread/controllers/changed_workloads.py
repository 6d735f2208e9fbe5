"""Changes of new workloads by MutatingAdmissionPolicies. Workloads whose policies are not evaluated are marked."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from topospread.admission.names import generated_uid
from topospread.admission.policies import not_judged
from topospread.api.kinds import KINDS
from topospread.api.pod import Pod
from topospread.api.validation.schema import STRUCT_OF

from .draft import Draft

_MADE_BY_OTHERS = frozenset({"Deployment", "CronJob"})


def change_workloads(draft: Draft) -> None:
    """Apply the policies to the workloads of a plan's inventory that no API server has stored."""
    inventory, policies = draft.plan.inventory, draft.new_pods.policies
    for kind in STRUCT_OF.keys() - {"Pod"} if inventory.mutating_bindings else ():
        found = []
        for item in getattr(inventory, KINDS[kind].attribute):
            key = kind, item.namespace, item.name
            owner = item.metadata.controller
            is_new = not item.metadata.resource_version and item.metadata.uid in (None, "", generated_uid(*key))
            if not is_new or (owner is not None and owner.kind in _MADE_BY_OTHERS):
                found.append(item)
                continue
            changed, opened = policies.changed_workload(kind, item)
            found.append(_marked(changed, opened) if opened else changed)
        setattr(inventory, KINDS[kind].attribute, found)


def _marked(item: Any, opened: list[str]) -> Any:
    """Return a workload whose template is marked as not judged. ``opened``: policies that are not evaluated."""
    spec = item.spec
    if hasattr(spec, "job_template"):
        return replace(item, spec=replace(spec, job_template=_marked(spec.job_template, opened)))
    if spec.template is None:
        return item
    pod = not_judged(Pod(spec=spec.template.spec), *opened)
    return replace(item, spec=replace(spec, template=replace(spec.template, spec=pod.spec)))
