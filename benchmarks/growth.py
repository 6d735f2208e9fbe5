"""How the CPU time of a command grows when its input is ten times as large: a cliff shows as an exponent above 1.

python -m benchmarks.growth [WORDS]    prints a table; WORDS choose rows by name; 1 if a row grows more than twelvefold

What every command costs before it looks at its input is subtracted on both sides.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

from benchmarks.clusters import HOST, ZONE, Json, node, pod_spec
from benchmarks.commands import cpu_seconds

MOST = 12.0
_RUNS = 3
_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"


@dataclass(frozen=True, slots=True)
class Growing:
    """An input of two sizes, and the command that reads it."""

    name: str
    objects: Callable[[int], Iterable[Json]]
    small: int
    command: tuple[str, ...] = ("simulate", "-o", "name")


def constraint(key: str, when: str, app: str, skew: int = 1) -> Json:
    """Return a spread constraint."""
    selector = {"matchLabels": {"app": app}}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector}


def deployment(name: str, replicas: int, constraints: list[Json], namespace: str = "ns", **more: object) -> Json:
    """Return a Deployment whose pods have the label ``app`` of the constraints' selector, or of its own name."""
    selected = [each["labelSelector"]["matchLabels"]["app"] for each in constraints]
    labels = {"app": selected[0] if selected else name, "name": name}
    spec = pod_spec("none", name) | more
    if constraints:
        spec["topologySpreadConstraints"] = constraints
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def service(name: str, namespace: str = "ns") -> Json:
    """Return a Service for the pods of a Deployment."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def nodes(count: int, **keys: int) -> Iterator[Json]:
    """Return nodes with further topology keys."""
    return (node(i, keys=keys) for i in range(count))


def system_defaults(count: int) -> Iterator[Json]:
    """Return Services and Deployments of two replicas."""
    return chain(nodes(5_000), *((deployment(f"a-{i}", 2, []), service(f"a-{i}")) for i in range(count)))


def namespaces(count: int) -> Iterator[Json]:
    """Return namespaces with a Service and a Deployment each."""
    for i in range(count):
        yield deployment(f"a-{i}", 2, [constraint(ZONE, _HARD, f"a-{i}")], f"n{i}")
        yield service(f"a-{i}", f"n{i}")
    yield from nodes(1_000)


def one_selector(count: int) -> Iterator[Json]:
    """Return Deployments whose constraints all select the same pods."""
    constraints = [constraint(ZONE, _HARD, "one"), constraint(HOST, _SOFT, "one")]
    return chain(nodes(3_000), (deployment(f"a-{i}", 2, constraints) for i in range(count)))


def eight_constraints(replicas: int) -> Iterator[Json]:
    """Return a Deployment with eight constraints, over 3 to 10 domains."""
    keys = {f"k{i}": 3 + i for i in range(8)}
    constraints = [constraint(key, (_HARD, _SOFT)[i % 2], "app", 2) for i, key in enumerate(keys)]
    return chain(nodes(5_000, **keys), [deployment("app", replicas, constraints)])


def racks(count: int) -> Iterator[Json]:
    """Return nodes in racks, and a Deployment with a hard constraint on the rack."""
    return chain(nodes(10_000, rack=count), [deployment("app", 2_000, [constraint("rack", _HARD, "app")])])


def anti_affinity(groups: int) -> Iterator[Json]:
    """Return Deployments whose ten pods keep away from each other."""
    yield from nodes(5_000)
    for i in range(groups):
        term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": f"a-{i}"}}}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        yield deployment(f"a-{i}", 10, [], affinity=affinity)


def preemption(count: int) -> Iterator[Json]:
    """Return nodes full of pods under budgets; one pod for each ten nodes has to preempt."""
    yield from nodes(count)
    yield {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100_000,
    }
    for app in range(10):
        metadata, labels = {"name": f"low-{app}", "namespace": "ns"}, {"app": f"low-{app}"}
        budget = {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
        spec = pod_spec("none", f"low-{app}")
        spec["containers"][0]["resources"] = {"requests": {"cpu": "400m"}}
        for i in range(count):
            pod_metadata = {"name": f"low-{i}-{app}", "namespace": "ns", "labels": labels}
            placed = spec | {"nodeName": f"node-{i:05d}", "priority": app}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": pod_metadata, "spec": placed}
    yield deployment("high", count // 10, [constraint(ZONE, _HARD, "high")], priorityClassName="high")


def zone_loss(pods: int) -> Iterator[Json]:
    """Return nodes and Deployments of a hundred pods that fill most of them."""
    constraints = [[constraint(ZONE, _HARD, f"app-{i}")] for i in range(pods // 100)]
    return chain(nodes(pods // 20), (deployment(f"app-{i}", 100, each) for i, each in enumerate(constraints)))


ROWS = (
    Growing("Services under the system defaults, 5,000 nodes", system_defaults, 500),
    Growing("namespaces, 1,000 nodes", namespaces, 500),
    Growing("Deployments that share one selector, 3,000 nodes", one_selector, 500),
    Growing("replicas with 8 constraints, 5,000 nodes", eight_constraints, 200),
    Growing("racks of a hard constraint, 10,000 nodes", racks, 10),
    Growing("groups with anti-affinity, 5,000 nodes", anti_affinity, 100),
    Growing("nodes full of pods to preempt", preemption, 50),
    Growing("pods when a zone fails", zone_loss, 2_000, ("drill", "--fail", "zone=zone-0")),
)


def measured(row: Growing, folder: Path, start: float) -> tuple[float, float]:
    """Return CPU seconds for the small input and for one ten times as large, medians."""
    found = []
    for size in (row.small, 10 * row.small):
        path = folder / "input.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(row.objects(size))}))
        words = [row.command[0], "-f", str(path), *row.command[1:]]
        found.append(max(median(cpu_seconds(words) for _ in range(_RUNS)) - start, 0.01))
    return found[0], found[1]


def main() -> int:
    """Print the table; return 1 if a row grows more than twelvefold."""
    chosen = [each for each in ROWS if not sys.argv[1:] or any(word in each.name for word in sys.argv[1:])]
    steep = 0
    print("| ten times as many | CPU | ten times | factor | exponent |\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        start = median(cpu_seconds(["simulate", "--help"]) for _ in range(_RUNS))
        for row in chosen:
            small, large = measured(row, Path(folder), start)
            factor = large / small
            steep += factor > MOST
            name = f"{row.name} ({row.small:,} → {10 * row.small:,})"
            print(f"| {name} | {small:.2f} s | {large:.2f} s | {factor:.1f} | {math.log10(factor):.2f} |", flush=True)
    return int(steep > 0)


if __name__ == "__main__":
    sys.exit(main())
