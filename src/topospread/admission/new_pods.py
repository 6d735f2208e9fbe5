"""New pods that the API server denies by validation, LimitRanges, Pod Security levels or policies in CEL."""

from __future__ import annotations

from topospread.api.inventory import Inventory
from topospread.api.labels import aggregated
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.config.gates import Gates
from topospread.config.request_rules import request_rules

from .label_keys import invalid_label_keys
from .limit_ranges import LimitRanges
from .pod_admission import Admission, status_message
from .policies import AdmissionPolicies, may_change

VALIDATION = "validation"


class NewPodRules:
    """An inventory's rules for single new pods. `quotas` has the rules for sums over pods (ResourceQuotas).

    Args:
        gates: gates of the API server.
        admission: other admission plugins, which process pods again after a policy changed them.
    """

    def __init__(self, inventory: Inventory, gates: Gates, admission: Admission) -> None:
        self.policies = AdmissionPolicies(inventory, gates, admission)
        self.request_rules = request_rules(gates)
        self._bounds = LimitRanges(inventory.limit_ranges, self.request_rules)
        self._admission, self._gates = admission, gates
        self._any = bool(inventory.limit_ranges or self.policies)

    def __bool__(self) -> bool:
        """True if a rule may refuse a pod."""
        return self._any or self._admission.made_invalid

    def refusal(self, pod: Pod) -> tuple[str, str]:
        """Return the name of the rule that denies a new pod, and the API server's message.

        Both are "" if no rule denies the pod, or if a mutating policy may change the pod in an unknown way.
        """
        if pod.spec.refused_admission:
            return "MutatingAdmissionPolicy", pod.spec.refused_admission
        if may_change(pod):
            return "", ""
        bounds = f"LimitRange of the namespace {pod.namespace}"
        resources = self._bounds.invalid_resources(pod)
        keys = invalid_label_keys(pod.spec, self._gates) if self._admission.made_invalid else ()
        if invalid := [*resources, *(each.message for each in keys)]:
            # apimachinery/pkg/api/errors/errors.go, NewInvalid
            return bounds if resources else VALIDATION, status_message(pod, aggregated(invalid), is_invalid=True)
        if words := self._bounds.refusal(pod):
            return bounds, status_message(pod, words)
        who, words = self.policies.refusal(pod)
        return (who, status_message(pod, words)) if who else ("", "")

    def on_workload(self, kind: str, item: KubeObject) -> tuple[str, list[str]]:
        """Return (denial of a new workload or its ReplicaSet, policies whose decision is unknown).

        The denial is "" if both are admitted. The list is empty if one is denied.
        """
        opened = []
        for made, name, decision in self.policies.decisions_on_workload(kind, item):
            if decision.open:
                opened.append(f"ValidatingAdmissionPolicy {name} ({made.kind}: {decision.open})")
                continue
            shown = made.name or f"{item.name}-…"
            denied = f'{made.qualified} "{shown}" is forbidden: {decision.denial}'
            if made.kind == kind:
                return denied, []
            # pkg/controller/deployment/sync.go
            return f'ReplicaSetCreateError: Failed to create new replica set "{shown}": {denied}', []
        return "", opened
