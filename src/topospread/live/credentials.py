"""Credentials of a kubeconfig or service account, through kubernetes_asyncio's configuration, and their renewal.

Its errors become `InputError` with the file's place.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from topospread.errors import InputError, Place
from topospread.live.exec_plugin import EndingExecProvider
from topospread.live.kubeconfig_library import ConfigException, Found, InClusterConfigLoader, kube_config

if TYPE_CHECKING:
    from kubernetes_asyncio.config.kube_config import ConfigNode, KubeConfigMerger

log = logging.getLogger(__name__)
# The library prints warnings and errors, some with a plugin's output. Important ones are raised instead.
logging.getLogger("kubernetes_asyncio").setLevel(logging.CRITICAL)
kube_config.ExecProvider = EndingExecProvider  # type: ignore[attr-defined] # its loader has no parameter for the provider

REFRESH_TIMEOUT = 60.0
"""Time limit in seconds for renewals. The first time has no limit, because a person may have to log in."""
SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
SERVICE_ACCOUNT_VARIABLE = "TOPOSPREAD_SERVICE_ACCOUNT"
"""Environment variable for another folder with the service account's token and ca.crt, for tests outside a pod."""
_ANONYMOUS = "<nobody>"
_FAULTS = (ConfigException, ValueError, KeyError, TypeError, AssertionError, RuntimeError)
"""Exceptions of kubernetes_asyncio for a malformed kubeconfig."""


@dataclass
class Credentials:
    """The server's address and credentials. ``refresh(renew)`` updates them.

    With ``renew``, credentials without an expiry time are renewed, too, such as an exec plugin's token.
    """

    server: str
    source: str
    refresh: Callable[[bool], Awaitable[None]]
    authorization: str = ""
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    verify: bool = True
    tls_server_name: str | None = None
    proxy: str | None = None
    as_user: str | None = None

    def take(self, configuration: Found) -> None:
        """Copy the values that kubernetes_asyncio found."""
        self.server = str(configuration.host).rstrip("/")
        self.authorization = str(configuration.api_key.get("BearerToken") or "").strip()
        self.ca_file = configuration.ssl_ca_cert
        self.cert_file, self.key_file = configuration.cert_file, configuration.key_file
        self.verify = bool(configuration.verify_ssl)
        self.tls_server_name, self.proxy = configuration.tls_server_name, configuration.proxy


async def in_cluster_credentials() -> Credentials:
    """Return this pod's service account, whose token rotates. Raise InputError if this is no pod, or has no token."""
    folder = os.environ.get(SERVICE_ACCOUNT_VARIABLE, SERVICE_ACCOUNT)
    found = Credentials("", "service account", _nothing)

    async def refresh(renew: bool) -> None:
        configuration = Found()
        try:
            loader = InClusterConfigLoader(f"{folder}/token", f"{folder}/ca.crt")
            loader.load_and_set(configuration)  # type: ignore[arg-type] # it only sets attributes
        except (ConfigException, OSError) as error:
            raise InputError(f"in-cluster configuration: {error}", Place(source=folder)) from None
        found.take(configuration)

    found.refresh = refresh
    await refresh(True)
    return found


def namespace_of(paths: str, context: str | None) -> str:
    """Return the namespace of a kubeconfig's context; "" without one. Raise InputError if either is unusable."""
    config, name, _ = _checked_context(_merged(paths), context, Place(source=paths))
    chosen = next(each.value for each in config.value["contexts"] if each.value["name"] == name)
    return str((chosen.get("context") or {}).get("namespace") or "")


def runs_a_program(paths: str, context: str | None) -> bool:
    """Return whether the credentials of a kubeconfig's context come from a program or a login, not from the file.

    Raises:
        InputError: if a file is missing or not YAML, or the context is unknown.
    """
    if not paths:
        return False
    _, _, user = _checked_context(_merged(paths), context, Place(source=paths))
    return "exec" in user or "auth-provider" in user


async def kubeconfig_credentials(paths: str, context: str | None) -> Credentials:
    """Read the named or current context of kubeconfig files (several like in ``KUBECONFIG``).

    Raises:
        InputError: if a file is missing or not YAML, the context is unknown or incomplete, or a plugin fails.
    """
    merger, place = _merged(paths), Place(source=paths)
    config, name, user = _checked_context(merger, context, place)
    found = Credentials("", paths, _nothing, as_user=user.get("as"))
    loader = kube_config.KubeConfigLoader(
        config_dict=config,
        active_context=name,
        config_base_path=None,
        config_persister=lambda _: _persist(merger),
    )

    async def refresh(renew: bool) -> None:
        if "exec" in user and found.server:
            expires = hasattr(loader, "exec_plugin_expiry")
            if renew and expires:
                del loader.exec_plugin_expiry
            elif not renew and not expires:
                return
        configuration = Found()
        try:
            async with asyncio.timeout(REFRESH_TIMEOUT if found.server else None):
                await loader.load_and_set(configuration)
        except TimeoutError:
            raise InputError(f"credentials were not renewed within {REFRESH_TIMEOUT:g} s", place) from None
        except FileNotFoundError as error:
            raise InputError(_missing_program(error, user), place.at(f"users[{name}]")) from None
        except OSError as error:
            raise InputError(error.strerror or str(error), Place(source=str(error.filename or paths))) from None
        except _FAULTS as error:
            raise InputError(_words(error), place) from None
        found.take(configuration)

    found.refresh = refresh
    await refresh(True)
    return found


async def _nothing(_: bool) -> None:
    await asyncio.sleep(0)


def _merged(paths: str) -> KubeConfigMerger:
    """Return the files, merged like in kubectl."""
    for path in paths.split(kube_config.ENV_KUBECONFIG_PATH_SEPARATOR):
        if path and os.path.exists(os.path.expanduser(path)):
            _checked_file(os.path.expanduser(path))
    merger = kube_config.KubeConfigMerger(paths)
    if merger.config is None:
        raise InputError("this kubeconfig does not exist", Place(source=paths))
    return merger


def _checked_file(path: str) -> None:
    place = Place(source=path)
    try:
        with open(path, encoding="utf-8") as file:
            data = yaml.safe_load(file)
    except OSError as error:
        raise InputError(f"this kubeconfig cannot be read: {error.strerror}", place) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise InputError("this is not YAML, so not a kubeconfig", place) from None
    if not isinstance(data, dict) or data.get("kind", "Config") != "Config":
        raise InputError("this is not a kubeconfig (kind Config)", place)
    for part in ("clusters", "contexts", "users"):
        entries = data.get(part) or []
        if not isinstance(entries, list) or not all(isinstance(each, dict) and "name" in each for each in entries):
            raise InputError("must be a list of entries with a name", place.at(part))


def _checked_context(
    merger: KubeConfigMerger, context: str | None, place: Place
) -> tuple[ConfigNode, str, dict[str, Any]]:
    """Return the merged files, the name of the named or current context, and its user.

    Values on which kubernetes_asyncio would fail are fixed or rejected.
    """
    config = merger.config
    assert config is not None
    name = context or config.value.get("current-context")
    by_name = {
        part: {each.value["name"]: each.value for each in config.value[part]}
        for part in ("clusters", "contexts", "users")
    }
    listed = ", ".join(sorted(by_name["contexts"])) or "none"
    if not name:
        raise InputError(f"no current-context is set; add --context with one of: {listed}", place)
    if name not in by_name["contexts"]:
        raise InputError(f'context "{name}" not found; contexts: {listed}', place)
    chosen = by_name["contexts"][name].get("context") or {}
    cluster = by_name["clusters"].get(chosen.get("cluster"))
    if cluster is None or not (cluster.get("cluster") or {}).get("server"):
        raise InputError(f'context "{name}": cluster "{chosen.get("cluster", "")}" is missing or has no server', place)
    wanted = chosen.get("user")
    if wanted and wanted not in by_name["users"]:
        raise InputError(f'context "{name}": user "{wanted}" is missing', place)
    if not wanted:
        # A context without a user is anonymous, but the library would fail on it.
        chosen["user"] = wanted = _ANONYMOUS
        entry = {"name": _ANONYMOUS, "user": {}}
        config.value["users"].append(kube_config.ConfigNode("users[]", entry, place.source))
        by_name["users"][_ANONYMOUS] = entry
    user = by_name["users"][wanted]
    user["user"] = user.get("user") or {}
    given: dict[str, Any] = user["user"]
    if given.get("as-groups") or given.get("as-user-extra"):
        raise InputError(f'user "{wanted}": remove as-groups and as-user-extra; only "as" is supported', place)
    return config, name, given


def _persist(merger: KubeConfigMerger) -> None:
    """Save a refreshed OIDC token in the file, like kubectl. A read-only file stays unchanged."""
    try:
        merger.save_changes()
    except OSError as error:
        log.warning("the refreshed token could not be written: %s", error.strerror)


def _missing_program(error: FileNotFoundError, user: dict[str, Any]) -> str:
    command = (user.get("exec") or {}).get("command", "")
    if command and str(error.filename) == command:
        hint = str((user["exec"]).get("installHint") or "").strip()
        return f"exec plugin {command}: program not found" + (f"; {hint}" if hint else "")
    return f"{error.filename}: {error.strerror}"


def _words(error: Exception) -> str:
    """Return an error of the library as a sentence, without quoted output of plugins."""
    if isinstance(error, json.JSONDecodeError):
        return "the token of this user is not a JWT"
    text = str(error).splitlines()[0] if str(error) else ""
    return text or "this kubeconfig is incomplete"
