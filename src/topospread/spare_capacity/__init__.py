"""How many more replicas a cluster takes until the first stays pending, what ends it, and which node helps most."""

from .result import Capacity, CapacityReport, DomainRoom, KeyRoom, Purchase, TargetRoom, ZoneLoss

__all__ = ["Capacity", "CapacityReport", "DomainRoom", "KeyRoom", "Purchase", "TargetRoom", "ZoneLoss"]
