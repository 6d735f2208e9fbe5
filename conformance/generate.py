"""Random scheduling cases for a differential test against kube-scheduler; decides nothing itself.

Every case is a small cluster (nodes, bound pods, owners, configuration) and one or more incoming pods. Output: one
JSON object a line, the input format of the oracle. Equal arguments give equal cases.

    python -m conformance.generate --seed 1 --count 1000 --flavour mixed > cases.jsonl
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from conformance.generators.configuration import configuration
from conformance.generators.corners import corners
from conformance.generators.draw import NAMESPACES, Draw, Json
from conformance.generators.gates import gates
from conformance.generators.nodes import nodes
from conformance.generators.owners import owners
from conformance.generators.pods import Pods
from conformance.generators.preemption import preemption
from conformance.generators.profile import profile
from conformance.generators.requests import requests
from conformance.generators.sampling import sampling
from conformance.generators.scarce_volumes import ScarceVolumes
from conformance.generators.sequence import sequence
from conformance.generators.storage import storage
from conformance.generators.tainted import tainted
from conformance.generators.topology_labels import selected_by_all, topology_labels
from conformance.generators.volumes import Volumes

NEWEST = "1.37"
# What `every` draws from: all that the oracles of all versions judge.
KINDS = ("spread", "mixed", "volumes", "preemption", "storage", "requests", "profile")
# What sequences are made of.
EVENTFUL = (
    *("spread", "mixed", "preemption", "preemption", "corners", "labelled", "storage"),
    *("scarce", "scarce", "scarce"),
)
FLAVOURS = (*KINDS, "corners", "labelled", "scarce", "sampling", "tainted", "every", "eventful")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What kind of cases to make.

    Attributes:
        flavour: ``spread`` (no other pod's affinity, no volumes), ``mixed`` (the former too), ``volumes``,
            ``preemption``, ``storage`` (volumes of every kind, and what nodes declare), ``requests`` (resources in
            every form), ``profile`` (plugins on and off, all their arguments), ``corners`` (empty values, ports used
            twice, image sizes that differ, objects with the least fields: what is rarely there), ``labelled`` (pods
            that are selected by the zone and region of their node, which they get as labels), ``scarce`` (fewer
            volumes than claims), ``sampling`` (not all nodes are looked at, several profiles), ``tainted`` (every node
            of some domains is tainted, minDomains is larger than what is left), ``every`` (any of them but the last
            five, case by case), ``eventful`` (those of which sequences are made).
        sequential: replicas placed one after another; 0: independent pods.
        incoming: independent pods a case.
        nodes: fewest and most nodes a case.
        kube_version: the minor version the cases are about; None: whichever judges them.
        steps: fewest and most steps of a sequence that the case is turned into; none: it stays a case.
    """

    flavour: str = "mixed"
    sequential: int = 0
    incoming: int = 4
    nodes: tuple[int, int] = (2, 24)
    kube_version: str | None = None
    steps: tuple[int, int] | None = None


def cases(recipe: Recipe, seed: int, count: int) -> Iterator[Json]:
    """``count`` cases; the i-th depends on the recipe, the seed and i alone."""
    for i in range(count):
        draw = Draw(f"{seed}/{recipe.flavour}/{recipe.sequential}/{i}")
        yield _case(draw, recipe, f"{recipe.flavour}-{seed}-{i:05d}")


def _case(draw: Draw, recipe: Recipe, name: str) -> Json:
    length = draw.randint(*recipe.steps) if recipe.steps else 0
    if length:
        tried = max(1, round(length * draw.choice([0.5, 0.65, 0.8])))
        recipe = replace(recipe, incoming=tried, sequential=draw.choice([0, tried]))
    if recipe.flavour in ("every", "eventful"):
        recipe = replace(recipe, flavour=draw.choice(KINDS if recipe.flavour == "every" else EVENTFUL))
    all_plugins = recipe.flavour != "spread"
    pods = Pods(draw, other_pods=all_plugins)
    cluster = nodes(draw, recipe.nodes)
    names = [node["metadata"]["name"] for node in cluster]
    bound = [pods.bound(f"p{i:04d}", draw.choice(names)) for i in range(draw.randint(0, 4 * len(cluster)))]
    if recipe.sequential:
        incoming = _replicas(draw, pods, recipe.sequential)
        owned = owners(draw, incoming[:1])
        _own_alike(incoming)
    else:
        incoming = [pods.incoming(f"in{i}") for i in range(recipe.incoming)]
        owned = owners(draw, incoming)
    case: Json = {"name": name, "nodes": cluster, "pods": bound, "incoming": incoming, "namespaces": _namespaces()}
    config = configuration(draw, all_plugins)
    if config:
        case["config"] = config
    case |= owned
    if recipe.sequential:
        case["sequential"] = True
    _flavour(draw, recipe, case, pods)
    if recipe.kube_version:
        case["kubeVersion"] = recipe.kube_version
    if recipe.flavour not in ("profile", "sampling", "tainted"):
        switched = gates(draw, recipe.kube_version or NEWEST, case.get("config"))
        if switched and (recipe.kube_version or draw.chance(0.3)):
            case["featureGates"] = switched
    if length:
        case.pop("sequential", None)
        sequence(draw, pods, case, length)
    return case


def _flavour(draw: Draw, recipe: Recipe, case: Json, pods: Pods) -> None:
    """Add what the flavour is about."""
    cluster, bound, incoming = case["nodes"], case["pods"], case["incoming"]
    match recipe.flavour:
        case "preemption":
            case |= preemption(draw, pods, cluster, bound, incoming)
        case "volumes":
            case |= Volumes(draw, cluster).add(bound, incoming)
        case "storage":
            case |= storage(draw, pods, case, newest=recipe.kube_version is None)
        case "requests":
            requests(draw, bound, incoming)
        case "profile":
            profile(draw, case, recipe.kube_version or NEWEST)
        case "corners":
            corners(draw, pods, case)
        case "labelled":
            if draw.chance(0.5):
                case |= preemption(draw, pods, cluster, bound, incoming)
            topology_labels(draw, case)
            selected_by_all(draw, case)
        case "scarce":
            case |= ScarceVolumes(draw, cluster).give(incoming)
        case "sampling":
            sampling(draw, case)
        case "tainted":
            if draw.chance(0.3):
                case |= preemption(draw, pods, cluster, bound, incoming)
            tainted(draw, case)


def _replicas(draw: Draw, pods: Pods, count: int) -> list[Json]:
    """Pods of one to three templates in random order."""
    templates = [pods.incoming("replica") for _ in range(draw.choice([1, 1, 2, 3]))]
    out = []
    for i in range(count):
        pod = copy.deepcopy(draw.choice(templates))
        pod["metadata"] |= {"name": f"replica-{i:03d}", "uid": f"uid-r{i}"}
        out.append(pod)
    return out


def _own_alike(incoming: list[Json]) -> None:
    """Pods of the first one's template have its owner too."""
    first = incoming[0]["metadata"]
    if "ownerReferences" not in first:
        return
    for pod in incoming[1:]:
        metadata = pod["metadata"]
        if (metadata["namespace"], metadata["labels"]) == (first["namespace"], first["labels"]):
            metadata["ownerReferences"] = first["ownerReferences"]


def _namespaces() -> list[Json]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "labels": {"env": "prod" if name == "prod" else "dev", "kubernetes.io/metadata.name": name},
            },
        }
        for name in NAMESPACES
    ]


def main() -> None:
    """Print cases as the command line asks."""
    parser = argparse.ArgumentParser(description="Random scheduling cases, one JSON object a line.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--flavour", choices=FLAVOURS, default="mixed")
    parser.add_argument("--sequential", type=int, default=0, help="replicas placed one after another; 0: none")
    parser.add_argument("--incoming", type=int, default=4, help="independent pods a case")
    parser.add_argument("--nodes", default="2-24", metavar="LOW-HIGH")
    parser.add_argument("--kube-version", help="the cases are about this minor version")
    options = parser.parse_args()
    low, high = map(int, options.nodes.split("-"))
    recipe = Recipe(options.flavour, options.sequential, options.incoming, (low, high), options.kube_version)
    for case in cases(recipe, options.seed, options.count):
        sys.stdout.write(json.dumps(case, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
