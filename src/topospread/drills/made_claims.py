"""Claims that are made with the pods of a drill: of their ephemeral volumes; which volumes they get is not here."""

from __future__ import annotations

from topospread.api.pod import Pod
from topospread.config.gates import gates_for
from topospread.simulation.run import Run
from topospread.workloads.claims import VolumeClaims
from topospread.workloads.default_class import DefaultClass


class MadeClaims:
    """Puts the claims of new pods where kube-scheduler looks for them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        version = (run.options.gates or gates_for(run.options.kube_version)).kube_version
        default = DefaultClass(run.plan.inventory.storage_classes, version)
        self._claims = VolumeClaims(run.plan, default)

    def given_to(self, pod: Pod, name: str) -> Pod:
        """The pod, under its own name where claims know it by that."""
        if not any(volume.ephemeral is not None for volume in pod.spec.volumes or ()):
            return pod
        plan, objects = self._run.plan, self._run.cluster.objects
        before = len(plan.inventory.persistent_volume_claims)
        pod, _ = self._claims.of_ephemeral_volumes(pod, name)
        made = plan.inventory.persistent_volume_claims[before:]
        objects.add(made)
        objects.assume_claims(plan.assumed_claims & {(each.namespace, each.name) for each in made})
        return pod
