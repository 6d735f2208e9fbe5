"""The rules that CEL policies cannot express, with the information they lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OTHERS = "it compares the object with others, and a policy sees one object"
_NODES = "it looks at the cluster's nodes, and a policy sees one object"
_TRIED = "it places the pods on the cluster's nodes, which CEL cannot"
_CONFIGURATION = "a scheduler configuration is a file, and no object of the API server"

NOT_IN_CEL: Final[Mapping[str, str]] = {
    "validation": "the API server refuses it by itself, before it asks policies",
    "unknown-plugin": _CONFIGURATION,
    "unknown-field": "the API server drops unknown fields first (fieldValidation: Strict refuses them)",
    "unknown-kind": "the API server does not know the kind, so that nothing can be matched",
    "object-twice": "it compares the objects of a file, and the API server sees one object at a time",
    "min-domains-soft": "the API server refuses it by itself, before it asks policies",
    "extender-annotation-malformed": "it parses a grammar with selectors, and CEL can parse only part of it",
    "own-annotation-unread": "it parses promises, and CEL can parse only part of them",
    "selector-counts-others": _OTHERS,
    "group-differs": _OTHERS,
    "group-spread-deadlock": _OTHERS,
    "selector-shared": _OTHERS,
    "defaults-never-apply": "it looks for Services that select the pods, and a policy sees one object",
    "own-constraints-drop-defaults": "it looks at kube-scheduler's configuration, which is no object",
    "budget-blocks-drain": "it counts the pods that a budget selects, and a policy sees one object",
    "budget-blocks-rebalance": "it counts the pods that a budget selects, and a policy sees one object",
    "several-budgets": _OTHERS,
    "budget-selects-nothing": "it looks for pods that the budget selects, and a policy sees one object",
    "no-budget": "it looks for a PodDisruptionBudget, and a policy sees one object",
    "one-replica-to-spread": "it looks for autoscalers and for others' pods, and a policy sees one object",
    "autoscaler-under-domains": "it looks at the workload that is scaled, and a policy sees one object",
    "autoscaler-without-target": "it looks for what is scaled, and a policy sees one object",
    "several-autoscalers": _OTHERS,
    "api-version-not-served": "the API server refuses what it does not serve, before it asks policies",
    "field-not-in-version": "the API server has dropped such fields before it asks policies",
    "zone-in-two-regions": _OTHERS,
    "hostname-shared": _OTHERS,
    "pool-labelled-in-part": _OTHERS,
    "node-lacks-key": _OTHERS,
    "storage-class-missing": "it looks at the cluster's StorageClasses, and a policy sees one object",
    "storage-capacity-missing": "its objects are written by a storage driver, which ignores warnings",
    "resource-claim-missing": "it looks for claims and templates, and a policy sees one object",
    "two-plugins-spread": _CONFIGURATION,
    "defaults-repeat-built-in": _CONFIGURATION,
    "defaults-without-plugin": _CONFIGURATION,
    "default-key-on-no-node": _CONFIGURATION,
    "no-node-matches": _NODES,
    "topology-key-on-no-node": _NODES,
    "soft-key-on-no-node": _NODES,
    "soft-key-stops-scoring": _NODES,
    "topology-key-on-some-nodes": _NODES,
    "min-domains-over-cluster": _NODES,
    "replicas-under-domains": _NODES,
    "one-domain-in-cluster": _NODES,
    "skewed-already": _NODES,
    "closed-domain-pins-minimum": _NODES,
    "constraints-deadlock": _TRIED,
    "rollout-gets-stuck": _TRIED,
    "anti-affinity-stops-rollout": _TRIED,
    "anti-affinity-over-nodes": _TRIED,
    "unused-ignore": "it is about comments and annotations that keep findings of other rules from being reported",
    "unknown-ignore": "it is about comments, which the API server does not see",
}
"""Rule → why no policy can express it, in the order of the rules."""
