"""ImageLocality: points for nodes that already have the pod's images (plugins/imagelocality)."""

from __future__ import annotations

import numpy as np

from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows

from .interface import MAX_NODE_SCORE, Prepared, Scope, length

_MEGABYTE = 1024 * 1024
_MINIMUM = 23 * _MEGABYTE
_MAXIMUM_PER_IMAGE = 1000 * _MEGABYTE


class ImageLocality:
    """Score: sizes of the pod's images that the node has, each scaled by the share of nodes that have it.

    ``init_containers``: their images count too (since 1.28); ``image_volumes``: those of image volumes (since 1.32).
    """

    name = "ImageLocality"

    def __init__(self, *, init_containers: bool = True, image_volumes: bool = True) -> None:
        self._init_containers = init_containers
        self._image_volumes = image_volumes

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Always scores; kube-scheduler does not skip this plugin."""
        spec = pod_class.pod.spec
        containers = [*((spec.init_containers or ()) if self._init_containers else ()), *(spec.containers or ())]
        images = [container.image or "" for container in containers]
        if self._image_volumes:
            images += [volume.image.reference or "" for volume in spec.volumes or () if volume.image is not None]
        return Prepared(score=_ImageScore([normalized_image_name(image) for image in images], cluster))


def normalized_image_name(name: str) -> str:
    """The image's name with a tag: ``latest`` when it has none."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


class _ImageScore:
    """Rests on other nodes too (how many have an image), which change only when nodes do."""

    scope = Scope.NODE

    def __init__(self, images: list[str], cluster: Cluster) -> None:
        self._images = images
        self._cluster = cluster

    @property
    def rests_on_all_nodes(self) -> bool:
        """Whether a change of one node changes the points of others."""
        return any(self._cluster.nodes.images.get(image) for image in self._images)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        table = self._cluster.nodes
        if not self.rests_on_all_nodes:
            return np.zeros(length(rows), dtype=np.int64)
        sums = np.zeros(table.size, dtype=np.int64)
        for image in self._images:
            found = table.images.get(image, {})
            share = len(found) / max(len(table), 1)
            for row, size in found.items():
                sums[row] += int(size * share)
        maximum = _MAXIMUM_PER_IMAGE * len(self._images)
        clipped = np.clip(sums[rows], _MINIMUM, maximum)
        return MAX_NODE_SCORE * (clipped - _MINIMUM) // (maximum - _MINIMUM)
