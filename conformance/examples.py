"""The documented examples, judged by kube-scheduler: each folder of `examples/` as a case for the oracle.

    python -m conformance.examples --oracle-bin DIR            compare what the oracle says now with what is kept
    python -m conformance.examples --oracle-bin DIR --write    keep what it says

Nothing is decided here: pods come from the workloads as in a simulation, and each is bound to the best node that
sorts first, as a simulation without a seed does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import yaml

import topospread
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import Run, prepare

EXAMPLES = Path(__file__).parent.parent / "examples"
Json = dict[str, Any]

_LISTS = {
    "namespaces": "namespaces",
    "services": "services",
    "replicaSets": "replica_sets",
    "statefulSets": "stateful_sets",
    "replicationControllers": "replication_controllers",
    "persistentVolumes": "persistent_volumes",
    "persistentVolumeClaims": "persistent_volume_claims",
    "storageClasses": "storage_classes",
    "csiNodes": "csi_nodes",
}


def folders() -> list[Path]:
    """The examples that have a scheduling decision to judge."""
    return sorted(path.parent for path in EXAMPLES.glob("*/expected.txt"))


def arguments(folder: Path) -> list[str]:
    """The arguments of `topospread` that the example's README shows."""
    for line in (folder / "README.md").read_text().splitlines():
        if line.startswith("$ topospread "):
            return line.split()[2:]
    raise ValueError(f"{folder}/README.md shows no command")


def run_of(folder: Path) -> Run:
    """The example as a simulation that has not begun."""
    _, *words = arguments(folder)
    options: Json = {}
    paths = []
    rest = iter(words)
    for word in rest:
        if word == "--config":
            text = (folder / next(rest)).read_text()
            options["config"] = topospread.load_configuration(yaml.safe_load(text))
        elif word == "--scale":
            name, _, replicas = next(rest).partition("=")
            options["scale"] = {name: int(replicas)}
        elif word == "--on":
            cluster = next(rest)
            options["cluster"] = cluster if "=" in cluster else str(folder / cluster)
        elif word == "-f":
            paths.append(str(folder / next(rest)))
    inventory = topospread.load(*paths, cluster=options.pop("cluster", None))
    return prepare(inventory, SimulationOptions(**options))


def case_of(folder: Path) -> Json:
    """The example as a case in the oracle's form."""
    run = run_of(folder)
    inventory = run.plan.inventory
    incoming = []
    for queued in run.queue:
        pod = msgspec.to_builtins(queued.pod)
        pod.setdefault("metadata", {}).update(name=queued.name, namespace=queued.namespace)
        pod["metadata"].setdefault("uid", f"uid-{queued.namespace}-{queued.name}")
        incoming.append(pod)
    case: Json = {"name": folder.name, "sequential": True, "incoming": incoming}
    case["nodes"] = msgspec.to_builtins(inventory.nodes)
    case["pods"] = msgspec.to_builtins(run.plan.bound)
    case |= {key: msgspec.to_builtins(getattr(inventory, name)) for key, name in _LISTS.items()}
    config = folder / "config.yaml"
    if config.exists():
        case["config"] = yaml.safe_load(config.read_text())
    return case


def oracle_says(cases: list[Json], oracle: Path) -> list[Json]:
    """kube-scheduler's verdicts."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([oracle], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    """Compare, or keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle-bin", type=Path, required=True, help="folder that holds oracle-1.37")
    parser.add_argument("--write", action="store_true", help="keep the verdicts in the examples' folders")
    options = parser.parse_args()
    every = folders()
    verdicts = oracle_says([case_of(folder) for folder in every], options.oracle_bin / "oracle-1.37")
    differ = 0
    for folder, verdict in zip(every, verdicts, strict=True):
        kept = folder / "verdicts.json"
        text = json.dumps(verdict, indent=1, sort_keys=True) + "\n"
        if options.write:
            kept.write_text(text)
        elif not kept.exists() or kept.read_text() != text:
            differ += 1
            print(f"{folder.name}: kube-scheduler says something else than {kept.name} keeps")
    print(f"{len(every) - differ} of {len(every)} examples are as kube-scheduler judges them")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
