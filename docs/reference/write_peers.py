"""Writes `peers.md` from what `python -m conformance.peers` found with the real programs; runs none of them.

python docs/reference/write_peers.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from topospread.lint.rules import RULES

HERE = Path(__file__).parent
STORED = HERE.parents[1] / "tests" / "conformance" / "peers.json"

Json = dict[str, Any]

IN_SCOPE = {
    "kube-score": {
        "deployment-replicas": "fewer than two replicas",
        "deployment-strategy": "a Deployment without a rolling update",
        "deployment-has-host-podantiaffinity": "no anti-affinity by host",
        "statefulset-has-host-podantiaffinity": "no anti-affinity by host",
        "deployment-has-poddisruptionbudget": "",
        "statefulset-has-poddisruptionbudget": "",
        "poddisruptionbudget-has-policy": "a budget without minAvailable and maxUnavailable",
        "horizontalpodautoscaler-has-target": "",
        "horizontalpodautoscaler-replicas": "minReplicas under two, whatever the domains",
        "deployment-targeted-by-hpa-does-not-have-replicas-configured": "replicas set together with an autoscaler",
        "pod-topology-spread-constraints": "",
    },
    "kube-linter": {
        "no-anti-affinity": "no anti-affinity by host",
        "minimum-three-replicas": "fewer than three replicas, whatever the domains",
        "hpa-minimum-three-replicas": "minReplicas under three, whatever the domains",
        "pdb-max-unavailable": "",
        "pdb-min-available": "minAvailable of all replicas, also [`budget-blocks-drain`](rules/budget-blocks-drain.md)",
        "pdb-unhealthy-pod-eviction-policy": "a budget without unhealthyPodEvictionPolicy",
        "dangling-horizontalpodautoscaler": "",
        "no-rolling-update-strategy": "a Deployment without a rolling update",
        "no-node-affinity": "no node affinity",
    },
    "polaris": {
        "deploymentMissingReplicas": "one replica",
        "topologySpreadConstraint": "",
        "missingPodDisruptionBudget": "",
        "pdbDisruptionsIsZero": "",
        "pdbMinAvailableGreaterThanHPAMinReplicas": "minAvailable above an autoscaler's minReplicas",
        "hpaMinAvailability": "minReplicas under two, whatever the domains",
        "hpaMaxAvailability": "maxReplicas equal to minReplicas",
    },
}
"""The checks of the others that are about spreading and availability, and what they ask where that needs a word."""

HEAD = """\
# Compared with other linters

kube-score {kube-score}, kube-linter {kube-linter} and Polaris {polaris} check manifests without nodes. Each was
run with every check on the [wrong and the right example](rules/README.md) of each rule. "Here:" names the rules
whose wrong example fails the check and whose right example passes it. For all other rules, no check differs.

Written from `tests/conformance/peers.json` by `python docs/reference/write_peers.py`;
`python -m conformance.peers` runs the programs again.
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
        for peer in IN_SCOPE:
            for each in told_apart(found[peer]):
                found_by.setdefault((peer, each), []).append(f"[`{rule}`](rules/{rule}.md)")
    for peer, checks in IN_SCOPE.items():
        text += f"\n## {peer}\n\n"
        for check, asks in checks.items():
            ours = ", ".join(found_by.get((peer, check), ()))
            parts = [asks, f"here: {ours}" if ours else ""]
            text += f"- `{check}`: {'; '.join(part for part in parts if part) or 'no rule'}\n"
    return text


if __name__ == "__main__":
    (HERE / "peers.md").write_text(page())
