"""Writes `peers.md` from what `python -m conformance.peers` found with the real programs; runs none of them.

python docs/reference/write_peers.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from topospread.linting.rules import RULES

HERE = Path(__file__).parent
STORED = HERE.parents[1] / "tests" / "conformance" / "peers.json"

Json = dict[str, Any]

IN_SCOPE = {
    "kube-score": {
        "deployment-replicas": "fewer than two replicas",
        "deployment-strategy": "a Deployment's strategy",
        "deployment-has-host-podantiaffinity": "anti-affinity by host, which `anti-affinity-for-spread` speaks about",
        "statefulset-has-host-podantiaffinity": "the same of a StatefulSet",
        "deployment-has-poddisruptionbudget": "",
        "statefulset-has-poddisruptionbudget": "",
        "poddisruptionbudget-has-policy": "a budget that says neither minAvailable nor maxUnavailable",
        "horizontalpodautoscaler-has-target": "",
        "horizontalpodautoscaler-replicas": "minReplicas under two, whatever the domains",
        "deployment-targeted-by-hpa-does-not-have-replicas-configured": "replicas beside an autoscaler",
        "pod-topology-spread-constraints": "",
    },
    "kube-linter": {
        "no-anti-affinity": "no anti-affinity by host, which `anti-affinity-for-spread` speaks about",
        "minimum-three-replicas": "fewer than three replicas, whatever the domains",
        "hpa-minimum-three-replicas": "minReplicas under three, whatever the domains",
        "pdb-max-unavailable": "",
        "pdb-min-available": "",
        "pdb-unhealthy-pod-eviction-policy": "a budget without unhealthyPodEvictionPolicy",
        "dangling-horizontalpodautoscaler": "",
        "no-rolling-update-strategy": "a Deployment's strategy",
        "no-node-affinity": "no node affinity",
    },
    "polaris": {
        "deploymentMissingReplicas": "one replica",
        "topologySpreadConstraint": "",
        "missingPodDisruptionBudget": "",
        "pdbDisruptionsIsZero": "",
        "pdbMinAvailableGreaterThanHPAMinReplicas": "minAvailable over an autoscaler's minReplicas",
        "hpaMinAvailability": "minReplicas under two, whatever the domains",
        "hpaMaxAvailability": "maxReplicas that is minReplicas",
    },
}
"""The checks of the others that are about spreading and availability, and what they ask where that needs a word."""

HEAD = """\
# Beside other linters

What kube-score {kube-score}, kube-linter {kube-linter} and Polaris {polaris} find in the very files that show our
rules. Each was run with every check that it has on the [wrong and on the right example](rules/README.md) of each rule;
a check stands here that fails on the wrong one and not on the right one, so that it tells the two apart. They look at
manifests alone: what takes nodes, none of them can know. Written from `tests/conformance/peers.json` by
`python docs/reference/write_peers.py`; `python -m conformance.peers` runs the programs again.

| rule | kube-score | kube-linter | Polaris |
|---|---|---|---|
"""

OTHER_WAY = """
## Their checks of spreading and availability

| program | check | found here by | what it asks |
|---|---|---|---|
"""


def told_apart(found: Json) -> list[str]:
    """The checks that fail on the wrong example alone; what is about the order of keys has nothing to do with it."""
    return sorted(set(found["wrong"]) - set(found["right"]) - {"sorted-keys"})


def page() -> str:
    """The whole page."""
    stored = json.loads(STORED.read_text())
    rules = [(rule.id, stored["rules"][rule.id]) for rule in RULES if rule.id in stored["rules"]]
    text = HEAD
    for name, version in stored["versions"].items():
        text = text.replace(f"{{{name}}}", version)
    found_by: dict[tuple[str, str], list[str]] = {}
    for rule, found in rules:
        cells = []
        for peer in IN_SCOPE:
            checks = told_apart(found[peer])
            cells.append(", ".join(f"`{each}`" for each in checks) or "–")
            for each in checks:
                found_by.setdefault((peer, each), []).append(rule)
        text += f"| [`{rule}`](rules/{rule}.md) | {' | '.join(cells)} |\n"
    text += OTHER_WAY
    for peer, checks in IN_SCOPE.items():
        for check, asks in checks.items():
            ours = ", ".join(f"`{each}`" for each in found_by.get((peer, check), ())) or "–"
            text += f"| {peer} | `{check}` | {ours} | {asks} |\n"
    return text


if __name__ == "__main__":
    (HERE / "peers.md").write_text(page())
