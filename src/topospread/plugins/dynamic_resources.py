"""DynamicResources: pods that claim devices are not judged; their allocation is a matter of its own.

kube-scheduler's plugin looks for devices in ResourceSlices and writes what it allocates into ResourceClaims. None of
that is modelled, and a guess would be worse than no answer, so that such a pod stays pending and says why.
"""

from __future__ import annotations

from topospread.cluster import Cluster, PodClass

from .interface import PluginError, Prepared

NOT_JUDGED = "not judged: resource claims"


class DynamicResources:
    """Answers pods with ``spec.resourceClaims`` that they cannot be judged."""

    name = "DynamicResources"

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Nothing to say about other pods.

        Raises:
            PluginError: the pod claims devices.
        """
        if pod_class.pod.spec.resource_claims:
            raise PluginError(NOT_JUDGED)
        return Prepared()
