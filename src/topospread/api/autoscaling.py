"""HorizontalPodAutoscalers: what they scale, and between how many replicas (data only)."""

from __future__ import annotations

import msgspec

from .meta import Int32, KubeObject, KubeStruct


class CrossVersionObjectReference(KubeStruct):
    """The object that is scaled, in the autoscaler's namespace."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(KubeStruct):
    """``spec`` of a HorizontalPodAutoscaler; metrics are not read."""

    scale_target_ref: CrossVersionObjectReference = msgspec.field(default_factory=CrossVersionObjectReference)
    min_replicas: Int32 | None = None
    max_replicas: Int32 = 0

    @property
    def least(self) -> int:
        """``minReplicas``, 1 by default."""
        return 1 if self.min_replicas is None else self.min_replicas


class HorizontalPodAutoscaler(KubeObject):
    """``autoscaling/v2`` HorizontalPodAutoscaler."""

    spec: HorizontalPodAutoscalerSpec = msgspec.field(default_factory=HorizontalPodAutoscalerSpec)
