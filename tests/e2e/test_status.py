"""`topospread status` as users run it, and the documented forms of its JSON and of snapshots."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parent.parent.parent
SHOP = ROOT / "docs/how-to/shop.json"
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Json = dict[str, Any]
WRONG_SELECTOR = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: report, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: report}}
  template:
    metadata: {labels: {app: report}}
    spec: {nodeSelector: {disktype: ssd}, containers: [{name: c, image: i}]}
"""
IN_A_GROUP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: infer, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: infer}}
  template:
    metadata: {labels: {app: infer}}
    spec:
      schedulingGroup: {podGroupName: infer}
      containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]
"""


def run(*words: str | Path, **environment: str) -> Done:
    return forked("status", *words, env={"PATH": ""} | environment)


def as_json(*words: str | Path) -> Json:
    done = run(*words, "-o", "json")
    assert done.returncode in (0, 1), done.stderr
    found: Json = json.loads(done.stdout)
    return found


def large(folder: Path, nodes: int = 3000, workloads: int = 40) -> Path:
    """A large cluster whose workloads stand in three of its zones, each worse than the one before."""
    items: list[Json] = []
    for i in range(nodes):
        labels = {HOST: f"node-{i:04d}", ZONE: f"zone-{i % 4}"}
        metadata = {"name": f"node-{i:04d}", "uid": f"n{i}", "labels": labels}
        items.append(
            {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": {"pods": "9"}}}
        )
    for w in range(workloads):
        labels = {"app": f"app-{w:02d}"}
        constraint = {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        spec = {
            "containers": [{"name": "c"}],
            "topologySpreadConstraints": [constraint | {"labelSelector": {"matchLabels": labels}}],
        }
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": f"app-{w:02d}",
            "uid": f"r{w}",
            "controller": True,
        }
        replica_set = {"name": f"app-{w:02d}", "namespace": "shop", "uid": f"r{w}"}
        template = {"metadata": {"labels": labels}, "spec": spec}
        selector = {"matchLabels": labels}
        items.append(
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": replica_set,
                "spec": {"replicas": 6, "selector": selector, "template": template},
            }
        )
        for p in range(6):
            metadata = {
                "name": f"app-{w:02d}-{p}",
                "namespace": "shop",
                "uid": f"p{w}-{p}",
                "labels": labels,
                "ownerReferences": [owner],
            }
            node = 4 * (100 * p + w) + (p % 3 if w % 2 else 0)
            items.append(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": metadata,
                    "spec": spec | {"nodeName": f"node-{node:04d}"},
                }
            )
    path = folder / "large.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def test_the_json_has_the_documented_form(tmp_path: Path) -> None:
    for path in (SHOP, large(tmp_path, nodes=600, workloads=5)):
        jsonschema.validate(as_json("-f", path), schema_of("Status"))


def test_a_snapshot_has_the_documented_form() -> None:
    jsonschema.validate(
        json.loads(SHOP.read_text()), json.loads((ROOT / "docs/reference/snapshot.schema.json").read_text())
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 1),
        (["-l", "app=payments"], 0),
        (["-l", "app in (web, payments)"], 1),
        (["--key", HOST], 0),
        (["--min-skew", "9"], 1),
        (["--exit-zero"], 0),
    ],
)
def test_it_fails_when_a_hard_constraint_of_what_is_chosen_is_exceeded(words: list[str], code: int) -> None:
    assert run("-f", SHOP, *words).returncode == code


def test_pending_pods_are_grouped_by_cause_most_pods_first_with_the_first_fix(tmp_path: Path) -> None:
    extra = tmp_path / "extra.yaml"
    extra.write_text(WRONG_SELECTOR + "---\n" + IN_A_GROUP)
    words = ["-f", ROOT / "docs/how-to/on-call/cluster.yaml", "-f", extra, "--feature-gates", "GenericWorkload=true"]
    found = as_json(*words)
    assert (found["verdict"], found["exceeded"]) == ("no", 0)
    assert [(each["verdict"], len(each["pods"]), each["workloads"]) for each in found["pending"]] == [
        ("no", 2, ["shop/Deployment/report"]),
        ("no", 1, ["shop/Deployment/checkout"]),
        ("unknown", 3, ["shop/Deployment/infer"]),
    ]
    assert [each["code"] for each in found["pending"][1]["causes"]][:2] == ["spread-domain-full", "cordoned"]
    first = found["pending"][1]["remedies"][0]
    assert (first["command"], first["tried"]["verdict"]) == (["kubectl", "uncordon", "node-c1"], "yes")
    assert [each["what"] for each in found["unjudged"]] == ["podGroups"]
    lines = run(*words).stdout.splitlines()
    assert lines[0] == "no: 3 pods are pending for 2 causes; 3 more are not judged (6 nodes, 5"
    assert "fix: kubectl uncordon node-c1" in lines
    assert max(map(len, lines)) <= 80


def test_pending_pods_of_another_max_skew_are_another_group(tmp_path: Path) -> None:
    zones = [("a", "8"), ("b", "0")]
    items: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": name}},
            "status": {"allocatable": {"cpu": cpu, "pods": "50"}},
        }
        for name, cpu in zones
    ]
    for skew in (1, 2):
        labels = {"app": f"web-{skew}"}
        constraint = {"maxSkew": skew, "topologyKey": "topology.kubernetes.io/zone"}
        constraint |= {"whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": labels}}
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [container], "topologySpreadConstraints": [constraint]},
        }
        spec = {"replicas": 4, "selector": {"matchLabels": labels}, "template": template}
        items.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": labels["app"]}, "spec": spec})
    (path := tmp_path / "two.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = as_json("-f", path)
    assert [each["workloads"] for each in found["pending"]] == [
        ["default/Deployment/web-1"],
        ["default/Deployment/web-2"],
    ]


def test_pods_that_cannot_be_judged_alone_give_unknown(tmp_path: Path) -> None:
    path = tmp_path / "infer.yaml"
    path.write_text(IN_A_GROUP)
    words = ["-f", path, "--on", "zones=3,nodes=6,cpu=4", "--feature-gates", "GenericWorkload=true"]
    assert run(*words).returncode == 4
    assert run(*words, "--allow-unknown").returncode == 0
    path.write_text(IN_A_GROUP.replace("cpu: 1", "cpu: 16"))
    done = run(*words)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "no: 3 pods are pending (6 nodes, 1 workload)")


def test_a_pod_that_kube_scheduler_has_not_placed_yet_is_pending(tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    path.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: new, uid: u}, spec: {containers: [{name: c, image: i}]}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {pods: '9'}}}\n"
    )
    found = as_json("--on", path)
    assert (found["verdict"], [each["code"] for each in found["causes"]]) == ("no", ["not-placed-yet"])


def test_pods_of_another_scheduler_are_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "new.yaml"
    path.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: x, containers: [{name: c, image: i}]}}"
    )
    done = run("-f", path, "--on", "zones=3,nodes=6")
    assert done.returncode == 4
    assert 'not judged: schedulerName "x" is in no profile' in done.stdout


def test_the_worst_come_first() -> None:
    assert [each["name"] for each in as_json("-f", SHOP)["workloads"]] == ["web", "payments", "cache"]


def test_the_skew_that_is_asked_for_is_shown() -> None:
    found = as_json("-f", SHOP, "--min-skew", "3")
    assert [(each["name"], [c["skew"] for c in each["constraints"]]) for each in found["workloads"]] == [("cache", [3])]


def test_one_key_alone() -> None:
    found = as_json("-f", SHOP, "--key", ZONE)
    keys = {c["topologyKey"] for each in found["workloads"] for c in each["constraints"]}
    assert keys == {each["topologyKey"] for each in found["domains"]} == {ZONE}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "nope"], 'no workload found in namespace "nope"; namespaces with workloads: shop'),
        (["--key", "nope"], 'no node has the label "nope"'),
        (["-l", "a=b=c"], '"a=b=c" is not a label selector'),
        (["--min-skew", "-1"], "--min-skew"),
    ],
)
def test_what_cannot_be_asked_for_is_said(words: list[str], said: str) -> None:
    done = run("-f", SHOP, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_large_cluster_is_readable(tmp_path: Path) -> None:
    path = large(tmp_path)
    lines = run("-f", path).stdout.splitlines()
    assert all(len(line) <= 80 or str(path) in line for line in lines)  # a path is not broken
    assert len(lines) < 30
    assert lines[-1] == "and 30 more workloads: -o wide"
    assert len(run("-f", path, "-o", "wide").stdout.splitlines()) > 100


def test_of_many_nodes_only_those_that_hold_pods_are_told(tmp_path: Path) -> None:
    found = as_json("-f", large(tmp_path, workloads=2))
    for each in found["workloads"]:
        for constraint in each["constraints"]:
            assert all(each["matching"] for each in constraint["domains"])
            assert len(constraint["emptyNames"]) <= 100


def test_colour_says_nothing_that_words_do_not() -> None:
    plain, coloured = run("-f", SHOP).stdout, run("-f", SHOP, "--color", "always").stdout
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert "\x1b[" not in run("-f", SHOP, NO_COLOR="1").stdout


def test_yaml_says_what_json_says() -> None:
    import yaml

    assert yaml.safe_load(run("-f", SHOP, "-o", "yaml").stdout) == as_json("-f", SHOP)


def test_targets_and_waiting_narrow_what_is_shown_and_the_verdict() -> None:
    narrowed = run("-f", SHOP, "payments")
    assert narrowed.returncode == 0
    assert "shop/payments" in narrowed.stdout
    assert "shop/web" not in narrowed.stdout
    waiting = run("-f", SHOP, "--waiting")
    assert (waiting.returncode, waiting.stdout) == (0, "yes: every pod has a node (6 nodes, 3 workloads)\n")
    assert "workload nope not found; the input has shop/deployment/" in run("-f", SHOP, "nope").stderr
