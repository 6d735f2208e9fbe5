"""The Helm chart on a real API server: what it renders is applied, and each process runs with just the rights it gives.

They are held against the API server's audit log: a right that is missing is refused there, an unused one is not in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.live.api_server import free_port
from tests.live.audited import Audit, Use, audited_plane, granted
from tests.live.conftest import ControlPlane
from tests.live.processes import Process, address, scheduler, settle, with_server
from tests.live.running import Api, claim, eventually, in_cluster, node, pod, storage_class
from tests.live.test_scheduler_preemption import priority_class
from tests.live.test_scheduler_volumes import volume, with_claim

Json = dict[str, Any]
CHART = Path(__file__).resolve().parents[2] / "deploy" / "chart"
KUSTOMIZE = CHART.parent / "kustomize"
NAMESPACE = "topospread"
WEBHOOK = ("--set", "webhook.enabled=true,webhook.secretName=tls,webhook.caBundle=Tm9uZQ==")
EXTENDER = ("--set", "extender.enabled=true,extender.secretName=tls")
PAGE = ("--set", "page.enabled=true")
SCALE_IN = ("--set", "scaleInKeeper.enabled=true")
SNAPSHOT = ("--set", "page.enabled=true,page.snapshotSecret=snapshot,page.tokenSecret=token")
ONLY = ("--set", "scheduler.enabled=false,exporter.enabled=false")
"""Of what is on by default nothing."""
EVERYTHING = (*PAGE, *WEBHOOK, *EXTENDER, *SCALE_IN)
TOPOSPREAD = Path(sys.executable).parent / "topospread"


def rendered(helm: Path, *words: str) -> list[Json]:
    """The objects of the chart."""
    command = [helm, "template", "topospread", CHART, "--namespace", NAMESPACE, *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [each for each in yaml.safe_load_all(done.stdout) if each]


@pytest.fixture(scope="module")
def helm(renderers: Path) -> Path:
    return renderers / "helm"


@pytest.fixture(scope="module")
def installed(
    helm: Path, kubectl: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ControlPlane, Audit]]:
    """An API server with all that the chart renders, in a namespace where Pod Security is `restricted`."""
    with audited_plane(kubectl, tmp_path_factory.mktemp("chart") / "plane") as (plane, audit):
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
        plane.kubectl("create", "-f", "-", given=space)
        # The webhook's configurations need a real authority: test_webhook has one.
        items = [each for each in rendered(helm, *EVERYTHING) if not each["kind"].endswith("WebhookConfiguration")]
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        plane.kubectl("apply", "--server-side", "--validate=strict", "-f", "-", given=listed)
        yield plane, audit


def test_helm_finds_nothing(helm: Path) -> None:
    done = subprocess.run([helm, "lint", "--strict", CHART, *EVERYTHING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "WARNING" not in done.stdout


@pytest.mark.parametrize(
    "value",
    [
        "scheduler.replicas=0",
        "scheduler.schedulerName=default-scheduler",
        "image.tga=1",
        "webhook.enabled=true",
        "extender.enabled=true",
        "webhook.clientCA=ca.crt",
    ],
)
def test_wrong_values_are_refused(helm: Path, value: str) -> None:
    done = subprocess.run([helm, "template", CHART, "--set", value], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "values don't meet the specifications of the schema" in done.stderr


def test_the_webhook_requires_a_client_certificate_of_the_given_authority(helm: Path, tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text("-----BEGIN CERTIFICATE-----\nTm9uZQ==\n-----END CERTIFICATE-----\n")
    items = {key(each): each for each in rendered(helm, *WEBHOOK, "--set-file", f"webhook.clientCA={authority}")}
    pods = items["Deployment", "topospread-webhook"]["spec"]["template"]["spec"]
    assert "--client-ca-file=/etc/topospread/client-ca.crt" in pods["containers"][0]["args"]
    assert {"name": "policy", "mountPath": "/etc/topospread", "readOnly": True} in pods["containers"][0]["volumeMounts"]
    assert items["ConfigMap", "topospread-webhook"]["data"]["client-ca.crt"] == authority.read_text()
    without = {key(each): each for each in rendered(helm, *WEBHOOK)}
    assert "client-ca" not in json.dumps(without["Deployment", "topospread-webhook"])


def test_our_own_linter_finds_nothing(helm: Path, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(rendered(helm, *EVERYTHING)))
    done = subprocess.run([TOPOSPREAD, "lint", tmp_path / "all.yaml"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("yes: no findings in ")


def test_kustomize_builds_what_helm_renders(renderers: Path, helm: Path) -> None:
    words = [renderers / "kustomize", "build", KUSTOMIZE / "base"]
    built = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    theirs = {key(each): each for each in yaml.safe_load_all(built) if each["kind"] != "Namespace"}
    assert theirs == {key(each): each for each in rendered(helm)}


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("page", "page.enabled=true"),
        ("scale-in-keeper", "scaleInKeeper.enabled=true"),
        ("webhook", "webhook.enabled=true,webhook.certManager=true"),
        ("extender", "extender.enabled=true,extender.certManager=true"),
    ],
)
def test_a_component_adds_what_the_chart_adds(
    renderers: Path, helm: Path, tmp_path: Path, part: str, values: str
) -> None:
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [os.path.relpath(KUSTOMIZE / "base", tmp_path)],
        "components": [os.path.relpath(KUSTOMIZE / "components" / part, tmp_path)],
    }
    (tmp_path / "kustomization.yaml").write_text(json.dumps(kustomization))
    built = subprocess.run(
        [renderers / "kustomize", "build", tmp_path], check=True, capture_output=True, text=True
    ).stdout
    theirs = {key(each): each for each in yaml.safe_load_all(built) if each["kind"] != "Namespace"}
    assert theirs == {key(each): each for each in rendered(helm, "--set", values)}


def key(item: Json) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def test_pod_security_lets_every_pod_in(installed: tuple[ControlPlane, Audit], helm: Path) -> None:
    plane, _ = installed
    every = [*rendered(helm, *EVERYTHING), *rendered(helm, *ONLY, *SNAPSHOT)]
    deployments = [each for each in every if each["kind"] == "Deployment"]
    assert len(deployments) == 7
    for each in deployments:
        made = {"apiVersion": "v1", "kind": "Pod", **each["spec"]["template"]}
        made["metadata"] |= {"name": "tried", "namespace": NAMESPACE}
        plane.kubectl("create", "--dry-run=server", "-f", "-", given=made)
        del made["spec"]["securityContext"]
        with pytest.raises(AssertionError, match="violates PodSecurity"):
            plane.kubectl("create", "--dry-run=server", "-f", "-", given=made)


def as_account(plane: ControlPlane, name: str, folder: Path) -> Path:
    """A kubeconfig with a token of a service account."""
    token = plane.kubectl("-n", NAMESPACE, "create", "token", name)
    return with_server(plane.kubeconfig, folder, address(plane.kubeconfig), token=token.strip())


def of_us(item: Json) -> Json:
    item["spec"]["schedulerName"] = "topospread"
    return item


async def all_that_a_scheduler_does(api: Api, ours: Process) -> None:
    """Bind, refuse twice with the same words, preempt, bind a volume and have one made."""
    await api.create(priority_class("high", 1000), node("one", cpu="1"), node("two", cpu="1"))
    await api.create(pod("victim", "800m", nodeName="two"))
    on_one = {"kubernetes.io/hostname": "one"}  # elsewhere it would leave room for the important one
    await api.create(of_us(pod("plain", nodeSelector=on_one)), of_us(pod("huge", "64")))
    await eventually(lambda: api.has_node("plain"))
    await eventually(lambda: api.has_event("huge", "FailedScheduling"))
    await api.create(storage_class("kubernetes.io/no-provisioner"), storage_class("example.com/disks", "made"))
    await api.create(volume("one"), claim(), claim("new", "made"))
    await api.patch("/api/v1/persistentvolumes/disk/status", {"status": {"phase": "Available"}})
    await api.create(of_us(with_claim("user")), of_us(with_claim("maker", "new")))
    on_two = {"kubernetes.io/hostname": "two"}  # the volume is on the other, where its pod needs room
    await api.create(of_us(pod("important", "950m", priorityClassName="high", nodeSelector=on_two)))
    await eventually(lambda: api.has_node("important"))
    assert ours.leads


def test_the_scheduler_needs_every_right_that_it_has(
    installed: tuple[ControlPlane, Audit], helm: Path, tmp_path: Path
) -> None:
    plane, audit = installed
    objects = rendered(helm, "--set", "exporter.enabled=false")
    name = "topospread-scheduler"
    account = f"{NAMESPACE}:{name}"
    (settings,) = [each for each in objects if each["kind"] == "ConfigMap"]
    (tmp_path / "scheduler.yaml").write_text(settings["data"]["scheduler.yaml"])
    kubeconfig = as_account(plane, name, tmp_path)
    flags = ("--config", str(tmp_path / "scheduler.yaml"), "--leader-elect=true")

    async def told_again(api: Api) -> bool:
        """Let a pod go, for which one that waits is tried once more; whether that was told as a repetition."""
        await api.create(pod("nudge", "1m", nodeName="one"))
        await api.delete_pod("nudge")
        await settle(0.5)
        return Use("patch", "events.k8s.io", "events") in audit.used(account)

    async def scenario(api: Api) -> None:
        async with scheduler(kubeconfig, tmp_path, *flags) as ours:
            await eventually(lambda: ours.leads)
            await all_that_a_scheduler_does(api, ours)
            await eventually(lambda: told_again(api))
            with suppress(AssertionError):  # what is unused after all that time is named below
                await eventually(lambda: granted(objects) <= audit.used(account))
        assert granted(objects) - audit.used(account) == set()
        assert audit.refused(account) == set()
        # The comparison can fail: of a right more it would say that it is unused.
        assert audit.used(account) == granted(objects)

    in_cluster(str(plane.kubeconfig), scenario)


def test_the_exporter_needs_every_right_that_it_has(
    installed: tuple[ControlPlane, Audit], helm: Path, tmp_path: Path
) -> None:
    plane, audit = installed
    account = f"{NAMESPACE}:topospread-exporter"
    wanted = granted(rendered(helm, "--set", "scheduler.enabled=false"))
    kubeconfig, port = as_account(plane, "topospread-exporter", tmp_path), free_port()
    words = [str(TOPOSPREAD), "run", "exporter", "--kubeconfig", str(kubeconfig), "--port", str(port)]
    exporter = Process(words, tmp_path / "exporter.log", port)

    async def scenario(api: Api) -> None:
        await eventually(lambda: exporter.is_ready)
        await eventually(lambda: wanted <= audit.used(account))

    try:
        in_cluster(str(plane.kubeconfig), scenario)
    finally:
        exporter.stop()
    assert audit.refused(account) == set()
    assert audit.used(account) == wanted


def test_a_right_that_is_missing_is_named(installed: tuple[ControlPlane, Audit], tmp_path: Path) -> None:
    plane, audit = installed
    plane.kubectl("-n", NAMESPACE, "create", "serviceaccount", "nobody")
    kubeconfig = as_account(plane, "nobody", tmp_path)
    words = [TOPOSPREAD, "run", "scheduler", "--kubeconfig", kubeconfig, "--secure-port", "0", "--leader-elect=false"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "create pods/binding" in done.stderr
    plane.kubectl("--kubeconfig", str(kubeconfig), "auth", "whoami")
    refused = subprocess.run(
        [plane.programs / "kubectl", "--kubeconfig", kubeconfig, "get", "pods"], capture_output=True, check=False
    )
    assert refused.returncode == 1
    assert Use("list", "", "pods") in audit.refused(f"{NAMESPACE}:nobody")


def test_the_log_is_complete(installed: tuple[ControlPlane, Audit]) -> None:
    _, audit = installed
    assert all(event["level"] == "Metadata" for event in audit.events())
