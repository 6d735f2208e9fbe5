"""Random histories of the scheduling queue, one JSON object a line, for a differential test; decides nothing itself.

python -m conformance.generate_queue --seed 1 --count 1000 > histories.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from conformance.generators.configuration import args_of, configuration
from conformance.generators.draw import Draw, Json
from conformance.generators.histories import History
from conformance.generators.owners import owners

AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
    }
}


def histories(seed: int, count: int) -> Iterator[Json]:
    """``count`` histories; the i-th depends on the seed and i alone."""
    for i in range(count):
        draw = Draw(f"{seed}/queue/{i}")
        history = History(draw, tied=draw.chance(0.15))
        case: Json = {"name": f"queue-{seed}-{i:05d}"}
        steps = list(history.steps(draw.choice([15, 30, 60])))
        case |= owners(draw, [step["pod"] for step in steps if step["do"] == "add"])
        config = configuration(draw, True)
        if config and draw.chance(0.5):
            case["config"] = config
        elif draw.chance(0.3):
            case["config"] = _configured(draw)
        if draw.chance(0.15):
            case["featureGates"] = {"SchedulerPopFromBackoffQ": False}
        yield case | {"steps": steps}


def _configured(draw: Draw) -> Json:
    """Other waits, and the scheduler's own node affinity."""
    config: Json = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    if draw.chance(0.6):
        initial = draw.choice([1, 2, 3])
        config |= {"podInitialBackoffSeconds": initial, "podMaxBackoffSeconds": initial * draw.choice([1, 4, 7])}
    if draw.chance(0.6):
        affinity = args_of("NodeAffinity", addedAffinity=AFFINITY)
        config["profiles"] = [{"schedulerName": "default-scheduler", "pluginConfig": [affinity]}]
    return config


def main() -> None:
    """Print histories as the command line asks."""
    parser = argparse.ArgumentParser(description="Random histories of the scheduling queue, one JSON object a line.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    for case in histories(options.seed, options.count):
        sys.stdout.write(json.dumps(case, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
