"""Random feature gates: those that the plugins of a version read, and that it could still switch."""

from __future__ import annotations

from conformance.generators.draw import Draw

_KEYS = "MatchLabelKeysInPodTopologySpread"
_KEYS_NEEDED = ("1.35", "1.36", "1.37")
"""Where the gate that merges the keys into selectors cannot be on without it."""
_SPREAD = ["NodeInclusionPolicyInPodTopologySpread", _KEYS]
# In 1.35 not VolumeLimitScaling: of several drivers that are missing kube-scheduler names any.
SWITCHED = {
    "1.26": [
        *_SPREAD,
        "MinDomainsInPodTopologySpread",
        "VolumeCapacityPriority",
    ],
    "1.27": [
        *_SPREAD,
        "MinDomainsInPodTopologySpread",
        "InPlacePodVerticalScaling",
        "VolumeCapacityPriority",
        "ReadWriteOncePod",
        "PodDisruptionConditions",
    ],
    "1.28": [
        *_SPREAD,
        "MinDomainsInPodTopologySpread",
        "SidecarContainers",
        "InPlacePodVerticalScaling",
        "VolumeCapacityPriority",
        "ReadWriteOncePod",
        "PodDisruptionConditions",
    ],
    "1.29": [
        *_SPREAD,
        "MinDomainsInPodTopologySpread",
        "SidecarContainers",
        "InPlacePodVerticalScaling",
        "VolumeCapacityPriority",
        "PodDisruptionConditions",
    ],
    "1.30": [
        *_SPREAD,
        "SidecarContainers",
        "InPlacePodVerticalScaling",
        "VolumeCapacityPriority",
        "PodDisruptionConditions",
    ],
    "1.31": [
        *_SPREAD,
        "SidecarContainers",
        "InPlacePodVerticalScaling",
        "VolumeCapacityPriority",
        "VolumeAttributesClass",
    ],
    "1.33": [
        _KEYS,
        "PodLevelResources",
        "InPlacePodVerticalScaling",
        "StorageCapacityScoring",
        "VolumeAttributesClass",
    ],
    "1.34": [
        _KEYS,
        "PodLevelResources",
        "InPlacePodVerticalScaling",
        "StorageCapacityScoring",
    ],
    "1.35": [
        _KEYS,
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "NodeDeclaredFeatures",
    ],
    "1.36": [_KEYS, "StorageCapacityScoring", "TaintTolerationComparisonOperators", "VolumeLimitScaling"],
    "1.37": [_KEYS, "StorageCapacityScoring", "TaintTolerationComparisonOperators", "VolumeLimitScaling"],
}


def gates(draw: Draw, version: str, config: object = None) -> dict[str, bool]:
    """Some gates of a version, set to either value; arguments that need one keep it on."""
    drawn = {gate: draw.choice([True, False]) for gate in SWITCHED[version] if draw.chance(0.7)}
    if not drawn.get(_KEYS, True) and version in _KEYS_NEEDED:
        drawn[f"{_KEYS}SelectorMerge"] = False
    if "VolumeBindingArgs" in str(config):
        drawn.pop("StorageCapacityScoring", None)
    return drawn
