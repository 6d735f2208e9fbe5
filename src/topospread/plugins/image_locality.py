"""ImageLocality: a higher score for nodes that already have the pod's images (plugins/imagelocality)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.config.version_rules import since

from .interface import MAX_NODE_SCORE, Prepared, Scope, length

_MEGABYTE = 1024 * 1024
_MINIMUM = 23 * _MEGABYTE
_MAXIMUM_PER_IMAGE = 1000 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class ImageLocalityRules:
    """The differences between Kubernetes versions."""

    more_for_more_containers: bool = since(
        "1.19", "The full score needs 1000 MiB of images for each container. Before, for each pod."
    )
    init_containers: bool = since("1.30", "Images of init containers count too.")
    image_volumes: bool = since("1.36", "Images of image volumes count too.")
    more_for_image_volumes: bool = since(
        "1.37", "Image volumes, like containers, raise the size that the full score needs."
    )


class ImageLocality:
    """Score: sum of the sizes of the pod's images on the node, each scaled by the share of nodes with the image.

    The size of an image is the size that the first node with the image reported (`topospread.cluster.images`).
    """

    name = "ImageLocality"

    def __init__(self, rules: ImageLocalityRules | None = None) -> None:
        self._rules = rules or ImageLocalityRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Score for every pod; kube-scheduler does not skip this plugin."""
        spec, rules = pod_class.pod.spec, self._rules
        containers = [*((spec.init_containers or ()) if rules.init_containers else ()), *(spec.containers or ())]
        images = [container.image or "" for container in containers]
        counted = len(images) if rules.more_for_more_containers else 1
        if rules.image_volumes:
            mounted = [volume.image.reference or "" for volume in spec.volumes or () if volume.image is not None]
            images += mounted
            counted += len(mounted) if rules.more_for_image_volumes else 0
        maximum = counted * _MAXIMUM_PER_IMAGE
        return Prepared(score=_ImageScore([normalized_image_name(image) for image in images], maximum, cluster))


def normalized_image_name(name: str) -> str:
    """Return the image's name with a tag, by default ``latest``."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


class _ImageScore:
    """The Score extension point. It depends on the number of nodes with each image, so only nodes change it."""

    scope = Scope.NODE

    def __init__(self, images: list[str], maximum: int, cluster: Cluster) -> None:
        self._images = images
        self._maximum = maximum
        self._cluster = cluster

    @property
    def depends_on_other_nodes(self) -> bool:
        """True if a change of one node changes the scores of other nodes."""
        return any(self._cluster.nodes.images.get(image) is not None for image in self._images)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        table = self._cluster.nodes
        if not self.depends_on_other_nodes:
            return np.zeros(length(rows), dtype=np.int64)
        sums = np.zeros(table.size, dtype=np.int64)
        for image in self._images:
            found = table.images.get(image)
            if found is not None:
                share = len(found.rows) / max(len(table), 1)
                sums[list(found.rows)] += int(found.size * share)
        clipped = np.maximum(np.minimum(sums[rows], self._maximum), _MINIMUM)
        return MAX_NODE_SCORE * (clipped - _MINIMUM) // (self._maximum - _MINIMUM)
