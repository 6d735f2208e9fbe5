"""The exit code of each command for each kind of unknown: a row for each command, a column for each case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]
ZONES = ["--on", "zones=3,nodes=6,cpu=4"]
OPEN, REFUSED, LONG = "claim open", "claim refused by cpu anyway", "budget exhausted"
TABLE: dict[str, tuple[list[str], dict[str, int]]] = {
    "status": ([], {OPEN: 4, REFUSED: 1}),
    "why": (["shop/deploy/infer"], {OPEN: 4, REFUSED: 1}),
    "capacity": (["shop/deploy/infer"], {OPEN: 4, REFUSED: 1}),
    "simulate": ([], {OPEN: 4, REFUSED: 1}),
    "drill": (["--fail", "zone=zone-a"], {OPEN: 4, REFUSED: 0}),
    "rebalance": ([], {OPEN: 0, REFUSED: 0}),
    "plan": (["--to-kube-version", "1.36"], {OPEN: 0, REFUSED: 0}),
    "promise check": (["--want", "never-waits"], {OPEN: 4, REFUSED: 1, LONG: 4}),
    "promise show": ([], {OPEN: 4, REFUSED: 1, LONG: 4}),
    "promise design": (["--states", "500"], {OPEN: 4, REFUSED: 1, LONG: 4}),
}
"""Command → further options, and exit code by case."""
FURTHER: dict[tuple[str, str], list[str]] = {
    ("promise check", LONG): ["--want", "zone-loss>=1", "--states", "1"],
    ("promise show", LONG): ["--states", "1"],
    ("promise design", LONG): ["--tries", "1"],
}


def deployment(cpu: str, *, claims: bool, spread: bool, replicas: int) -> Json:
    pod: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}
    if claims:
        pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    if spread:
        pod["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "infer"}},
                "matchLabelKeys": ["pod-template-hash"],
            }
        ]
    labels = {"app": "infer"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "infer", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


CASES = {
    OPEN: deployment("1", claims=True, spread=True, replicas=3),
    REFUSED: deployment("16", claims=True, spread=True, replicas=3),
    LONG: deployment("1", claims=False, spread=False, replicas=12),
}
"""Of the last, a zone has room for eight of twelve pods, which is found by a search alone."""


@pytest.mark.parametrize(("command", "case"), [(name, case) for name, (_, codes) in TABLE.items() for case in codes])
def test_what_is_not_known_has_an_exit_code_of_its_own(in_process: Any, command: str, case: str) -> None:
    Path("infer.json").write_text(json.dumps(CASES[case]))
    options, codes = TABLE[command]
    words = [*command.split(), "-f", "infer.json", *ZONES, *FURTHER.get((command, case), options)]
    code, out, err = in_process(*words)
    assert code == codes[case], out + err
    assert out.startswith({0: "yes: ", 1: "no: ", 4: "unknown: "}[code])
    if code == 4:
        assert "not judged: " in out
