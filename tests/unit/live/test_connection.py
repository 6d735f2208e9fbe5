"""Kubeconfigs and service accounts as connections: what is read, what is refused with words, what is kept fresh."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from topospread.errors import InputError
from topospread.live import connection as connections
from topospread.live import credentials
from topospread.live.connection import Connection, connect


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig, no pod and no proxy but what a test brings."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(connections, "_QUICK", 30.0)  # a plugin is a process: it starts slowly on a busy machine


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate, its key beside it."""
    return _certificate(tmp_path_factory.mktemp("tls"), "one")


def _certificate(folder: Path, name: str) -> Path:
    words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN={name} -days 2".split()
    made = folder / f"{name}.crt"
    subprocess.run(
        ["openssl", *words, "-out", made, "-keyout", folder / f"{name}.key"], check=True, capture_output=True
    )
    return made


def _kubeconfig(path: Path, user: dict[str, Any] | None = None, **cluster: Any) -> str:
    chosen = {"cluster": "c", **({"user": "u"} if user is not None else {})}
    data = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://10.1.2.3:6443/", **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "here", "context": chosen}],
        "current-context": "here",
    }
    path.write_text(yaml.safe_dump(data))
    return str(path)


_WITHOUT_A_HOME = """
import asyncio, os, pwd
os.getuid = lambda: 65532
pwd.getpwuid = lambda user: {}[user]
from topospread.live.access import Access
print(Access().finds_something(), Access().namespace())
try:
    asyncio.run(Access().connect())
except Exception as error:
    print(type(error).__name__)
"""


def test_a_user_without_a_home_has_no_kubeconfig() -> None:
    """As 65532 where nothing sets HOME, and /etc/passwd does not know the user."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    words = [sys.executable, "-c", _WITHOUT_A_HOME]
    done = subprocess.run(words, env=kept, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "default", "InputError"], done.stderr


def _connected(*args: Any, **named: Any) -> tuple[Connection, dict[str, str]]:
    async def both() -> tuple[Connection, dict[str, str]]:
        made = await connect(*args, **named)
        return made, await made.headers()

    return asyncio.run(both())


def test_a_token_is_sent_as_bearer(tmp_path: Path) -> None:
    made, headers = _connected(_kubeconfig(tmp_path / "k", {"token": "s3cret"}))
    assert made.server == "https://10.1.2.3:6443"
    assert headers == {"Authorization": "Bearer s3cret"}
    assert isinstance(made.ssl, ssl.SSLContext)


def test_a_context_without_a_user_is_anonymous(tmp_path: Path) -> None:
    assert _connected(_kubeconfig(tmp_path / "k"))[1] == {}


def test_plain_http_has_no_tls(tmp_path: Path) -> None:
    made, _ = _connected(_kubeconfig(tmp_path / "k", {}, server="http://127.0.0.1:8080"))
    assert made.ssl is None


def test_the_user_to_act_as_is_sent(tmp_path: Path) -> None:
    path = _kubeconfig(tmp_path / "k", {"token": "t", "as": "from-the-file"})
    assert _connected(path)[1]["Impersonate-User"] == "from-the-file"
    assert _connected(path, as_user="given")[1]["Impersonate-User"] == "given"


def test_kubeconfig_of_the_environment_may_be_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    _kubeconfig(first, {"token": "one"})
    entry = {"name": "there", "context": {"cluster": "c", "user": "other"}}
    second.write_text(yaml.safe_dump({"contexts": [entry], "users": [{"name": "other", "user": {"token": "two"}}]}))
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}")
    assert _connected()[1] == {"Authorization": "Bearer one"}
    assert _connected(context="there")[1] == {"Authorization": "Bearer two"}


def test_a_rotated_token_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    token = tmp_path / "token"
    token.write_text("old\n")
    path = _kubeconfig(tmp_path / "k", {"tokenFile": str(token)})

    async def rotate() -> list[str]:
        made = await connect(path)
        before = (await made.headers())["Authorization"]
        token.write_text("new\n")
        return [before, (await made.headers())["Authorization"]]

    assert asyncio.run(rotate()) == ["Bearer old", "Bearer new"]


def test_a_token_that_cannot_be_read_again_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    token = tmp_path / "token"
    token.write_text("old")
    path = _kubeconfig(tmp_path / "k", {"tokenFile": str(token)})

    async def lose() -> dict[str, str]:
        made = await connect(path)
        token.unlink()
        return await made.headers()

    assert asyncio.run(lose()) == {"Authorization": "Bearer old"}


def _plugin(folder: Path, *, expires: str | None) -> dict[str, Any]:
    """An exec plugin whose token counts how often it was asked."""
    status = {"token": "T"} | ({"expirationTimestamp": expires} if expires else {})
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    program = folder / "plugin.py"
    program.write_text(
        f"import json, pathlib\nn = pathlib.Path({str(folder / 'asked')!r})\n"
        "n.write_text((n.read_text() if n.exists() else '') + 'x')\n"
        f"a = json.loads({json.dumps(answer)!r})\na['status']['token'] = 'asked-%d' % len(n.read_text())\n"
        "print(json.dumps(a))\n"
    )
    return {"exec": {"apiVersion": answer["apiVersion"], "command": sys.executable, "args": [str(program)]}}


@pytest.mark.parametrize("expires", [None, "2100-01-01T00:00:00Z"])
def test_an_exec_plugin_is_asked_once_until_the_server_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expires: str | None
) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    path = _kubeconfig(tmp_path / "k", _plugin(tmp_path, expires=expires))

    async def ask() -> list[str]:
        made = await connect(path)
        seen = [(await made.headers())["Authorization"] for _ in range(3)]
        await made.renew()
        return [*seen, (await made.headers())["Authorization"]]

    assert asyncio.run(ask()) == ["Bearer asked-1"] * 3 + ["Bearer asked-2"]


@pytest.mark.parametrize("command", ["./login", "login"])
def test_no_exec_plugin_of_the_working_directory_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """kubectl takes a path from the kubeconfig's folder, and no program of a relative folder on the PATH."""
    version = "client.authentication.k8s.io/v1"
    for folder, name in (("checkout", "theirs"), ("own", "mine")):
        answer = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": name}}
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "login").write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
        (tmp_path / folder / "login").chmod(0o700)
    path = _kubeconfig(tmp_path / "own/config", {"exec": {"apiVersion": version, "command": command}})
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("PATH", f".::{tmp_path / 'own'}")
    assert _connected(path)[1] == {"Authorization": "Bearer mine"}


def test_an_exec_token_that_is_over_is_fetched_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    path = _kubeconfig(tmp_path / "k", _plugin(tmp_path, expires="2000-01-01T00:00:00Z"))
    assert _connected(path)[1] == {"Authorization": "Bearer asked-2"}


def test_requests_keep_the_old_token_while_a_plugin_hangs_and_the_plugin_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    monkeypatch.setattr(connections, "_QUICK", 0.1)
    monkeypatch.setattr(credentials, "REFRESH_TIMEOUT", 1.0)
    path = _kubeconfig(tmp_path / "k", _plugin(tmp_path, expires="2000-01-01T00:00:00Z"))
    hanging = f"import os, pathlib, time\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"

    async def ask() -> str:
        made = await connect(path)
        (tmp_path / "plugin.py").write_text(hanging + "time.sleep(600)\n")
        async with asyncio.timeout(0.9):
            for _ in range(100):
                assert (await made.headers()) == {"Authorization": "Bearer asked-1"}
        await made.renew()
        return (await made.headers())["Authorization"]

    with caplog.at_level("WARNING"):
        assert asyncio.run(ask()) == "Bearer asked-1"
    assert "credentials were not renewed within 1 s" in caplog.text
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}/exe").exists():
        assert time.monotonic() < until, "the plugin was not killed"
        time.sleep(0.05)


def test_client_certificates_are_loaded_again_when_they_change(
    tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    crt, key = tmp_path / "client.crt", tmp_path / "client.key"
    crt.write_bytes(certificate.read_bytes())
    key.write_bytes(certificate.with_suffix(".key").read_bytes())
    user = {"client-certificate": str(crt), "client-key": str(key)}
    path = _kubeconfig(tmp_path / "k", user, **{"certificate-authority": str(certificate)})

    async def rotate() -> list[int]:
        made = await connect(path)
        await made.headers()
        before = made.generation
        other = _certificate(tmp_path, "two")
        crt.write_bytes(other.read_bytes())
        key.write_bytes(other.with_suffix(".key").read_bytes())
        await made.headers()
        await made.headers()
        return [before, made.generation]

    assert asyncio.run(rotate()) == [0, 1]


def test_only_the_own_authority_is_trusted(tmp_path: Path, certificate: Path) -> None:
    data = base64.b64encode(certificate.read_bytes()).decode()
    made, _ = _connected(_kubeconfig(tmp_path / "k", {}, **{"certificate-authority-data": data}))
    assert made.ssl is not None
    assert [dict(pair[0] for pair in each["subject"])["commonName"] for each in made.ssl.get_ca_certs()] == ["one"]
    assert made.ssl.verify_mode == ssl.CERT_REQUIRED
    assert made.ssl.check_hostname


def test_a_service_account_is_read_again(tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RECHECK", 0.0)
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_bytes(certificate.read_bytes())
    monkeypatch.setenv("TOPOSPREAD_SERVICE_ACCOUNT", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")

    async def rotate() -> list[str]:
        made = await connect()
        seen = [made.server, (await made.headers())["Authorization"]]
        (tmp_path / "token").write_text("second\n")
        return [*seen, (await made.headers())["Authorization"]]

    assert asyncio.run(rotate()) == ["https://[fd00::1]:443", "Bearer first", "Bearer second"]


def test_proxies_are_chosen_as_go_chooses_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = _kubeconfig(tmp_path / "own", {}, **{"proxy-url": "http://own:3128"})
    plain = _kubeconfig(tmp_path / "plain", {})
    monkeypatch.setenv("HTTPS_PROXY", "http://env:3128")
    assert _connected(own)[0].proxy == "http://own:3128"
    assert _connected(plain)[0].proxy == "http://env:3128"
    for listed in ("10.1.0.0/16", "10.1.2.3", "*", "example.com, 10.1.2.3:6443"):
        monkeypatch.setenv("NO_PROXY", listed)
        assert _connected(plain)[0].proxy is None, listed
    monkeypatch.setenv("NO_PROXY", "10.2.0.0/16,1.2.3")
    assert _connected(plain)[0].proxy == "http://env:3128"


def _refused(*args: Any, **named: Any) -> str:
    with pytest.raises(InputError) as caught:
        _connected(*args, **named)
    return str(caught.value)


def test_nothing_at_all_says_what_to_give() -> None:
    assert "add --kubeconfig FILE or set KUBECONFIG" in _refused()
    assert "in-cluster configuration" in _refused(in_cluster=True)


def test_files_that_are_no_kubeconfig_are_refused_by_name(tmp_path: Path) -> None:
    assert _refused(str(tmp_path / "none")) == f"{tmp_path / 'none'}: this kubeconfig does not exist"
    (tmp_path / "k").write_text("a: [")
    assert "not YAML" in _refused(str(tmp_path / "k"))
    (tmp_path / "k").write_text("kind: Pod")
    assert "not a kubeconfig (kind Config)" in _refused(str(tmp_path / "k"))
    (tmp_path / "k").write_text("kind: Config\nusers: {a: b}")
    assert "users: must be a list" in _refused(str(tmp_path / "k"))
    (tmp_path / "k").write_text("kind: Config\n")
    assert "no current-context is set; add --context with one of: none" in _refused(str(tmp_path / "k"))


def test_what_a_context_names_has_to_be_there(tmp_path: Path) -> None:
    path = _kubeconfig(tmp_path / "k", {})
    assert 'context "there" not found; contexts: here' in _refused(path, "there")
    data = yaml.safe_load(Path(path).read_text())
    data["contexts"][0]["context"]["user"] = "nobody"
    Path(path).write_text(yaml.safe_dump(data))
    assert 'user "nobody" is missing' in _refused(path)
    data["clusters"] = []
    Path(path).write_text(yaml.safe_dump(data))
    assert 'cluster "c" is missing or has no server' in _refused(path)


def test_bad_certificates_are_named(tmp_path: Path, certificate: Path) -> None:
    bad = tmp_path / "bad.crt"
    bad.write_text("nothing")
    assert str(bad) in _refused(_kubeconfig(tmp_path / "k", {}, **{"certificate-authority": str(bad)}))
    path = _kubeconfig(tmp_path / "k", {"client-certificate": str(certificate), "client-key": str(bad)})
    assert "client-certificate and its key" in _refused(path)
    gone = {"certificate-authority": str(tmp_path / "gone")}
    assert str(tmp_path / "gone") in _refused(_kubeconfig(tmp_path / "k", {}, **gone))
    path = _kubeconfig(tmp_path / "k", {}, **{"certificate-authority-data": "%%%"})
    assert _refused(path).startswith(path)


def test_plugins_that_fail_say_so(tmp_path: Path) -> None:
    version = "client.authentication.k8s.io/v1"
    gone = {"exec": {"apiVersion": version, "command": "no-such-plugin", "installHint": "get it at x"}}
    assert "exec plugin no-such-plugin: program not found; get it at x" in _refused(_kubeconfig(tmp_path / "k", gone))
    fails = {"exec": {"apiVersion": version, "command": "false"}}
    assert "exec: process returned 1" in _refused(_kubeconfig(tmp_path / "k", fails))


def test_other_proxies_and_groups_are_refused(tmp_path: Path) -> None:
    socks = _kubeconfig(tmp_path / "k", {}, **{"proxy-url": "socks5://p:1080"})
    assert "only http:// and https:// proxies" in _refused(socks)
    assert "as-groups" in _refused(_kubeconfig(tmp_path / "k", {"as": "a", "as-groups": ["b"]}))
