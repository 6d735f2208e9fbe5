"""Who the scheduler is changes while it runs: tokens that are rotated or run out, certificates that are replaced."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.live.conftest import ControlPlane
from tests.live.processes import address, nodes, pods, recovered, scheduler, settle, with_server
from tests.live.running import Api, eventually, in_cluster

# Connections that are cut on purpose are closed when the loop that knew them is gone.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

SOME = 40
LEEWAY = 60
"""Seconds that the API server lets a token live past its end (go-jose's default)."""
PODS = "/api/v1/namespaces/default/pods"


def an_account(plane: ControlPlane) -> str:
    """A service account that may do everything; its uid."""
    plane.kubectl("create", "serviceaccount", "ours")
    plane.kubectl(
        "create", "clusterrolebinding", "ours", "--clusterrole=cluster-admin", "--serviceaccount=default:ours"
    )
    return plane.kubectl("get", "serviceaccount", "ours", "-o", "jsonpath={.metadata.uid}")


def test_a_token_that_is_rotated(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        an_account(own_plane)
        tokens = []
        for name in ("first", "second"):
            own_plane.kubectl("create", "secret", "generic", name)
            bind = ("--bound-object-kind=Secret", f"--bound-object-name={name}")
            tokens.append(own_plane.kubectl("create", "token", "ours", *bind))
        file = tmp_path / "token"
        file.write_text(tokens[0])
        kubeconfig = with_server(own_plane.kubeconfig, tmp_path, address(own_plane.kubeconfig), tokenFile=str(file))
        await api.create(*nodes())
        async with scheduler(kubeconfig, tmp_path) as ours:
            await api.create(*pods(SOME))
            await recovered(api, SOME)
            file.write_text(tokens[1])
            own_plane.kubectl("delete", "secret", "first")
            # The API server remembers for ten seconds that a token was good.
            await settle(11)
            await api.create(*pods(SOME, "more"))
            await recovered(api, 2 * SOME)
            assert tokens[0] not in ours.log.read_text()
            assert tokens[1] not in ours.log.read_text()

    in_cluster(str(own_plane.kubeconfig), scenario)


def token(plane: ControlPlane, uid: str, seconds: float) -> str:
    """A token of the account that runs out after so many seconds; the API server makes none for under ten minutes."""
    now = int(time.time()) - LEEWAY
    account = {"namespace": "default", "serviceaccount": {"name": "ours", "uid": uid}}
    claims = {
        "iss": "https://kubernetes.default",
        "aud": ["https://kubernetes.default"],
        "sub": "system:serviceaccount:default:ours",
        "iat": now,
        "nbf": now,
        "exp": int(now + seconds),
        "kubernetes.io": account,
    }
    signed = f"{_encoded({'alg': 'RS256', 'typ': 'JWT'})}.{_encoded(claims)}"
    key = plane.kubeconfig.parent / "sa.key"
    signature = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", key], input=signed.encode(), check=True, capture_output=True
    ).stdout
    return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def _encoded(data: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()


def test_a_token_that_runs_out_before_the_next_one_is_there(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        uid, file = an_account(own_plane), tmp_path / "token"
        ends = time.monotonic() + 30
        file.write_text(token(own_plane, uid, 30))
        kubeconfig = with_server(own_plane.kubeconfig, tmp_path, address(own_plane.kubeconfig), tokenFile=str(file))
        await api.create(*nodes())
        async with scheduler(kubeconfig, tmp_path) as ours:
            await api.create(*pods(SOME))
            await recovered(api, SOME)
            # The API server remembers for ten seconds that a token was good.
            await settle(ends - time.monotonic() + 11)
            await api.create(*pods(SOME, "more"))
            await settle(3)
            assert ours.ended is None
            assert ours.metric("rest_client_requests_total") > 0
            unbound = [each for each in await api.items(PODS) if not each["spec"].get("nodeName")]
            assert len(unbound) == SOME, "nobody binds with a token that has run out"
            file.write_text(token(own_plane, uid, 600))
            await recovered(api, 2 * SOME)

    in_cluster(str(own_plane.kubeconfig), scenario)


def authority(folder: Path, name: str) -> Path:
    """A certificate authority, its key beside it."""
    made = folder / f"{name}.crt"
    words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN={name} -days 2".split()
    subprocess.run(
        ["openssl", *words, "-out", made, "-keyout", made.with_suffix(".key")], check=True, capture_output=True
    )
    return made


def certify(signer: Path, certificate: Path, key: Path) -> None:
    """A certificate of somebody who may do everything."""
    asked = certificate.with_suffix(".csr")
    new = [
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/O=system:masters/CN=ours",
    ]
    subprocess.run(["openssl", *new, "-keyout", key, "-out", asked], check=True, capture_output=True)
    sign = ["x509", "-req", "-in", asked, "-CA", signer, "-CAkey", signer.with_suffix(".key"), "-CAcreateserial"]
    subprocess.run(["openssl", *sign, "-days", "2", "-out", certificate], check=True, capture_output=True)


def test_client_certificates_that_are_rotated(own_plane: ControlPlane, tmp_path: Path) -> None:
    async def scenario(api: Api) -> None:
        trusted = own_plane.kubeconfig.parent / "clients.crt"
        old, new = authority(tmp_path, "old"), authority(tmp_path, "new")
        trusted.write_text(old.read_text() + new.read_text())
        certificate, key = tmp_path / "ours.crt", tmp_path / "ours.key"
        certify(old, certificate, key)
        files = {"client-certificate": str(certificate), "client-key": str(key)}
        kubeconfig = with_server(own_plane.kubeconfig, tmp_path, address(own_plane.kubeconfig), **files)
        await eventually(lambda: knows(kubeconfig, own_plane))
        await api.create(*nodes())
        async with scheduler(kubeconfig, tmp_path) as ours:
            await api.create(*pods(SOME))
            await recovered(api, SOME)
            certify(new, certificate, key)
            trusted.write_text(new.read_text())
            await eventually(lambda: not knows(with_old(kubeconfig, tmp_path, old), own_plane))
            await api.create(*pods(SOME, "more"))
            await recovered(api, 2 * SOME)
            assert ours.ended is None

    in_cluster(str(own_plane.kubeconfig), scenario)


def with_old(kubeconfig: Path, folder: Path, signer: Path) -> Path:
    """The same with a certificate of the authority that is not trusted any more."""
    made = folder / "old-kubeconfig"
    if not made.exists():
        certify(signer, folder / "stale.crt", folder / "stale.key")
        text = kubeconfig.read_text()
        made.write_text(text.replace(f"{folder}/ours.", f"{folder}/stale."))
    return made


def knows(kubeconfig: Path, plane: ControlPlane) -> bool:
    """Whether the API server knows who asks."""
    done = subprocess.run(
        [plane.programs / "kubectl", "--kubeconfig", kubeconfig, "get", "nodes"], check=False, capture_output=True
    )
    return done.returncode == 0
