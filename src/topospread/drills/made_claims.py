"""Claims that are made with the pods of a drill, of ephemeral volumes; what they are bound to is not decided here."""

from __future__ import annotations

from topospread.api.pod import Pod
from topospread.config.gates import gates_for
from topospread.plugins.volume_controller import VolumeController
from topospread.simulation.run import Run
from topospread.workloads.claims import DefaultClass, VolumeClaims


class MadeClaims:
    """Puts the claims of new pods where kube-scheduler looks for them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        gates = run.options.gates or gates_for(run.options.kube_version)
        default = DefaultClass(run.plan.inventory.storage_classes, gates.kube_version)
        self._claims = VolumeClaims(run.plan, default)
        self._volumes = VolumeController(run.cluster, attributes_classes=gates.enabled("VolumeAttributesClass"))

    def given_to(self, pod: Pod, name: str) -> Pod:
        """The pod, under its own name where claims know it by that; those that bind at once are bound."""
        if not any(volume.ephemeral is not None for volume in pod.spec.volumes or ()):
            return pod
        plan, objects = self._run.plan, self._run.cluster.objects
        before = len(plan.inventory.persistent_volume_claims)
        pod, _ = self._claims.of_ephemeral_volumes(pod, name)
        made = plan.inventory.persistent_volume_claims[before:]
        keys = {(each.namespace, each.name) for each in made}
        objects.add(made)
        objects.assume_claims(plan.assumed_claims & keys)
        self._volumes.begin_with(keys)
        return pod
