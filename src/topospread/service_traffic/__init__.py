"""What spread costs: how much of each Service's traffic crosses zones, and how unevenly its endpoints are asked."""

from .result import ServiceTraffic, Traffic, ZoneTraffic

__all__ = ["ServiceTraffic", "Traffic", "ZoneTraffic"]
