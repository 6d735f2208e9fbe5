"""`topospread dump` against a real API server, beside what a real kubectl prints."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live.conftest import ControlPlane
from tests.live.shop import PODS, SECRET
from topospread.sources.pseudonyms import Pseudonyms, key_of
from topospread.sources.snapshot_lists import ORDER, ListRequest

Json = dict[str, Any]
TOPOSPREAD = Path(sys.executable).parent / "topospread"
KINDS = ",".join(ListRequest(kind).resource for kind in ORDER)
SALT = "a large pinch of salt"


def topospread(control_plane: ControlPlane, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOPOSPREAD, *words], env=control_plane.environment | more, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def snapshot(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("snapshot") / "cluster.json.gz"
    done = topospread(control_plane, "dump", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    return path


def simulated(control_plane: ControlPlane, path: str) -> Json:
    done = topospread(control_plane, "simulate", "-f", path, "-o", "json")
    assert done.returncode in (0, 1), done.stderr
    found: Json = json.loads(done.stdout)
    return {key: found[key] for key in ("nodes", "placements", "workloads", "pending", "evictions", "removed")}


def test_every_object_of_every_kind_is_in_it(control_plane: ControlPlane, snapshot: Path) -> None:
    listed = json.loads(control_plane.kubectl("get", KINDS, "-A", "-o", "json"))["items"]
    expected = sorted(
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in listed
    )
    items = json.loads(gzip.decompress(snapshot.read_bytes()))["items"]
    found = sorted((each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in items)
    assert found == expected
    assert len({kind for kind, _, _ in found}) == len(KINDS.split(","))


def test_what_it_says_of_itself(snapshot: Path) -> None:
    facts = json.loads(gzip.decompress(snapshot.read_bytes()))["topospread"]
    assert facts["kubeVersion"] == "v1.37.0"
    assert facts["counts"]["Pod"] == PODS
    assert "missing" not in facts


def test_nothing_private_is_in_it(snapshot: Path) -> None:
    text = gzip.decompress(snapshot.read_bytes()).decode()
    for word in (SECRET, "PASSWORD", "managedFields", "10.9.8.7", '"args"', '"command"', "last-applied"):
        assert word not in text


def test_it_is_simulated_as_what_kubectl_prints(control_plane: ControlPlane, snapshot: Path, tmp_path: Path) -> None:
    printed = tmp_path / "cluster.json"
    printed.write_text(control_plane.kubectl("get", KINDS, "-A", "-o", "json"))
    expected, found = simulated(control_plane, str(printed)), simulated(control_plane, str(snapshot))
    for key in ("workloads", "placements"):
        for each in (expected, found):
            each[key].sort(key=lambda item: (item["namespace"], item["name"]))
    assert found == expected
    assert len(found["placements"]) > 5


def test_hashed_it_is_simulated_alike(control_plane: ControlPlane, snapshot: Path, tmp_path: Path) -> None:
    path, salt = tmp_path / "shared.json.gz", tmp_path / "salt"
    salt.write_text(SALT)
    done = topospread(control_plane, "dump", str(path), "--anonymous", "--salt-file", str(salt))
    assert done.returncode == 0, done.stderr
    text = gzip.decompress(path.read_bytes()).decode()
    for word in ("acme", '"shop', '"web', '"node-1"', "zone-a", '"rack-', '"i-1"', '"h-1"', SECRET, SALT):
        assert word not in text
    names = Pseudonyms(key_of(SALT.encode()))
    names.know_nodes(f"node-{number}" for number in range(6))
    plain, hashed = simulated(control_plane, str(snapshot)), simulated(control_plane, str(path))
    placed = [(each["node"] and names.node(each["node"]), each["score"]) for each in plain["placements"]]
    assert [(each["node"], each["score"]) for each in hashed["placements"]] == placed
    for ours, theirs in zip(hashed["workloads"], plain["workloads"], strict=True):
        assert (ours["kind"], ours["name"], ours["placed"]) == (
            theirs["kind"],
            names.name(theirs["name"], theirs["namespace"]),
            theirs["placed"],
        )
        assert [each["skew"] for each in ours["constraints"]] == [each["skew"] for each in theirs["constraints"]]


def test_status_reads_it(control_plane: ControlPlane, snapshot: Path) -> None:
    done = topospread(control_plane, "status", "-f", str(snapshot), "-o", "json")
    assert done.returncode == 1, done.stderr
    status = json.loads(done.stdout)
    assert status["says"].startswith("1 hard constraint is exceeded: shop/web has skew 10 over zones, maxSkew 1 ")
    web = next(each for each in status["workloads"] if each["name"] == "web")
    assert sum(each["matching"] for each in web["constraints"][0]["domains"]) == web["existing"] == PODS


def test_in_small_pages_it_is_the_same(control_plane: ControlPlane, snapshot: Path, tmp_path: Path) -> None:
    done = topospread(control_plane, "dump", str(tmp_path / "c.json"), "--chunk-size", "7")
    assert done.returncode == 0, done.stderr
    items = json.loads((tmp_path / "c.json").read_text())["items"]
    assert len(items) > PODS
    assert items == json.loads(gzip.decompress(snapshot.read_bytes()))["items"]


def test_who_may_read_nothing_gets_nothing(control_plane: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    path.write_bytes(b"older")
    done = topospread(control_plane, "dump", str(path), "--context", "reader")
    assert done.returncode == 2
    assert 'User "reader" cannot list resource "nodes"' in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"older", ["c.json.gz"])


def test_who_may_read_nodes_and_pods_is_told_what_is_missing(control_plane: ControlPlane, tmp_path: Path) -> None:
    rules = [{"apiGroups": ["", "apps"], "resources": ["nodes", "pods", "replicasets"], "verbs": ["list"]}]
    version = "rbac.authorization.k8s.io/v1"
    role = {"apiVersion": version, "kind": "ClusterRole", "metadata": {"name": "on-call"}, "rules": rules}
    binding = {"apiVersion": version, "kind": "ClusterRoleBinding", "metadata": {"name": "on-call"}}
    binding |= {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "on-call"}}
    binding |= {"subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}]}
    control_plane.create([role, binding])
    path = tmp_path / "c.json.gz"
    try:
        done = topospread(control_plane, "dump", str(path), "--context", "reader")
    finally:
        control_plane.kubectl("delete", "clusterrolebinding,clusterrole", "on-call")
    assert done.returncode == 0
    assert re.search(r"warning: the snapshot lacks objects of \d+ kinds \(Forbidden\): Deployment: ", done.stderr)
    assert re.search(r"; [^;]*\bService: cluster-level default constraints", done.stderr)
    assert len(done.stderr.splitlines()) == 1
    assert f"{PODS} pods" in done.stdout
    read = topospread(control_plane, "status", "-f", str(path))
    assert "PersistentVolume, PersistentVolumeClaim, StorageClass: pods with volumes" in " ".join(read.stdout.split())


def test_one_namespace(control_plane: ControlPlane, tmp_path: Path) -> None:
    done = topospread(control_plane, "dump", str(tmp_path / "c.json"), "-n", "shop")
    assert done.returncode == 0
    assert "nodes look emptier" in done.stderr
    items = json.loads((tmp_path / "c.json").read_text())["items"]
    assert {each["metadata"].get("namespace") for each in items} == {"shop", None}
    assert [each["metadata"]["name"] for each in items if each["kind"] == "Namespace"] == ["shop"]
    nope = topospread(control_plane, "dump", str(tmp_path / "d.json"), "-n", "nope")
    assert (nope.returncode, nope.stderr) == (2, 'error: -n nope: there is no namespace "nope"\n')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--context", "nope"], 'context "nope" not found; contexts: '),
        (["--kubeconfig", "/nowhere/config"], "/nowhere/config: this kubeconfig does not exist"),
    ],
    ids=["context", "kubeconfig"],
)
def test_what_is_missing_is_said(words: list[str], said: str, control_plane: ControlPlane, tmp_path: Path) -> None:
    done = topospread(control_plane, "dump", str(tmp_path / "c.json.gz"), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_server_that_is_not_there_is_said(control_plane: ControlPlane, tmp_path: Path) -> None:
    elsewhere = tmp_path / "kubeconfig"
    text = control_plane.kubeconfig.read_text()
    elsewhere.write_text(
        "\n".join(
            "  - {name: local, cluster: {server: 'https://127.0.0.1:1'}}" if "server:" in line else line
            for line in text.splitlines()
        )
    )
    done = topospread(control_plane, "dump", str(tmp_path / "c.json.gz"), "--kubeconfig", str(elsewhere))
    assert done.returncode == 2
    assert "127.0.0.1:1" in done.stderr
    assert "refused" in done.stderr
