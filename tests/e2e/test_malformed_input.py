"""Malformed input that once ended a command with a fault: each is answered with exit code 0, 1 or 2."""

import json
import time
from pathlib import Path

import pytest

ROLLOUT = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "r"}}
TEMPLATE = {"metadata": {"labels": {"app": "r"}}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
RECORD = {
    "kind": "Event",
    "auditID": "1",
    "verb": "create",
    "stage": "ResponseComplete",
    "stageTimestamp": "2026-01-01T00:00:00Z",
    "objectRef": {"resource": "nodes", "name": "x"},
    "responseStatus": {"code": 201},
    "responseObject": {
        "kind": "Node",
        "metadata": {"name": "x"},
        "spec": {},
        "status": {"allocatable": {"cpu": "4", "pods": "5"}},
    },
}


@pytest.fixture
def run(in_process):
    def command(*arguments: str) -> tuple[object, str, str]:
        code, out, err = in_process(*arguments)
        assert code in (0, 1, 2, 4), err
        return code, out, err

    return command


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metadata": "text"}, "metadata: expected an object"),
        ({"metadata": [1]}, "metadata: expected an object"),
        ({"metadata": {"name": "r", "namespace": {"a": 1}}}, "metadata.namespace: expected a string"),
        ({"spec": {"template": {**TEMPLATE, "metadata": {"labels": 0.5}}}}, "labels: expected an object"),
        ({"spec": {"template": {**TEMPLATE, "metadata": {"labels": ["a"]}}}}, "labels: expected an object"),
    ],
)
def test_a_custom_resource_of_other_types(run, change, words):
    Path("a.json").write_text(json.dumps(ROLLOUT | {"spec": {"template": TEMPLATE}} | change))
    code, _, err = run("simulate", "-f", "a.json", "--on", "nodes=1")
    assert code == 2
    assert words in err
    run("lint", "a.json")


@pytest.mark.parametrize("key", ["", "[", " ", "]", ".", "\n", "\x1b"])
def test_a_key_without_a_letter(run, key):
    Path("a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, key: 1}))
    assert run("lint", "a.json", "-o", "json")[0] == 1


def test_one_of_two_drills_has_no_cluster(run):
    spec = "spec: {steps: [{wait: 1m}], expect: {pending: 0}}\n"
    drill = f"apiVersion: topospread.dev/v1alpha1\nkind: Drill\nmetadata: {{name: x}}\n{spec}"
    Path("a.yaml").write_text(drill)
    Path("b.yaml").write_text(drill.replace("steps", "cluster: 'zones=2,nodes=2', steps"))
    code, _, err = run("drill", "--check", "-f", "a.yaml", "-f", "b.yaml", "--workers", "2")
    assert code == 2
    assert "the input has no nodes" in err


@pytest.mark.parametrize(
    "change",
    [
        {"verb": ["create"]},
        {"verb": {}},
        {"objectRef": {"resource": ["nodes"]}},
        {"objectRef": {"resource": {}}},
        {"responseObject": {**RECORD["responseObject"], "status": {"allocatable": {"cpu": "much"}}}},
        {"responseObject": {**RECORD["responseObject"], "status": {"allocatable": {"cpu": "1e99999999999"}}}},
        {"responseObject": {**RECORD["responseObject"], "metadata": {"name": "\ud800"}}},
    ],
)
def test_a_record_of_an_audit_log_of_other_types(run, change):
    Path("audit.jsonl").write_text(json.dumps(RECORD | change))
    Path("before.json").write_text('{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}')
    run("why", "-f", "before.json", "--audit", "audit.jsonl")


def test_a_list_of_events_with_half_a_character(run):
    Path("events.json").write_text('{"items":[{"message":"\\ud800"}]}')
    Path("before.json").write_text('{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}')
    assert run("why", "-f", "before.json", "--events", "events.json")[0] == 2


def test_a_percentage_of_endless_digits(run):
    assert run("capacity", "-f", "a/b", "--more", "1e999999999%", "--on", "nodes=1")[0] == 2


def test_a_stored_pod_of_a_controller_with_a_bad_quantity(run):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "2", "controller": True}
    container = {"name": "c", "image": "c", "resources": {"requests": {"memory": "much"}}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "uid": "1", "ownerReferences": [owner]},
        "spec": {"nodeName": "node-1", "containers": [container]},
    }
    Path("a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod]}))
    code, out, _ = run("lint", "a.json", "-o", "json", "--on", "zones=3,nodes=6")
    assert code == 1
    assert "quantities must match" in out


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
@pytest.mark.parametrize("cluster", [[], ["--on", "zones=3,nodes=6"]])
def test_the_time_of_lint_grows_with_the_number_of_findings(run, name, cluster):
    def seconds(number: int) -> float:
        constraint = {
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}},
        }
        spec = {
            **TEMPLATE["spec"],
            "topologySpreadConstraints": [constraint | {"topologyKey": f"k{i}"} for i in range(number)],
        }
        pods = {**TEMPLATE, "spec": spec}
        labels = {"matchLabels": {"app": "r"}}
        item = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "r"}}
        Path(name).write_text(
            json.dumps(item | {"spec": {"replicas": 3, "selector": labels, "template": pods}}, indent=1)
        )
        began = time.process_time()
        assert run("lint", name, *cluster)[0] == 1
        return time.process_time() - began

    seconds(10)
    few, many = seconds(500), seconds(2000)
    assert many < 2 * 4 * few + 0.2
