"""Dynamic resource allocation: devices of ResourceSlices for the claims of pods (KEP-4381)."""

from __future__ import annotations

from .plugin import DynamicResources
from .rules import DynamicResourcesRules

__all__ = ["DynamicResources", "DynamicResourcesRules"]
