"""The API server's address and credentials, from a kubeconfig or service account, kept up to date.

kubernetes_asyncio's configuration reads exec plugins, OIDC, token files and the service account; files are searched in
kubectl's order, except that the service account precedes ``~/.kube/config``.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

from topospread.errors import InputError, Place

if TYPE_CHECKING:
    from topospread.live.credentials import Credentials

log = logging.getLogger(__name__)

RECHECK = 10.0
"""Seconds between two checks of tokens and certificates."""
_QUICK = 0.5
PROXY_SCHEMES = ("http", "https")

if os.path.expanduser("~") == "~":
    # For a user that /etc/passwd lacks, without HOME: kubernetes_asyncio needs a home directory at import. Container
    # runtimes use this one.
    os.environ["HOME"] = "/"


@dataclass
class Connection:
    """The address and credentials of an API server.

    Attributes:
        server: ``https://host:port``, perhaps with a path, without a final slash.
        ssl: TLS context; None for plain HTTP. Rotated client certificates are loaded into it, so that new connections
            use them.
        headers: function that returns the headers of a request (``Authorization``, ``Impersonate-User``). It is cheap:
            call it for each request.
        groups: groups to impersonate (``Impersonate-Group``, one header each).
        proxy: URL of the proxy; None without one.
        server_hostname: expected name in the server's certificate; None for the host in ``server``.
        renew: function that renews credentials at once, after a 401.
        source: source of the settings, for messages.
        generation: increases when the client certificate changes. Older connections use the old one.
    """

    server: str
    ssl: ssl.SSLContext | None
    headers: Callable[[], Awaitable[dict[str, str]]]
    proxy: str | None = None
    server_hostname: str | None = None
    renew: Callable[[], Awaitable[None]] = field(default=lambda: asyncio.sleep(0))
    source: str = ""
    generation: int = 0
    groups: tuple[str, ...] = ()


async def connect(  # noqa: PLR0913 - kubectl has that many options
    kubeconfig: str | None = None,
    context: str | None = None,
    in_cluster: bool = False,
    as_user: str | None = None,
    *,
    as_groups: tuple[str, ...] = (),
    as_uid: str | None = None,
) -> Connection:
    """Return the connection from a kubeconfig or this pod's service account.

    Without ``kubeconfig``: the files of ``KUBECONFIG``, the service account if there is one, ``~/.kube/config``.

    Raises:
        InputError: if no source exists, a file is unusable, or a plugin fails.
    """
    from topospread.live.credentials import in_cluster_credentials, kubeconfig_credentials

    environment = os.environ
    paths = kubeconfig or ("" if in_cluster else environment.get("KUBECONFIG", ""))
    if in_cluster or (not paths and environment.get("KUBERNETES_SERVICE_HOST")):
        credentials = await in_cluster_credentials()
    else:
        home = str(Path.home() / ".kube" / "config")
        if not paths and not Path(home).exists():
            raise InputError(
                f"no cluster found: {home} does not exist, and this is not a pod with a service account; "
                "add --kubeconfig FILE or set KUBECONFIG"
            )
        credentials = await kubeconfig_credentials(paths or home, context)
    fresh = _Fresh(credentials, as_user, as_uid)
    connection = Connection(
        credentials.server,
        fresh.context,
        fresh.headers,
        _proxy(credentials, environment),
        credentials.tls_server_name,
        fresh.renew,
        credentials.source,
        groups=as_groups,
    )
    fresh.connection = connection
    return connection


class _Fresh:
    """Credentials as request headers and TLS context, read again every `RECHECK` seconds.

    A slow exec plugin delays one request by `_QUICK` seconds at most. Requests use the old credentials meanwhile.
    """

    def __init__(self, credentials: Credentials, as_user: str | None, as_uid: str | None = None) -> None:
        self._credentials = credentials
        self._as_user = as_user or credentials.as_user
        self._as_uid = as_uid
        self._checked = time.monotonic()
        self._reading: asyncio.Task[None] | None = None
        self._loaded = _stamps(credentials)
        self._headers = self._made()
        self.context = _context(credentials)
        self.connection: Connection | None = None

    async def headers(self) -> dict[str, str]:
        if self._reading is None and time.monotonic() - self._checked >= RECHECK:
            await asyncio.wait([self._begin(renew=False)], timeout=_QUICK)
        return self._headers

    async def renew(self) -> None:
        await asyncio.shield(self._reading or self._begin(renew=True))

    def _begin(self, *, renew: bool) -> asyncio.Task[None]:
        self._reading = asyncio.create_task(self._read(renew=renew))
        return self._reading

    async def _read(self, *, renew: bool) -> None:
        """Read the credentials. Keep the old ones on failure; the API server answers 401 when they expire."""
        try:
            await self._credentials.refresh(renew)
            self._load_certificates()
        except (InputError, OSError, ssl.SSLError) as error:
            log.warning("credentials were not renewed, the old ones are kept: %s", error)
        finally:
            self._checked = time.monotonic()
            self._headers = self._made()
            self._reading = None

    def _load_certificates(self) -> None:
        stamps = _stamps(self._credentials)
        if stamps == self._loaded or self.context is None:
            return
        _load(self.context, self._credentials)
        self._loaded = stamps
        if self.connection is not None:
            self.connection.generation += 1
        log.info("certificates were reloaded")

    def _made(self) -> dict[str, str]:
        made = {}
        if self._credentials.authorization:
            made["Authorization"] = self._credentials.authorization
        if self._as_user:
            made["Impersonate-User"] = self._as_user
        if self._as_uid:
            made["Impersonate-Uid"] = self._as_uid
        return made


def _context(credentials: Credentials) -> ssl.SSLContext | None:
    if not credentials.server.startswith("https"):
        return None
    context = ssl.create_default_context()
    # Like Go: certificates in the file are trusted, whether root or not, and old extensions may be missing.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not credentials.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if credentials.ca_file:
        # trust only the given CA, not the system's
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        own.check_hostname, own.verify_mode = context.check_hostname, context.verify_mode
        own.verify_flags = context.verify_flags
        context = own
    _load(context, credentials)
    return context


def _load(context: ssl.SSLContext, credentials: Credentials) -> None:
    """Load the CA and the client certificate."""
    authority, certificate, key = credentials.ca_file, credentials.cert_file, credentials.key_file
    if authority:
        try:
            context.load_verify_locations(cafile=authority)
        except (OSError, ssl.SSLError) as error:
            place = Place(source=credentials.source, field=f"certificate-authority ({authority})")
            raise InputError(_reason(error), place) from None
    if certificate:
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            place = Place(source=credentials.source, field=f"client-certificate and its key ({certificate})")
            raise InputError(_reason(error), place) from None


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"this is not a usable certificate in PEM form ({error.reason or error.args[-1]})"
    return error.strerror or str(error)


def _stamps(credentials: Credentials) -> tuple[tuple[str, int, int], ...]:
    found = []
    for path in (credentials.ca_file, credentials.cert_file, credentials.key_file):
        if path:
            try:
                status = os.stat(path)
            except OSError:
                continue
            found.append((path, status.st_mtime_ns, status.st_ino))
    return tuple(found)


def _proxy(credentials: Credentials, environment: Mapping[str, str]) -> str | None:
    """Return the kubeconfig's ``proxy-url``, or the environment's proxy like Go's ``ProxyFromEnvironment``."""
    parts = urlsplit(credentials.server)
    proxy, said = credentials.proxy, f"{credentials.source}: proxy-url"
    if not proxy:
        proxy, said = getproxies().get(parts.scheme, ""), f"{parts.scheme.upper()}_PROXY"
        if not proxy or _bypassed(parts.hostname or "", environment):
            return None
    if urlsplit(proxy).scheme not in PROXY_SCHEMES:
        raise InputError(f"{said}: only http:// and https:// proxies can be used, not {urlsplit(proxy).scheme}://")
    return proxy


def _bypassed(host: str, environment: Mapping[str, str]) -> bool:
    """Return whether ``NO_PROXY`` includes a host: by name (with subdomains), address, network or ``*``."""
    listed = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    for entry in (each.strip() for each in listed.split(",") if each.strip()):
        name = (entry.partition(":")[0] if entry.count(":") == 1 else entry).lower().lstrip(".")
        if name in ("*", host.lower()):
            return True
        if _in_network(address, entry) if address is not None else host.lower().endswith("." + name):
            return True
    return False


def _in_network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, text: str) -> bool:
    try:
        return address in ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
