"""The cost of spread: the share of each Service's traffic that crosses zones, and uneven load of its endpoints."""

from .result import ExpectedTraffic, TrafficOfService, TrafficOfZone

__all__ = ["ExpectedTraffic", "TrafficOfService", "TrafficOfZone"]
