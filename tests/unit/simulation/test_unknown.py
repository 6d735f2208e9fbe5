"""Pods with parts that topospread does not model: bounds, verdicts, and the command's exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.base import Bounds
from topospread.cli.simulate import simulate as command
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate
from topospread.sources.load import load

CLUSTER = "zones=3,nodes=6,cpu=4,memory=8Gi"
CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]


def deployment(name: str, replicas: int, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}},
        },
    }


def manifest(folder: Path, *objects: dict[str, Any]) -> Path:
    path = folder / "app.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return path


def simulated(path: Path) -> Simulation:
    return simulate(load([str(path)], cluster=CLUSTER))


@pytest.mark.parametrize(
    ("cpu", "words", "code", "verdict"),
    [
        ("1", [], 4, "unknown"),
        ("1", ["--allow-unknown"], 0, "unknown"),
        ("1", ["--orders", "3"], 4, "unknown"),
        ("16", [], 1, "no"),
        ("16", ["--allow-unknown"], 1, "no"),
        ("16", ["--orders", "3"], 1, "no"),
    ],
)
def test_a_claim_is_unknown_unless_cpu_decides(
    tmp_path: Path, cpu: str, words: list[str], code: int, verdict: str
) -> None:
    path = manifest(tmp_path, deployment("infer", 3, cpu, resourceClaims=CLAIMS))
    words = ["-f", str(path), "--on", CLUSTER, *words]
    result = CliRunner().invoke(command, [*words, "-o", "json"], standalone_mode=False)
    assert result.return_value == code
    assert yaml.safe_load(result.stdout)["verdict"] == verdict
    text = CliRunner().invoke(command, words, standalone_mode=False).stdout
    assert text.startswith("unknown: ") == (verdict == "unknown")
    assert ("spec.resourceClaims" in text) == (verdict == "unknown")


def test_the_counts_of_unjudged_pods_are_bounds(tmp_path: Path) -> None:
    result = simulated(manifest(tmp_path, deployment("infer", 3, "1", resourceClaims=CLAIMS)))
    assert result.bounds == {"default/Deployment/infer": Bounds(least=0, most=3)}
    [part] = result.unjudged
    assert (part.what, part.field, len(part.pods)) == ("resourceClaims", "spec.resourceClaims", 3)
    assert "resourceslices" in part.to_know
    data = result.to_dict()
    assert data["workloads"][0]["placedBounds"] == {"least": 0, "most": 3}
    assert sorted(data["openPods"]) == sorted(part.pods)


def test_a_neighbour_whose_outcome_depends_on_an_unjudged_pod_is_open(tmp_path: Path) -> None:
    objects = deployment("infer", 6, "3", resourceClaims=CLAIMS), deployment("web", 1, "3")
    result = simulated(manifest(tmp_path, *objects))
    assert result.verdict == "unknown"
    assert result.bounds["default/Deployment/web"] == Bounds(least=0, most=1)
    assert [pod for pod in result.open_pods if "/web-" in pod]


def test_a_judged_pod_that_is_pending_in_both_simulations_is_a_no(tmp_path: Path) -> None:
    objects = deployment("infer", 1, "1", resourceClaims=CLAIMS), deployment("web", 1, "16")
    path = manifest(tmp_path, *objects)
    assert simulated(path).verdict == "no"
    words = ["-f", str(path), "--on", CLUSTER]
    text = CliRunner().invoke(command, words, standalone_mode=False).stdout
    assert text.startswith("no: default/web is pending; 0–1 of 1 pod of default/infer find nodes (6 nodes)\n")


def test_a_stateful_set_that_waits_for_an_unjudged_pod_is_open(tmp_path: Path) -> None:
    stateful = deployment("infer", 3, "1", resourceClaims=CLAIMS)
    stateful["kind"] = "StatefulSet"
    result = simulated(manifest(tmp_path, stateful))
    assert (result.verdict, len(result.open_pods)) == ("unknown", 3)


def test_a_pod_that_only_an_unjudged_pod_evicts_is_open(tmp_path: Path) -> None:
    urgent = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 10,
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
    }
    old = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "old"},
        "spec": {"nodeName": "node-1", **deployment("old", 1, "2")["spec"]["template"]["spec"]},
    }
    infer = deployment("infer", 1, "2", resourceClaims=CLAIMS)
    more = deployment("more", 1, "4", priorityClassName="urgent", resourceClaims=CLAIMS)
    result = simulate(load([str(manifest(tmp_path, urgent, node, old, infer, more))]))
    assert result.verdict == "unknown"
    assert not result.evictions
    assert "default/old" in result.open_pods


def test_kinds_that_are_not_modelled_are_never_said_to_play_no_part(tmp_path: Path) -> None:
    group = {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup", "metadata": {"name": "g"}}
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"}}
    path = manifest(tmp_path, deployment("web", 1, "1"), group, pool)
    words = ["-f", str(path), "--on", CLUSTER]
    text = CliRunner().invoke(command, words, standalone_mode=False).stdout
    assert "play no part" not in text
    assert "CompositePodGroup" in text
    assert "NodePool" in text


@drawn(10)
@given(
    workloads=st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["1", "2", "3", "5"])), min_size=1, max_size=3),
    added=st.tuples(st.integers(1, 6), st.sampled_from(["1", "2", "3"])),
    first=st.booleans(),
)
def test_a_pod_that_cannot_be_judged_turns_no_yes_into_no_and_no_no_into_yes(
    tmp_path_factory: pytest.TempPathFactory, workloads: list[tuple[int, str]], added: tuple[int, str], first: bool
) -> None:
    folder = tmp_path_factory.mktemp("unknown")
    judged = [deployment(f"web{i}", replicas, cpu) for i, (replicas, cpu) in enumerate(workloads)]
    before = simulated(manifest(folder, *judged))
    infer = deployment("infer", *added, resourceClaims=CLAIMS)
    after = simulated(manifest(folder, *([infer, *judged] if first else [*judged, infer])))
    if after.unjudged:
        assert after.verdict in {"unknown", before.verdict}
        assert after.verdict != "yes"


def test_a_namespace_names_the_pods_of_others_on_which_it_depends(tmp_path: Path) -> None:
    infer = deployment("infer", 6, "3", resourceClaims=CLAIMS)
    infer["metadata"]["namespace"] = "ml"
    path = manifest(tmp_path, infer, deployment("web", 1, "3"))
    words = ["-f", str(path), "--on", CLUSTER, "-n", "default"]
    text = " ".join(CliRunner().invoke(command, words, standalone_mode=False).stdout.split())
    assert text.startswith(
        "unknown: 0–1 of 1 pod of default/web find nodes (6 nodes); in other namespaces 6 not judged"
    )
    assert "not judged: resource claims" in text


def test_a_namespace_notes_that_pods_of_others_may_take_its_room_in_another_order(tmp_path: Path) -> None:
    infer = deployment("infer", 6, "3", resourceClaims=CLAIMS)
    infer["metadata"]["namespace"] = "ml"
    path = manifest(tmp_path, deployment("web", 1, "3"), infer)
    words = ["-f", str(path), "--on", CLUSTER, "-n", "default"]
    text = " ".join(CliRunner().invoke(command, words, standalone_mode=False).stdout.split())
    assert text.startswith("yes: default/web")
    assert "note: in another order (--orders), pods of other namespaces that are not judged may take the room" in text
