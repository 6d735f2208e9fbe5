"""How the CPU time of a command grows when its input is ten times as large: a cliff shows as an exponent above 1.

python -m benchmarks.growth [WORDS]    prints a table; WORDS choose rows by name

What every command costs before it looks at its input is subtracted on both sides. 1 is returned if a row grows more
than twelvefold, or if the large input takes more seconds or megabytes than it may.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median

from benchmarks.clusters import HOST, ZONE, Json, node, pod_spec, write_list
from benchmarks.commands import cost_of

MOST = 12.0
_RUNS = 3
_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"


@dataclass(frozen=True, slots=True)
class Growing:
    """An input of two sizes, and the command that reads it.

    Attributes:
        seconds, megabytes: bounds for the large input; 0 megabytes are no bound.
    """

    name: str
    objects: Callable[[int], Iterable[Json]]
    small: int
    seconds: float
    megabytes: int = 0
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


def preemption(count: int, each: int) -> Iterator[Json]:
    """Return nodes full of pods under budgets, of so many apps; one pod for each 100 nodes, but ten, preempts."""
    yield from nodes(count)
    yield {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100_000,
    }
    for app in range(each):
        metadata, labels = {"name": f"low-{app}", "namespace": "ns"}, {"app": f"low-{app}"}
        budget = {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
        spec = pod_spec("none", f"low-{app}")
        spec["containers"][0]["resources"] = {"requests": {"cpu": f"{4000 // each}m"}}
        for i in range(count):
            pod_metadata = {"name": f"low-{i}-{app}", "namespace": "ns", "labels": labels}
            placed = spec | {"nodeName": f"node-{i:05d}", "priority": app}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": pod_metadata, "spec": placed}
    yield deployment("high", max(10, count // 100), [constraint(ZONE, _HARD, "high")], priorityClassName="high")


def zone_loss(pods: int) -> Iterator[Json]:
    """Return nodes and Deployments of a hundred pods that fill most of them."""
    constraints = [[constraint(ZONE, _HARD, f"app-{i}")] for i in range(pods // 100)]
    return chain(nodes(pods // 20), (deployment(f"app-{i}", 100, each) for i, each in enumerate(constraints)))


_ZONE_FAILS = ("drill", "--fail", "zone=zone-0")
ROWS = (
    Growing("Services under the system defaults, 5,000 nodes", system_defaults, 500, 5, 300),
    Growing("namespaces, 1,000 nodes", namespaces, 500, 4),
    Growing("Deployments that share one selector, 3,000 nodes", one_selector, 500, 15, 600),
    Growing("replicas with 8 constraints, 5,000 nodes", eight_constraints, 200, 1.6),
    Growing("racks of a hard constraint, 10,000 nodes", racks, 10, 1.1),
    Growing("groups with anti-affinity, 5,000 nodes", anti_affinity, 100, 3, 200),
    Growing("pods to preempt on each of 100 nodes, as many budgets", lambda each: preemption(100, each), 4, 0.6),
    Growing("nodes full of pods to preempt, 10 on each", lambda count: preemption(count, 10), 500, 8),
    Growing("pods when a zone fails, 20 on each node", zone_loss, 2_000, 6, command=_ZONE_FAILS),
    Growing("pods when a zone fails, 20 on each node", zone_loss, 10_000, 20, command=_ZONE_FAILS),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What an input takes, medians, and the largest resident size."""

    seconds: float
    megabytes: float


def measured(row: Growing, size: int, folder: Path) -> Cost:
    """Return what the input of a size takes."""
    path = folder / "input.json"
    write_list(path, row.objects(size))
    runs = [cost_of((row.command[0], "-f", str(path), *row.command[1:])) for _ in range(_RUNS)]
    return Cost(median(seconds for seconds, _ in runs), max(megabytes for _, megabytes in runs))


def main() -> int:
    """Print the table; return 1 if a row grows more than twelvefold or takes more than it may."""
    chosen = [each for each in ROWS if not sys.argv[1:] or any(word in each.name for word in sys.argv[1:])]
    failed = False
    print("| ten times as many | CPU | ten times | at most | peak | at most | factor | exponent |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        start = median(cost_of(["simulate", "--help"])[0] for _ in range(_RUNS))
        for row in chosen:
            small, large = (measured(row, size, Path(folder)) for size in (row.small, 10 * row.small))
            factor = max(large.seconds - start, 0.01) / max(small.seconds - start, 0.01)
            failed |= factor > MOST or large.seconds > row.seconds or 0 < row.megabytes < large.megabytes
            cells = [
                f"{row.name} ({row.small:,} → {10 * row.small:,})",
                f"{small.seconds:.2f} s",
                f"{large.seconds:.2f} s",
                f"{row.seconds:g} s",
                f"{large.megabytes:.0f} MB",
                f"{row.megabytes} MB" if row.megabytes else "",
                f"{factor:.1f}",
                f"{math.log10(factor):.2f}",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
