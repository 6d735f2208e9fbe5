"""`topospread why` as users run it: exit codes, what is meant by a name, manifests, JSON, pictures."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parent.parent.parent
MIN_DOMAINS = ["--on", ROOT / "examples/min-domains/cluster.yaml", "-f", ROOT / "examples/min-domains/app.yaml"]
DEMO = ["--on", ROOT / "examples/demo/cluster.yaml", "-f", ROOT / "examples/demo/shop.yaml"]
TAINTED = [
    "--on",
    ROOT / "examples/node-taints-policy-ignore/cluster.yaml",
    "-f",
    ROOT / "examples/node-taints-policy-ignore/app.yaml",
]
SCHEMA = schema_of("Why")

UNJUDGED = {
    "other": "schedulerName: other, containers: [{name: c, image: i}]",
    "claims": "containers: [{name: c, image: i}], resourceClaims: [{name: gpu, resourceClaimName: gpu}]",
}
"""Pods by name of which nothing is known: of another scheduler, and with a claim that the input does not have."""


def explain(*words: str | Path, standard_input: str | None = None) -> Done:
    return forked("why", *words, env={"PATH": os.environ["PATH"]}, stdin=standard_input)


def data_of(*words: str | Path) -> Any:
    return json.loads(explain(*words, "-o", "json").stdout)


def without_additions(schema: Any) -> Any:
    """The schema with nothing let through that it does not name."""
    if isinstance(schema, list):
        return [without_additions(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: without_additions(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        closed["additionalProperties"] = False
    return closed


def test_exit_code_0_for_a_pod_that_has_a_node() -> None:
    done = explain("deploy/search", *DEMO)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("yes: shop/search-")
    assert "feasible nodes, node-a4 scores" in " ".join(done.stdout.split())


def test_exit_code_1_for_a_pending_pod() -> None:
    done = explain("deploy/web", *MIN_DOMAINS)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("no: default/web-")
    assert "fix: minDomains 3 instead of 5" in done.stdout
    wide = " ".join(explain("deploy/web", *MIN_DOMAINS, "-o", "wide").stdout.split())
    assert "preemption: 0/3 nodes are available" in wide


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["web-0", *MIN_DOMAINS], 'pod "web-0" not found; did you mean default/deployment/web?'),
        (["my-pod", *TAINTED], 'pod "my-pod" not found; did you mean default/mypod?'),
        (["deploy/wbe", *MIN_DOMAINS], 'Deployment "wbe" not found; did you mean default/deployment/web?'),
        (["sts/web", *MIN_DOMAINS], 'StatefulSet "web" not found; did you mean default/deployment/web?'),
        (["deploy/storefront", *DEMO, "-n", "demo"], 'Deployment "storefront" in namespace "demo" not found'),
        (["shop/deploy/web", *MIN_DOMAINS, "-n", "default"], "name different namespaces"),
        (["a/b/c/d", *MIN_DOMAINS], "write [NAMESPACE/]POD or [NAMESPACE/]KIND/NAME"),
        ([], "no cluster: add --on"),
        (["deploy/web"], "no cluster: add --on"),
        (["deploy/web", "-f", "nowhere.yaml"], "nowhere.yaml"),
        (["deploy/web", *MIN_DOMAINS, "-o", "svg=/nowhere/web.svg"], "/nowhere/web.svg"),
        (["deploy/web", "-f", "nowhere.yaml", "-o", "json", "-o", "yaml"], "-o json and -o yaml both print"),
    ],
)
def test_exit_code_2_and_nothing_on_stdout_for_bad_input(words: list[str | Path], said: str) -> None:
    done = explain(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_target_every_pending_pod_is_explained() -> None:
    on_call = ROOT / "docs/how-to/on-call/cluster.yaml"
    done = explain("--on", on_call)
    assert done.returncode == 1
    assert done.stdout.startswith("no: 1 pod is pending\n\nshop/checkout-7c9d5b8f64-ssqbj finds no node; 5 of the 6 ")
    assert "fix: kubectl uncordon node-c1" in done.stdout
    data = data_of("--on", on_call)
    alone = data_of("--on", on_call, "deploy/checkout")
    assert (data["kind"], data["verdict"], data["pending"]) == ("WhyPending", "no", 1)
    own = {key: data["pods"][0][key] for key in ("on", "warnings", "situations")}
    assert data["pods"] == [{**alone, **own}]
    assert data["remedies"] == alone["remedies"][:1]
    assert explain("--on", on_call, "-n", "other").stdout == "yes: no pod is pending\n"
    demo = explain(*DEMO)
    assert (demo.returncode, demo.stdout) == (0, "yes: no pod is pending\n")


def test_pods_that_are_not_judged_leave_it_unknown(tmp_path: Path) -> None:
    made = tmp_path / "pods.yaml"
    pods = [
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{spec}}}}}"
        for name, spec in UNJUDGED.items()
    ]
    made.write_text("\n---\n".join(pods))
    done = explain("-f", made, "--on", "zones=1,nodes=1")
    assert done.returncode == 4
    assert done.stdout.startswith("unknown: 2 pods are not judged\n")


def test_a_manifest_names_what_is_meant_wherever_it_stands() -> None:
    _, cluster, _, app = TAINTED
    named = explain("-f", app, "--on", cluster)
    assert named.returncode == 1
    assert named.stdout.startswith("no: default/mypod finds no node\n")
    assert explain("--on", cluster, "-f", app).stdout == named.stdout


def test_a_manifest_from_standard_input() -> None:
    _, cluster, _, app = TAINTED
    done = explain("-f", "-", "--on", cluster, standard_input=Path(app).read_text())
    assert done.stdout.startswith("no: default/mypod finds no node\n")
    assert "in its manifest: it is placed" in done.stdout


def test_of_a_workload_that_has_all_its_pods_a_manifest_explains_one_more(tmp_path: Path) -> None:
    labels = {"app": "web"}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r", "controller": True}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-1", "labels": labels, "ownerReferences": [owner]},
        "spec": spec | {"nodeName": "n"},
    }
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": amounts}}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "uid": "r"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]}))
    (tmp_path / "web.json").write_text(json.dumps(replica_set))
    there = explain("rs/web", "--on", tmp_path / "cluster.json", "-f", tmp_path / "web.json")
    assert there.stdout.startswith("yes: default/web-1 runs on n,")
    another = explain("-f", tmp_path / "web.json", "--on", tmp_path / "cluster.json")
    assert another.stdout.startswith("yes: default/web-another goes to n\n")


@pytest.mark.parametrize(
    "words",
    [
        ["deploy/web", *MIN_DOMAINS],
        ["mypod", *TAINTED],
        ["deploy/search", *DEMO],
        ["deploy/checkout", *DEMO, "--scale", "shop/deploy/checkout=14"],
        ["sts/orders-db", *DEMO],
    ],
    ids=["pending", "bare", "placed", "scaled", "stateful-set"],
)
def test_json_has_the_documented_form_and_nothing_else(words: list[str | Path]) -> None:
    jsonschema.validate(data_of(*words), without_additions(SCHEMA))


def test_yaml_says_what_json_says() -> None:
    as_yaml = explain("deploy/web", *MIN_DOMAINS, "-o", "yaml")
    assert yaml.safe_load(as_yaml.stdout) == data_of("deploy/web", *MIN_DOMAINS)
    assert as_yaml.returncode == 1


def test_two_runs_say_the_same() -> None:
    assert explain("deploy/checkout", *DEMO).stdout == explain("deploy/checkout", *DEMO).stdout


def test_no_suggestions_when_none_are_wanted() -> None:
    found = data_of("deploy/web", *MIN_DOMAINS, "--no-suggestions")
    assert (found["state"], found["remedies"]) == ("pending", [])


def test_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "web.svg"
    done = explain("deploy/web", *MIN_DOMAINS, "-o", f"svg={path}")
    assert done.returncode == 1
    root = ET.parse(path).getroot()
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [name for name in words if name in ("zone-a", "zone-b", "zone-c")] == ["zone-a", "zone-b", "zone-c"]


def test_colour_only_when_asked_for_in_a_pipe() -> None:
    assert "\x1b" not in explain("deploy/web", *MIN_DOMAINS).stdout
    assert "\x1b[1;31mno:" in explain("deploy/web", *MIN_DOMAINS, "--color", "always").stdout


def test_every_line_fits_80_columns() -> None:
    shown = explain("deploy/checkout", *DEMO, "--scale", "shop/deploy/checkout=14").stdout
    long = [line for line in shown.splitlines() if len(line) > 80]
    assert all(" " not in line.strip() for line in long), "only a word that cannot be broken may be longer"
