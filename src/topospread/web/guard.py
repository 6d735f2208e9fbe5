"""Decide which requests reach the page, and bound their size and time: an ASGI layer around the application.

Every web page that is open on this machine can send requests here. A request therefore has to

- name a host that belongs to the server, which stops DNS rebinding;
- come from the page's own origin, if a web page sends it; other sites may only link to the pages in `LINKED`;
- show the token once, also on loopback, and afterwards the cookie that it received.

Every answer forbids inline script, other hosts, frames and guessed content types.
"""

from __future__ import annotations

import asyncio
import hmac
import html
import ipaddress
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from topospread.live.loopback import is_loopback

AsgiScope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]

MOST_BODY: Final = 1 << 20
"""Maximum bytes of a request's body: one megabyte is a manifest of thirty thousand lines."""
BODY_SECONDS: Final = 30.0
"""Seconds within which a body must arrive."""
LONGEST_TARGET: Final = 16_384
"""Maximum bytes of a path and its query, because a URL contains a whole what-if."""

POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}

HEADERS: Final = (
    ("content-security-policy", "; ".join(f"{name} {value}" for name, value in POLICY.items())),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), usb=()"),
)

LINKED: Final = frozenset({"/", "/editor"})
"""Paths that a link from another site may open."""

_UNLOCKED: Final = "/static/page.css"
"""Path that needs no token: the style of the page that refuses a request."""
_REFUSAL: Final = (Path(__file__).parent / "templates" / "refusal.html").read_text()
_FORM: Final = (Path(__file__).parent / "templates" / "token.html").read_text()
_FRAMES: Final = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
"""Values of Sec-Fetch-Dest for content inside another page."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_READING: Final = frozenset({"GET", "HEAD"})
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_BAD_PATH: Final = re.compile(rb"(?:^|/|\\)\.\.?(?:/|\\|$)|\\|\x00")


_NEEDS_TOKEN: Final = (
    "A token is needed. topospread serve printed it in its terminal, in the line that begins with “topospread serves”: "
    "the token is after ?token=. A token that you chose is in --token or TOPOSPREAD_TOKEN."
)


class _Refused(Exception):  # noqa: N818 - an answer, not an error of ours
    """Raised to refuse a request, with the status and text of the response."""

    def __init__(self, status: int, words: str, form: str = "") -> None:
        super().__init__(words)
        self.status, self.form = status, form


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The access check.

    Attributes:
        hosts: lower-case host names of the server.
        any_address: whether an IP address may replace a name; an address cannot be rebound.
        token: the secret that a browser sends once.
        session: value of the cookie that replaces the token; each process has its own.
    """

    hosts: frozenset[str] = _LOOPBACK
    any_address: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @classmethod
    def listening_on(cls, address: str, known_as: Iterable[str] = (), token: str | None = None) -> AccessPolicy:
        """Return the policy of a server that listens on an address.

        Args:
            address: a name or number, as given to ``--host``.
            token: the token that the user chose; by default a new random one.
        """
        names = frozenset(name.strip("[]").lower() for name in (address, *known_as))
        token = token or secrets.token_urlsafe(24)
        return cls(hosts=_LOOPBACK | names, any_address=not is_loopback(address), token=token)

    def url(self, address: str, port: int) -> str:
        """Return the URL to open, with the token."""
        shown = address.strip("[]")
        if _is_address(shown) and ipaddress.ip_address(shown).is_unspecified:
            shown = "127.0.0.1"
        host = f"[{shown}]" if ":" in shown else shown
        return f"http://{host}:{port}/?token={quote(self.token, safe='')}"

    def knows_host(self, given: str) -> bool:
        """Return whether a ``Host`` header names this server; any port is valid because ports are forwarded."""
        read = _HOST.fullmatch(given)
        if read is None:
            return False
        name = read[1].strip("[]").lower()
        return name in self.hosts or (self.any_address and _is_address(name))


class Guard:
    """Admits permitted requests and adds the security headers to every response."""

    def __init__(
        self, app: AsgiApp, policy: AccessPolicy, most: int = MOST_BODY, seconds: float = BODY_SECONDS
    ) -> None:
        self._app = app
        self._policy = policy
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Pass a permitted request to the application; refuse any other."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Response(send)
        try:
            headers: dict[str, list[str]] = {}
            for name, value in scope["headers"]:
                headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
            self._check(scope, headers)
            cookie = self._enter(scope, headers)
            if cookie is not None:
                await answer.redirect(_without_token(scope), cookie)
                return
            await self._app(scope, _Body(receive, headers, self._most, self._seconds).receive, answer.send)
        except _Refused as refused:
            await answer.refuse(refused, as_page="text/html" in headers.get("accept", [""])[0])

    def _check(self, scope: AsgiScope, headers: dict[str, list[str]]) -> None:
        """Raise _Refused if the host, origin, method or path is not permitted."""
        hosts = headers.get("host", [])
        if len(hosts) != 1 or not self._policy.knows_host(hosts[0]):
            raise _Refused(421, "topospread does not serve this host name. Add it with --known-as.")
        _check_origin(scope, headers, hosts[0])
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise _Refused(405, "Method not allowed: use GET, HEAD or POST.")
        raw = scope.get("raw_path") or scope["path"].encode()
        if len(raw) + len(scope.get("query_string", b"")) > LONGEST_TARGET:
            raise _Refused(414, "This URL is too long.")
        if _BAD_PATH.search(raw) or _BAD_PATH.search(scope["path"].encode("utf-8", "replace")):
            raise _Refused(400, "This path is not allowed.")

    def _enter(self, scope: AsgiScope, headers: dict[str, list[str]]) -> str | None:
        """Return the cookie to set if the URL contains the token; None if the request has a cookie or header."""
        token, session = self._policy.token, self._policy.session
        # The cookie's name has the port, because the ports of a host share cookies.
        server = scope.get("server")
        name = f"topospread-{server[1] if server else 0}"
        if any(_same(each, session) for each in _cookies(headers, name)):
            in_url = scope["method"] in _READING and b"token=" in scope.get("query_string", b"")
            return f"{name}={session}; Path=/; HttpOnly; SameSite=Lax" if in_url else None
        if any(_same(each, f"Bearer {token}") for each in headers.get("authorization", [])):
            return None
        given = [value for key, value in _query(scope) if key == "token"]
        if scope["method"] in _READING and any(_same(each, token) for each in given):
            return f"{name}={session}; Path=/; HttpOnly; SameSite=Lax"
        if scope["path"] == _UNLOCKED:
            return None
        words = "This is not the token. " * bool(given) + _NEEDS_TOKEN
        raise _Refused(403, words, _token_form(scope) if scope["path"] in LINKED else "")


class _Response:
    """A response with the common headers; records whether it has begun."""

    def __init__(self, send: AsgiSend) -> None:
        self._send = send
        self._begun = False

    async def send(self, message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            ours = {name for name, _ in HEADERS}
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower().decode() not in ours]
            if not any(name.lower() == b"cache-control" for name, _ in kept):
                kept.append((b"cache-control", b"no-store"))
            added = [(name.encode(), value.encode()) for name, value in HEADERS]
            message = {**message, "headers": [*kept, *added]}
        await self._send(message)

    async def redirect(self, target: str, cookie: str) -> None:
        headers = [(b"location", target.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await self.send({"type": "http.response.start", "status": 303, "headers": headers})
        await self.send({"type": "http.response.body", "body": b""})

    async def refuse(self, refused: _Refused, *, as_page: bool) -> None:
        """Send the refusal as a page or as plain text, unless a response has begun."""
        if self._begun:
            return
        page = _REFUSAL.replace("WORDS", html.escape(str(refused))).replace("<!-- FORM -->", refused.form)
        body = (page if as_page else f"{refused}\n").encode()
        kind = b"text/html; charset=utf-8" if as_page else b"text/plain; charset=utf-8"
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        if refused.status in (408, 413):
            headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": refused.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


class _Body:
    """A request body with limits on bytes and seconds."""

    def __init__(self, receive: AsgiReceive, headers: dict[str, list[str]], most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._left = most
        self._seconds = seconds
        self._until: float | None = None
        self._whole = False
        for length in headers.get("content-length", []):
            if not length.isascii() or not length.isdigit() or len(length) > 18 or int(length) > most:
                raise self._too_much()

    async def receive(self) -> AsgiMessage:
        """Return the next part of the body, then the disconnect. Raise _Refused if it is too large or too slow."""
        if self._whole:
            return await self._receive()
        clock = asyncio.get_running_loop().time
        self._until = self._until or clock() + self._seconds
        try:
            message = await asyncio.wait_for(self._receive(), self._until - clock())
        except TimeoutError:
            raise _Refused(408, f"The request did not arrive within {self._seconds:g} s.") from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise self._too_much()
            self._whole = not message.get("more_body", False)
        return message

    def _too_much(self) -> _Refused:
        return _Refused(413, f"The request is larger than {self._most:,} bytes.")


def _check_origin(scope: AsgiScope, headers: dict[str, list[str]], host: str) -> None:
    """Refuse frames, and requests from pages of other origins, except links to the pages in `LINKED`."""
    words = "Refused: the request comes from a page of another origin."
    for origin in headers.get("origin", []):
        if origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            raise _Refused(403, words)
    site, mode, destination = (headers.get(f"sec-fetch-{name}", [""])[-1] for name in ("site", "mode", "dest"))
    if destination in _FRAMES:
        raise _Refused(403, "This page cannot be shown in a frame.")
    followed = (mode, destination) == ("navigate", "document") and scope["method"] in _READING
    if site not in ("", "same-origin", "none") and not (followed and scope["path"] in LINKED):
        raise _Refused(403, words)


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _query(scope: AsgiScope) -> list[tuple[str, str]]:
    with suppress(ValueError):
        text = scope.get("query_string", b"").decode("latin-1")
        return parse_qsl(text, keep_blank_values=True, max_num_fields=1000)
    return []


def _token_form(scope: AsgiScope) -> str:
    """Return a form that opens the requested address with a token, which a shared address must not hold."""
    kept = ((html.escape(name), html.escape(value)) for name, value in _query(scope) if name != "token")
    fields = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in kept)
    return _FORM.replace("PATH", scope["path"]).replace("FIELDS", fields)


def _without_token(scope: AsgiScope) -> str:
    """Return the path and query without the token; two leading slashes would name another host."""
    rest = urlencode([(name, value) for name, value in _query(scope) if name != "token"])
    path = "/" + quote(scope["path"].lstrip("/\\"), safe="/~!$&'()*+,;=:@")
    return f"{path}?{rest}" if rest else path


def _cookies(headers: dict[str, list[str]], name: str) -> list[str]:
    parts = (part.strip().partition("=") for text in headers.get("cookie", []) for part in text.split(";"))
    return [value for key, _, value in parts if key == name]
