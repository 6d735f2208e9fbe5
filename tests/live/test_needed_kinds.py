"""Commands ask a real API server, whose audit log is looked into, for the kinds that their answers rest on alone."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.audited import Audit, audited_plane
from tests.live.conftest import ControlPlane
from tests.live.processes import TOPOSPREAD, address, with_server
from tests.live.running import node, pod
from topospread.api.storage import VOLUME_KINDS
from topospread.sources.needed_kinds import ALL, PLACEMENT, NeededKinds
from topospread.sources.snapshot_lists import ListRequest

Json = dict[str, Any]
BARE = tuple(each for each in PLACEMENT.kinds if each not in VOLUME_KINDS)
MANIFEST: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "app"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "app"}},
        "template": {
            "metadata": {"labels": {"app": "app"}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]},
        },
    },
}
RUN: Json = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "run", "namespace": "default"},
    "spec": {
        "schedule": "0 * * * *",
        "jobTemplate": {
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
        },
    },
}


def claiming(item: Json) -> Json:
    """The same with a claim."""
    made: Json = json.loads(json.dumps(item))
    spec = made["spec"]["template"]["spec"] if made["kind"] == "Deployment" else made["spec"]
    spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    return made


@pytest.fixture(scope="module")
def audited(kubectl: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ControlPlane, Audit]]:
    """An API server with three nodes, a pod without volumes and a CronJob; who asks is a service account."""
    with audited_plane(kubectl, tmp_path_factory.mktemp("audited") / "plane") as (plane, audit):
        plane.create([node(f"n{number}", zone="abc"[number]) for number in range(3)])
        plane.create([pod("web", nodeName="n0"), json.loads(json.dumps(RUN))])
        plane.kubectl("create", "namespace", "asks")
        yield plane, audit


def asked(audited: tuple[ControlPlane, Audit], account: str, *words: str) -> set[str]:
    """Which resources a command asks for; each command is an account of its own."""
    plane, audit = audited
    plane.kubectl("create", "serviceaccount", account, "-n", "asks")
    who = f"--serviceaccount=asks:{account}"
    plane.kubectl("create", "clusterrolebinding", account, "--clusterrole=cluster-admin", who)
    token = plane.kubectl("create", "token", account, "-n", "asks").strip()
    folder = plane.kubeconfig.parent / account
    folder.mkdir()
    kubeconfig = with_server(plane.kubeconfig, folder, address(plane.kubeconfig), token=token)
    done = subprocess.run(
        [TOPOSPREAD, *words, "--kubeconfig", str(kubeconfig)],
        env=plane.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return {each.resource for each in audit.used(f"asks:{account}") if each.verb == "list"}


def resources(kinds: NeededKinds | tuple[str, ...]) -> set[str]:
    return {ListRequest(each).resource for each in (kinds if isinstance(kinds, tuple) else kinds.kinds)}


def test_each_command_asks_for_what_it_needs(audited: tuple[ControlPlane, Audit], tmp_path: Path) -> None:
    app, claims, run = (tmp_path / f"{name}.json" for name in ("app", "claims", "run"))
    app.write_text(json.dumps(MANIFEST))
    claims.write_text(json.dumps(claiming(MANIFEST)))
    run.write_text(json.dumps(RUN))
    json_out = ("-o", "json")
    commands: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "status": (("status", *json_out), BARE),
        "simulate": (("simulate", "-f", str(app), *json_out), BARE),
        "simulate-claims": (("simulate", "-f", str(claims), *json_out), PLACEMENT.kinds),
        "simulate-run": (("simulate", "--run-cron-job", "run", *json_out), (*BARE, "CronJob")),
        "simulate-file-run": (("simulate", "-f", str(run), *json_out), (*BARE, "CronJob")),
        "simulate-save": (("simulate", "--save", str(tmp_path / "after.json"), *json_out), ALL.kinds),
        "explain": (("why", "web", *json_out), BARE),
        "capacity": (("capacity", "-f", str(app), "deploy/app", "--on", "live", *json_out), BARE),
        "drill": (("drill", "--fail", "node=n0", *json_out), BARE),
        "rebalance": (("rebalance", *json_out), BARE),
        "lint": (
            ("lint", str(app), "--on", "live", *json_out),
            tuple(each for each in ALL.kinds if each not in VOLUME_KINDS),
        ),
        "lint-claims": (("lint", str(claims), "--on", "live", *json_out), ALL.kinds),
        "dump": (("dump", str(tmp_path / "dump.json")), ALL.kinds),
    }
    for account, (words, kinds) in commands.items():
        found = asked(audited, account, *words)
        assert found == resources(kinds), (account, found ^ resources(kinds))


def test_a_pod_with_a_claim_in_the_cluster_asks_for_volumes(audited: tuple[ControlPlane, Audit]) -> None:
    plane, _ = audited
    before = asked(audited, "before", "status", "-o", "json")
    plane.create([claiming(pod("claims", nodeName="n1"))])
    try:
        after = asked(audited, "after", "status", "-o", "json")
    finally:
        plane.kubectl("delete", "pod", "claims", "-n", "default", "--force", "--grace-period=0")
    assert after - before == resources(tuple(sorted(VOLUME_KINDS)))


def test_what_may_not_be_read_is_named_by_each_command(audited: tuple[ControlPlane, Audit], tmp_path: Path) -> None:
    plane, _ = audited
    app = tmp_path / "app.json"
    app.write_text(json.dumps(MANIFEST))
    plane.create([json.loads(json.dumps(MANIFEST)) | {"metadata": {"name": "there", "namespace": "default"}}])
    resources_of = "--resource=nodes,pods,namespaces,deployments,replicasets"
    plane.kubectl("create", "clusterrole", "some", "--verb=list", resources_of)
    plane.kubectl("create", "clusterrolebinding", "some", "--clusterrole=some", "--user=some")
    for words in (
        ("status",),
        ("status", "-o", "json"),
        ("simulate", "-f", str(app)),
        ("why", "web"),
        ("capacity", "deploy/there"),
        ("drill", "--fail", "node=n0"),
        ("rebalance",),
        ("rebalance", "-o", "commands"),
        ("lint", str(app), "--on", "live"),
        ("dump", str(tmp_path / "dump.json")),
    ):
        done = subprocess.run(
            [TOPOSPREAD, *words, "--as", "some"],
            env=plane.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        said = " ".join(f"{done.stdout} {done.stderr}".split())
        assert re.search(r"lacks (Service objects|objects of \d+ kinds) \(Forbidden\):", said), words
        assert re.search(r"\bService\b", said), words
        assert max(done.stdout.count("(Forbidden)"), done.stderr.count("(Forbidden)")) == 1, words
