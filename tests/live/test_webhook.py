"""``topospread webhook`` asked by a real API server, configured by what the chart renders."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.live.api_server import api_server, free_port
from tests.live.conftest import ControlPlane
from tests.live.running import PATIENCE
from tests.live.test_chart import TOPOSPREAD, WEBHOOK, rendered
from tests.unit.webhook.admission_requests import ZONE, constraint, deployment

Json = dict[str, Any]
POLICY = {
    "deny": ["selector-not-own"],
    "defaults": [{"constraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}]}],
}
DENIED = "denied the request: topospread: selector-not-own: spec.template.spec.topologySpreadConstraints[0]"


@dataclass
class Asked:
    """An API server, and the webhook that it asks."""

    plane: ControlPlane
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        flags = ("--tls-cert-file", self.folder / "tls.crt", "--tls-private-key-file", self.folder / "tls.key")
        words = (TOPOSPREAD, "webhook", "--policy", self.folder / "policy.yaml", "--port", str(self.port), *flags)
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen([*words, "--host", "127.0.0.1", "-v", "2"], stdout=log, stderr=log)
        eventually(lambda: b"ok" in self.get("/readyz"))

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(30)

    def get(self, path: str) -> bytes:
        done = subprocess.run(["curl", "-sk", f"https://127.0.0.1:{self.port}{path}"], capture_output=True, check=False)
        return done.stdout

    def certify(self) -> str:
        """A new certificate, which is its own authority; as a caBundle."""
        subject = ["-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
        made = ["-out", self.folder / "new.crt", "-keyout", self.folder / "new.key"]
        subprocess.run([*words, *made], check=True, capture_output=True)
        (self.folder / "new.key").replace(self.folder / "tls.key")
        (self.folder / "new.crt").replace(self.folder / "tls.crt")
        return base64.b64encode((self.folder / "tls.crt").read_bytes()).decode()

    def configure(self, helm: Path, bundle: str) -> None:
        """What the chart renders, at an address in place of a Service: no kube-proxy runs here."""
        items = [each for each in rendered(helm, *WEBHOOK) if each["kind"].endswith("WebhookConfiguration")]
        assert len(items) == 2
        for each in items:
            for webhook in each["webhooks"]:
                path = webhook["clientConfig"]["service"]["path"]
                webhook["clientConfig"] = {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": bundle}
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        self.plane.kubectl("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", "-", given=listed)

    def create(self, made: Json, *words: str) -> subprocess.CompletedProcess[str]:
        """``kubectl create``, and what it says."""
        return subprocess.run(
            [self.plane.programs / "kubectl", "create", "-f", "-", *words],
            input=json.dumps(made),
            env=self.plane.environment,
            capture_output=True,
            text=True,
            check=False,
        )


def eventually(check: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < until, "it did not come to be"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def asked(kubectl: Path, renderers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("webhook")
    with api_server(kubectl, folder / "plane") as kubeconfig:
        yield from asking(ControlPlane(kubeconfig, kubectl), renderers, folder)


def asking(plane: ControlPlane, renderers: Path, folder: Path) -> Iterator[Asked]:
    """The webhook, once the API server asks it."""
    made = Asked(plane, folder, free_port())
    (folder / "policy.yaml").write_text(json.dumps(POLICY))
    bundle = made.certify()
    made.start()
    try:
        made.configure(renderers / "helm", bundle)
        # The API server takes note of webhooks within a second or so.
        eventually(
            lambda: DENIED in made.create(of("default", "first", constraint("other")), "--dry-run=server").stderr
        )
        yield made
    finally:
        made.stop()


def of(namespace: str, name: str, *constraints: Json) -> Json:
    """A Deployment as somebody writes it."""
    made = deployment(*constraints, namespace=namespace)
    del made["metadata"]["uid"]
    made["metadata"]["name"] = name
    return made


def test_objects_are_denied_warned_of_and_completed(asked: Asked, renderers: Path) -> None:
    beta = constraint(key="failure-domain.beta.kubernetes.io/zone")
    told = asked.create(of("default", "told", beta))
    assert told.returncode == 0, told.stderr
    assert "Warning: beta-topology-key: spec.template.spec.topologySpreadConstraints[0].topologyKey" in told.stderr

    denied = asked.create(of("default", "denied", constraint("other")))
    assert denied.returncode == 1
    assert DENIED in denied.stderr

    assert asked.create(of("default", "bare")).stderr == ""
    kept = json.loads(asked.plane.kubectl("get", "deployment", "bare", "-o", "json"))
    (added,) = kept["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert added["labelSelector"] == {"matchLabels": {"app": "web"}}
    assert added["matchLabelKeys"] == ["pod-template-hash"]

    assert asked.create(of("kube-system", "vital", constraint("other"))).stderr == ""
    assert json.loads(asked.plane.kubectl("-n", "kube-system", "get", "deployment", "vital", "-o", "json"))
    assert b'topospread_admission_requests_total{answer="denied",webhook="validate"}' in asked.get("/metrics")


def test_what_was_there_before_can_be_scaled_and_a_pod_of_a_controller_is_let_in(asked: Asked) -> None:
    made = of("default", "old", constraint())
    assert asked.create(made).returncode == 0
    worse = [{"op": "replace", "path": f"/spec/template/spec/{PATH}", "value": {"matchLabels": {"app": "other"}}}]
    patch = ("patch", "deployment", "old", "--type=json", "-p")
    with pytest.raises(AssertionError, match="selector-not-own"):
        asked.plane.kubectl(*patch, json.dumps(worse))
    asked.plane.kubectl("scale", "deployment", "old", "--replicas=5")
    asked.plane.kubectl("label", "deployment", "old", "team=shop")


PATH = "topologySpreadConstraints/0/labelSelector"


def test_a_certificate_is_replaced_while_it_runs_and_without_the_webhook_all_is_let_in(
    asked: Asked, renderers: Path
) -> None:
    wrong = of("default", "wrong", constraint("other"))
    asked.configure(renderers / "helm", asked.certify())
    eventually(lambda: "the certificate was read anew" in (asked.folder / "log").read_text())
    eventually(lambda: DENIED in asked.create(wrong, "--dry-run=server").stderr)
    assert asked.stop() == 0
    let_in = asked.create(wrong)
    assert let_in.returncode == 0, let_in.stderr
    asked.start()
    eventually(lambda: DENIED in asked.create(of("default", "next", constraint("other")), "--dry-run=server").stderr)
