"""What the API server stores of a pod that is created, by version and feature gates: asks its own code, and ours.

    python -m conformance.created --bin DIR [--seed N] [--count N]   fresh random pods; ends with 1 where we differ
    python -m conformance.created --bin DIR --write                  keep pods and answers for the tests

``DIR`` holds ``created-V``, built by conformance/oracle/build-versions.sh with the modules of version V. Compared are
the fields that scheduling reads, after decoding, defaulting and the strategy of pods, without admission plugins.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from conformance.stored import FOLDER
from topospread.admission.defaults import with_defaults, with_defaults_after_admission
from topospread.admission.dropped_fields import without_dropped_fields
from topospread.admission.label_keys import with_label_keys_merged
from topospread.api.inventory import Inventory
from topospread.api.pod import Pod, PodSpec
from topospread.api.quantity import parse_quantity
from topospread.config.gates import gates_for

Json = dict[str, Any]
STORED = FOLDER / "created.jsonl.gz"

MERGE = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
SPREAD = "MatchLabelKeysInPodTopologySpread"
GATES: dict[str, list[dict[str, bool]]] = {
    "1.20": [{}, {"PodOverhead": False}],
    "1.22": [{}, {"PodAffinityNamespaceSelector": False}, {"NonPreemptingPriority": False, "PodOverhead": False}],
    "1.25": [
        {},
        {"MinDomainsInPodTopologySpread": True, SPREAD: True},
        {"NodeInclusionPolicyInPodTopologySpread": True},
    ],
    "1.27": [
        {},
        {"MinDomainsInPodTopologySpread": False},
        {"NodeInclusionPolicyInPodTopologySpread": False, SPREAD: False},
        {"PodSchedulingReadiness": False, "DynamicResourceAllocation": True},
    ],
    "1.31": [{}, {"MatchLabelKeysInPodAffinity": False}, {"SidecarContainers": False, "ImageVolume": True}],
    "1.33": [{}, {"PodLevelResources": True}, {"ImageVolume": True, "DynamicResourceAllocation": True}],
    "1.34": [{}, {MERGE: False}, {SPREAD: False, MERGE: False}, {"PodLevelResources": False}],
    "1.37": [
        {},
        {MERGE: False},
        {SPREAD: False, MERGE: False},
        {
            "PodLevelResources": False,
            "PodLevelResourcesFixDefaulting": False,
            "PodLevelResourcesFixKubeletQOSClass": False,
            "InPlacePodLevelResourcesVerticalScaling": False,
        },
        {"PodLevelResourcesFixDefaulting": False},
        {"VolumeBindMountOptions": True},
    ],
}
"""Version → sets of gates that differ from its defaults."""


_WITHOUT_IMAGES = ("1.20", "1.22", "1.25", "1.27")
"""Versions that know no image volumes: they would refuse what is left of one."""


def pods(seed: int, count: int) -> list[Json]:
    """Random pods in which every field is given now and then."""
    draw = random.Random(seed)
    return [_pod(draw, f"pod-{i}") for i in range(count)]


def _pod(draw: random.Random, name: str) -> Json:
    labels = {key: draw.choice("xyz") for key in ("app", "tier", "hash") if draw.random() < 0.7}
    spec: Json = {"containers": [_container(draw, f"c{i}") for i in range(draw.randint(1, 2))]}
    some = draw.random
    if some() < 0.8:
        keys = draw.sample(["zone", "rack", "host"], draw.randint(1, 3))
        spec["topologySpreadConstraints"] = [_constraint(draw, key) for key in keys]
    if some() < 0.6:
        spec["affinity"] = {
            kind: _pod_affinity(draw) for kind in ("podAffinity", "podAntiAffinity") if draw.random() < 0.7
        }
    if some() < 0.4:
        spec["initContainers"] = [_container(draw, "i"), _container(draw, "s") | {"restartPolicy": "Always"}]
    if some() < 0.4:
        spec["resources"] = _resources(draw)
    if some() < 0.3:
        spec["schedulingGates"] = [{"name": "example.com/gate"}]
    if some() < 0.2:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
    if some() < 0.3:
        spec["volumes"] = [{"name": "v", "image": {"reference": "image"}}, {"name": "e", "emptyDir": {}}]
    if some() < 0.2:
        spec["overhead"] = {"cpu": "10m"}
    if some() < 0.2:
        spec["preemptionPolicy"] = "Never"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": spec,
    }


def _container(draw: random.Random, name: str) -> Json:
    container: Json = {"name": name, "image": "image", "resources": _resources(draw)}
    if draw.random() < 0.2:
        container["restartPolicyRules"] = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]
    if draw.random() < 0.2:
        container["volumeMounts"] = [{"name": "e", "mountPath": "/e", "bindMountOptions": ["noexec"]}]
    return container


def _resources(draw: random.Random) -> Json:
    amounts = {"cpu": ["100m", "1", "1500m"], "memory": ["1Gi", "500Mi"]}
    return {
        kind: {name: draw.choice(values) for name, values in amounts.items() if draw.random() < 0.5}
        for kind in ("requests", "limits")
        if draw.random() < 0.6
    }


def _keys(draw: random.Random) -> list[str]:
    return draw.sample(["app", "tier", "hash", "gone"], draw.randint(0, 3))


def _selector(draw: random.Random) -> Json:
    return draw.choice(
        [{}, {"matchLabels": {"app": "x"}}, {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}]
    )


def _constraint(draw: random.Random, key: str) -> Json:
    optional = {
        "minDomains": 3,
        "nodeAffinityPolicy": draw.choice(["Honor", "Ignore"]),
        "nodeTaintsPolicy": draw.choice(["Honor", "Ignore"]),
        "matchLabelKeys": _keys(draw),
        "labelSelector": _selector(draw),
    }
    given = {name: value for name, value in optional.items() if draw.random() < 0.6}
    return {"maxSkew": draw.randint(1, 3), "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"} | given


def _pod_affinity(draw: random.Random) -> Json:
    required = [_term(draw) for _ in range(draw.randint(0, 2))]
    preferred = [{"weight": 1, "podAffinityTerm": _term(draw)} for _ in range(draw.randint(0, 2))]
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": required,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }


def _term(draw: random.Random) -> Json:
    optional = {
        "labelSelector": _selector(draw),
        "namespaceSelector": _selector(draw),
        "matchLabelKeys": _keys(draw),
        "mismatchLabelKeys": _keys(draw),
    }
    return {"topologyKey": "zone"} | {name: value for name, value in optional.items() if draw.random() < 0.5}


def stored_by_us(pod: Json, version: str, gates: dict[str, bool]) -> Json:
    """The spec as topospread has it stored: what scheduling reads of it, as plain data."""
    apiserver = gates_for(version, gates, "apiserver")
    given = Inventory(pods=[msgspec.convert(pod, Pod)])
    kept, _ = without_dropped_fields(given, apiserver, gates_for(version))
    (made,) = kept.pods
    spec = with_label_keys_merged(with_defaults(made.spec, apiserver), made.labels, apiserver)
    return comparable(with_defaults_after_admission(spec, apiserver))


def comparable(spec: PodSpec) -> Json:
    """A spec without what is missing in one way or another, with amounts in thousandths.

    The limits of a pod as a whole are left out: they are not completed here, for scheduling does not read them.
    """
    plain: Json = _amounts(msgspec.to_builtins(spec))
    plain.get("resources", {}).pop("limits", None)
    for claim in plain.get("resourceClaims") or ():
        claim.pop("resourceClaimName", None)  # before 1.31 it was a level deeper
    without: Json = _without_empty(plain)
    return without


def _amounts(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: {name: _thousandths(amount) for name, amount in each.items()}
            if key in ("requests", "limits", "overhead")
            else _amounts(each)
            for key, each in value.items()
        }
    return [_amounts(each) for each in value] if isinstance(value, list) else value


def _thousandths(amount: Any) -> int:
    return parse_quantity(amount).milli_value()


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        made = {key: _without_empty(each) for key, each in value.items()}
        # An empty selector says something (everything), an empty list or map of anything else nothing.
        return {key: each for key, each in made.items() if each not in (None, [], {}) or key.endswith("Selector")}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


def stored_by_kubernetes(folder: Path, given: list[Json], version: str, gates: dict[str, bool]) -> list[Json]:
    """The specs as the API server of the version has them stored."""
    flag = ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())
    text = "".join(json.dumps(pod) + "\n" for pod in given)
    program = [str(folder / f"created-{version}"), "-feature-gates", flag]
    done = subprocess.run(program, input=text, capture_output=True, text=True, check=True)
    return [comparable(msgspec.convert(json.loads(line), Pod).spec) for line in done.stdout.splitlines()]


def kept() -> list[Json]:
    """The stored pods, with version, gates, and the spec that the API server stores."""
    with gzip.open(STORED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> int:
    """Compares fresh pods or writes the stored ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000_000))
    parser.add_argument("--count", type=int, default=300, help="pods for each set of gates")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    rows, different = [], 0
    for version, sets in GATES.items():
        if not (options.bin / f"created-{version}").exists():
            print(f"left out: created-{version} is not in {options.bin}")
            continue
        for number, gates in enumerate(sets):
            given = pods(options.seed + number, options.count)
            if version in _WITHOUT_IMAGES:
                for pod in given:
                    pod["spec"].pop("volumes", None)
            for pod, theirs in zip(given, stored_by_kubernetes(options.bin, given, version, gates), strict=True):
                rows.append({"version": version, "gates": gates, "pod": pod, "stored": theirs})
                ours = stored_by_us(pod, version, gates)
                if ours != theirs:
                    different += 1
                    if different <= 3:
                        print(json.dumps({"version": version, "gates": gates, "pod": pod, "us": ours, "them": theirs}))
    print(f"{len(rows) - different} of {len(rows)} pods are stored alike")
    if options.write:
        with gzip.GzipFile(STORED, "w", mtime=0) as out:
            out.write("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode())
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
