"""The random source of a case and the words it draws from; not the objects made of them."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
REGION = "topology.kubernetes.io/region"
RACK = "example.com/rack"
KEYS = [ZONE, HOST, REGION, RACK]
APPS = ["web", "api", "db"]
TIERS = ["front", "back"]
HASHES = ["6b4f", "9c2d"]
NAMESPACES = ["default", "prod", "dev"]
IMAGES = ["registry.k8s.io/pause:3.10", "docker.io/library/nginx:1.27", "docker.io/library/redis:7"]


class Draw(random.Random):
    """A seeded source: equal seeds give equal cases, so the order of draws is part of every generator."""

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability

    def namespace(self) -> str:
        """A namespace, mostly the default one."""
        return self.choices(NAMESPACES, [6, 2, 1])[0]
