"""Capacity: how many replicas fit until the first stays pending, what the limit is, and which node helps most."""

from .result import Capacity, CapacityReport, DomainRoom, KeyRoom, Purchase, TargetRoom, ZoneLoss

__all__ = ["Capacity", "CapacityReport", "DomainRoom", "KeyRoom", "Purchase", "TargetRoom", "ZoneLoss"]
