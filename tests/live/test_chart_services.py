"""The extender, page and scale-in keeper of the chart as processes, with their pods' words and service accounts.

Their API server's audit log shows that they used each right that they have, and lacked none.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.live.api_server import free_port
from tests.live.audited import Audit, granted
from tests.live.conftest import ControlPlane
from tests.live.processes import TOPOSPREAD
from tests.live.running import Api, eventually, in_cluster, node, pod, spread
from tests.live.test_chart import EXTENDER, NAMESPACE, ONLY, PAGE, SCALE_IN, as_account, helm, installed, rendered
from tests.live.test_webhook import eventually as wait
from topospread.extender.declared import MAX_PER_DOMAIN

__all__ = ["helm", "installed"]
Json = dict[str, Any]
_SERVICE = "topospread-extender.topospread.svc"


def words_of(objects: list[Json], port: int, **mounted: Path) -> list[str]:
    """The words of the only Deployment's container, at a port of our own; ``mounted``: volume → where it is."""
    (pods,) = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "Deployment"]
    (container,) = pods["containers"]
    words: list[str] = [re.sub(r"^--port=.*", f"--port={port}", each) for each in container["args"]]
    for each in container.get("volumeMounts", ()):
        words = [word.replace(f"{each['mountPath']}/", f"{mounted[each['name']]}/") for word in words]
    return words


@contextmanager
def running(words: list[str], kubeconfig: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that finds the cluster as that account."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [TOPOSPREAD, *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=os.environ | {"KUBECONFIG": str(kubeconfig)},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def certify(folder: Path) -> ssl.SSLContext:
    """A certificate for the extender's Service, as a Secret has it; what trusts it."""
    subject = ["-subj", "/CN=extender", "-addext", f"subjectAltName=DNS:{_SERVICE}", "-days", "2"]
    made = ["-out", folder / "new.crt", "-keyout", folder / "new.key"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, *made]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "new.key").replace(folder / "tls.key")
    (folder / "new.crt").replace(folder / "tls.crt")
    # It is its own authority, and kube-scheduler's certificate too.
    (folder / "ca.crt").write_bytes((folder / "tls.crt").read_bytes())
    trusting = ssl.create_default_context(cafile=str(folder / "tls.crt"))
    trusting.check_hostname = False
    return trusting


def answers(url: str, trusting: ssl.SSLContext | None = None, method: str = "GET") -> tuple[int, str]:
    """Status and text; 0 while nobody answers."""
    try:
        asked = urllib.request.Request(url, method=method)
        with urllib.request.urlopen(asked, timeout=5, context=trusting) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""
    except OSError:
        return 0, ""


def configuration(plane: ControlPlane, folder: Path, port: int) -> Path:
    """kube-scheduler's, as docs/how-to/extender.md has it for a Service, at an address in place of the Service's."""
    written = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(plane.kubeconfig)},
        "leaderElection": {"leaderElect": False},
        "extenders": [
            {
                "urlPrefix": f"https://127.0.0.1:{port}",
                "enableHTTPS": True,
                "tlsConfig": {
                    "serverName": _SERVICE,
                    "caFile": str(folder / "tls.crt"),
                    "certFile": str(folder / "tls.crt"),
                    "keyFile": str(folder / "tls.key"),
                },
                "filterVerb": "filter",
                "prioritizeVerb": "prioritize",
                "weight": 1,
                "nodeCacheCapable": True,
            }
        ],
    }
    (folder / "kube.yaml").write_text(json.dumps(written))
    return folder / "kube.yaml"


def test_the_extender_is_called_over_https_and_needs_every_right_that_it_has(
    installed: tuple[ControlPlane, Audit],
    helm: Path,
    tmp_path: Path,
) -> None:
    plane, audit = installed
    objects = rendered(helm, *ONLY, *EXTENDER)
    account, port = f"{NAMESPACE}:topospread-extender", free_port()
    trusting = certify(tmp_path)
    words = words_of(objects, port, tls=tmp_path)
    capped = pod("capped-0", labels={"app": "capped"}, schedulerName="default-scheduler")
    capped["metadata"]["annotations"] = {MAX_PER_DOMAIN: "kubernetes.io/hostname: 1"}
    other = json.loads(json.dumps(capped).replace("capped-0", "capped-1"))

    async def scenario(api: Api) -> None:
        await api.create(node("extended"), capped)
        await eventually(lambda: api.has_node("capped-0"))
        await api.create(other)

        async def told() -> bool:
            return "holds 1 pod(s), of at most 1" in (await api.condition("capped-1")).get("message", "")

        await eventually(told)

    with running(words, as_account(plane, "topospread-extender", tmp_path), tmp_path / "log"):
        url = f"https://127.0.0.1:{port}"
        wait(lambda: answers(f"{url}/readyz", trusting)[0] == 200)
        command = [plane.programs / "kube-scheduler", f"--config={configuration(plane, tmp_path, port)}"]
        with (tmp_path / "kube.log").open("wb") as log:
            kube = subprocess.Popen([*command, "--secure-port=0"], stdout=log, stderr=log)
            try:
                in_cluster(str(plane.kubeconfig), scenario)
            finally:
                kube.kill()
                kube.wait()
        again = certify(tmp_path)
        wait(lambda: answers(f"{url}/livez", again)[0] == 200)
    assert audit.refused(account) == set()
    assert audit.used(account) == granted(objects)


def test_the_page_follows_the_cluster_behind_a_token_and_needs_every_right_that_it_has(
    installed: tuple[ControlPlane, Audit],
    helm: Path,
    tmp_path: Path,
) -> None:
    plane, audit = installed
    objects = rendered(helm, *ONLY, *PAGE)
    account, port, log = f"{NAMESPACE}:topospread-page", free_port(), tmp_path / "log"
    plane.create([node("shown")])
    with running(words_of(objects, port), as_account(plane, "topospread-page", tmp_path), log):
        wait(lambda: "?token=" in log.read_text())
        found = re.search(r"\?token=(\S+)", log.read_text())
        assert found is not None
        url = f"http://127.0.0.1:{port}/api/state"
        wait(lambda: answers(url)[0] == 403)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())

        def nodes() -> int:
            with opener.open(f"{url}?token={found[1]}", timeout=30) as answer:
                state: Json = json.load(answer)
                assert state["live"]
                count: int = state["nodes"]
                return count

        before = nodes()
        plane.create([node("shown-later")])
        wait(lambda: nodes() == before + 1)
        wait(lambda: granted(objects) <= audit.used(account))
    assert audit.refused(account) == set()
    assert audit.used(account) == granted(objects)


@pytest.mark.parametrize("text", ["page.snapshotSecret=snapshot", "page.tokenSecret=token"])
def test_a_page_of_a_snapshot_has_no_account_and_a_chosen_token_comes_from_its_secret(
    helm: Path,
    text: str,
) -> None:
    objects = rendered(helm, *ONLY, *PAGE, "--set", text)
    (pods,) = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "Deployment"]
    if "snapshotSecret" in text:
        assert granted(objects) == set()
        assert pods["automountServiceAccountToken"] is False
        assert not any(each["kind"] == "ServiceAccount" for each in objects)
    else:
        (variable,) = pods["containers"][0]["env"]
        assert variable["name"] == "TOPOSPREAD_TOKEN"
        assert variable["valueFrom"]["secretKeyRef"] == {"name": "token", "key": "token"}


def test_the_scale_in_keeper_needs_every_right_that_it_has(
    installed: tuple[ControlPlane, Audit],
    helm: Path,
    tmp_path: Path,
) -> None:
    plane, audit = installed
    objects = rendered(helm, *ONLY, *SCALE_IN)
    account, port = f"{NAMESPACE}:topospread-scale-in-keeper", free_port()
    words = [word.replace("9404", str(port)) for word in words_of(objects, port)]
    labels = {"app": "kept"}
    constraints = [spread("kubernetes.io/hostname", 1, **labels)]
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "pause"}]}}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": "kept",
            "namespace": "default",
            "annotations": {"topospread.dev/scale-in": "keep-spread"},
        },
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    plane.create([replica_set])
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "kept", "controller": True}
    pods = [
        pod(f"kept-{number}", labels=labels, nodeName="keeping", topologySpreadConstraints=constraints)
        for number in range(2)
    ]
    for each in pods:
        each["metadata"]["ownerReferences"] = [dict(owner)]
    plane.create([node("keeping"), *pods])
    kubeconfig = as_account(plane, "topospread-scale-in-keeper", tmp_path)
    with running(words, kubeconfig, tmp_path / "log"):
        wait(lambda: answers(f"http://127.0.0.1:{port}/readyz")[0] == 200)
        wait(lambda: granted(objects) <= audit.used(account))
        assert "topospread_scale_in_replica_sets 1.0" in answers(f"http://127.0.0.1:{port}/metrics")[1]
    costs = plane.kubectl("get", "pods", "-l", "app=kept", "-o", "jsonpath={.items[*].metadata.annotations}")
    assert "controller.kubernetes.io/pod-deletion-cost" in costs
    plane.kubectl("delete", "replicaset", "kept")
    plane.kubectl("delete", "pods", "-l", "app=kept", "--force")
    assert audit.refused(account) == set()
    assert audit.used(account) == granted(objects)
