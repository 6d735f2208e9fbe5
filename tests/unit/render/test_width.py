"""No report writes a line that is wider than the terminal, unless it is a single name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.answer import Answer
from topospread.answers.plan import plan_answer
from topospread.answers.status import status
from topospread.answers.why import why_answer
from topospread.plan.review import Review
from topospread.simulation.comparison import compare
from topospread.simulation.options import SimulationOptions
from topospread.simulation.orders import simulate_orders
from topospread.simulation.simulate import simulate
from topospread.why.explain import explain

Json = dict[str, Any]
NAME = "payments-settlement-and-reconciliation-worker-production"
NAMESPACE = "payments-and-settlement-production"
KEY = "acme.example.com/failure-domain-of-the-building-power-distribution"
LABELS = {"app.kubernetes.io/component": "worker-of-the-production-line"}


def node(number: int) -> Json:
    name = f"gke-production-europe-west-default-pool-0a1b2c3d-{number:04d}.internal"
    building = f"building-{'abc'[number % 3]}-power-distribution-unit-in-the-cellar"
    taint = {"key": "acme.example.com/dedicated-to-machine-learning", "effect": "NoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, KEY: building}},
        "spec": {"taints": [taint] if number == 5 else []},
        "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}},
    }


def deployment(name: str, replicas: int, *, hard: bool) -> Json:
    labels = LABELS | {"app.kubernetes.io/name": name}
    each = {
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }
    first = each | {"topologyKey": KEY} | ({"minDomains": 5} if hard else {})
    constraints = [first, each | {"topologyKey": "kubernetes.io/hostname"}]
    spec = {"containers": [{"name": "c", "image": "c"}], "topologySpreadConstraints": constraints}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


@pytest.fixture(scope="module", params=[2, 14])
def reports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """Reports by name on a cluster of long names, few workloads or many."""
    others = [deployment(f"{NAME}-{i}", 4, hard=False) for i in range(request.param)]
    items = [*map(node, range(12)), deployment(NAME, 9, hard=True), *others]
    path = Path(tmp_path_factory.mktemp("long")) / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    given = topospread.load(str(path))
    found = simulate(given, keep_after=True)
    assert found.after is not None
    explained = why_answer(explain(given, f"deploy/{NAME}", namespace=NAMESPACE, suggest=False))
    orders = simulate_orders(given, 3, SimulationOptions())
    compared = compare(found, simulate(given, options=SimulationOptions(seed=1)), ("by name", "drawn"))
    return {
        "simulation": found.answer(),
        "orders": orders.answer(),
        "status": status(found.after),
        "explanation": explained,
        "comparison": plan_answer(Review(compared)),
    }


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("wide", [False, True])
def test_only_a_single_name_is_wider_than_the_terminal(reports: dict[str, Answer], width: int, wide: bool) -> None:
    for name, answer in reports.items():
        for line in answer.text(width=width, wide=wide).splitlines():
            if line.startswith(("fix: kubectl", "run: kubectl", "  [{")):  # a command or a patch to copy is one line
                continue
            longest = max(map(len, line.split()), default=0)
            assert len(line) <= width or longest > width - 8 or longest == len(line.strip()), (name, line)
