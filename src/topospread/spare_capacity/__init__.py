"""The number of replicas that fit until the first stays pending, what ends it, and the node that helps most."""

from .result import Capacity, CapacityReport, DomainRoom, KeyRoom, Purchase, TargetRoom, ZoneLoss

__all__ = ["Capacity", "CapacityReport", "DomainRoom", "KeyRoom", "Purchase", "TargetRoom", "ZoneLoss"]
