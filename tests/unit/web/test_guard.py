"""What the page's guard lets in and what it does not, asked as an ASGI server would ask it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from topospread.web.guard import HEADERS, MOST_BODY, AccessPolicy, Guard

TOKEN = "s3cret-token"
OPEN = AccessPolicy.listening_on("127.0.0.1", token=TOKEN)
"""`ask` shows its token by default."""
WITH_TOKEN = AccessPolicy.listening_on("0.0.0.0", token=TOKEN)


@dataclass
class Got:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes


async def echo(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """The application behind the guard: says back what it was sent."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"through:" + body})


def ask(
    path: str = "/",
    *,
    policy: AccessPolicy = OPEN,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    parts: tuple[bytes, ...] = (b"",),
    hosts: tuple[str, ...] = ("localhost:8080",),
    guard: Guard | None = None,
) -> Got:
    """One request."""
    target, _, query = path.partition("?")
    shown = {"authorization": f"Bearer {TOKEN}"} if policy is OPEN else {}
    given = [*(("host", host) for host in hosts), *(shown | (headers or {})).items()]
    scope = {
        "type": "http",
        "method": method,
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given],
        "server": ("127.0.0.1", 8080),
    }
    coming = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if coming:
        coming[-1]["more_body"] = False
    sent: list[Any] = []

    async def receive() -> Any:
        if coming:
            return coming.pop(0)
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run((guard or Guard(echo, policy))(scope, receive, send))
    start, *rest = sent
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return Got(start["status"], told, b"".join(each["body"] for each in rest))


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:9", "LOCALHOST"])
def test_our_own_names_are_known_on_any_port(host: str) -> None:
    assert ask(hosts=(host,)).body == b"through:"


@pytest.mark.parametrize(
    "hosts",
    [
        (),
        ("localhost", "localhost"),
        ("evil.example",),
        ("localhost.evil.example",),
        ("localhost@evil.example",),
        ("127.0.0.1.evil.example:8080",),
        ("192.168.0.7:8080",),
        ("",),
        ("localhost:80800000",),
        ("[::1",),
    ],
)
def test_a_host_that_is_not_ours_is_refused(hosts: tuple[str, ...]) -> None:
    got = ask(hosts=hosts)

    assert got.status == 421
    assert b"through" not in got.body


def test_addresses_will_do_where_we_listen_everywhere_and_names_have_to_be_given() -> None:
    policy = AccessPolicy.listening_on("0.0.0.0", ["Desk.example"], TOKEN)

    assert ask(f"/?token={TOKEN}", policy=policy, hosts=("192.168.0.7:8080",)).status == 303
    assert ask(f"/?token={TOKEN}", policy=policy, hosts=("desk.example",)).status == 303
    assert ask(f"/?token={TOKEN}", policy=policy, hosts=("rebound.example",)).status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9090"},
        {"origin": "file://"},
        {"origin": "http://localhost:8080.evil.example"},
        {"origin": "http://[localhost:8080"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_another_origins_page_asks_is_refused(method: str, headers: dict[str, str]) -> None:
    assert ask(method=method, headers=headers).status == 403


FOLLOWED = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def test_a_form_of_another_page_is_refused_and_a_link_to_a_page_is_not() -> None:
    assert ask(headers=FOLLOWED).status == 200
    assert ask("/editor", headers=FOLLOWED).status == 200
    assert ask(method="POST", headers=FOLLOWED).status == 403


@pytest.mark.parametrize("path", ["/api/state", "/api/trial?step=fail+zone%3Da", "/drill", "/events", "/metrics"])
def test_a_link_of_another_page_reaches_pages_only(path: str) -> None:
    assert ask(path, headers=FOLLOWED).status == 403


@pytest.mark.parametrize("destination", ["iframe", "frame", "embed", "object", "fencedframe"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin"])
def test_no_page_is_shown_in_a_frame(site: str, destination: str) -> None:
    headers = FOLLOWED | {"sec-fetch-site": site, "sec-fetch-dest": destination}
    for path in ("/", "/editor", "/api/state"):
        assert ask(path, headers=headers).status == 403


def test_our_own_page_may_ask() -> None:
    headers = {"origin": "http://localhost:8080", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}

    assert ask(method="POST", headers=headers, parts=(b"a", b"b")).body == b"through:ab"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "CONNECT", "TRACE", "OPTIONS"])
def test_nothing_but_reading_and_asking_is_there(method: str) -> None:
    assert ask(method=method).status == 405


@pytest.mark.parametrize("path", ["/../etc/passwd", "/static/..", "/a/./b", "/static/..\\x", "/a\\b", "/nul\x00"])
def test_paths_that_lead_elsewhere_are_refused(path: str) -> None:
    assert ask(path).status == 400


def test_what_was_escaped_once_is_seen_through() -> None:
    scope_path, raw = "/static/../x", b"/static/%2e%2e/x"
    sent: list[Any] = []

    async def run() -> None:
        scope = {"type": "http", "method": "GET", "path": scope_path, "raw_path": raw, "query_string": b""}
        await Guard(echo, OPEN)(scope | {"headers": [(b"host", b"localhost")]}, asyncio.Event().wait, collect)

    async def collect(message: Any) -> None:
        sent.append(message)

    asyncio.run(run())

    assert sent[0]["status"] == 400


def test_a_url_without_end_is_refused() -> None:
    assert ask("/?what=" + "x" * 20_000).status == 414


@pytest.mark.parametrize("length", [str(MOST_BODY + 1), "9" * 40, "-1", "1_0", "ten", "²"])
def test_a_body_that_says_it_is_too_long_is_not_read(length: str) -> None:
    got = ask(method="POST", headers={"content-length": length}, parts=())

    assert got.status == 413


def test_a_body_that_goes_on_is_cut_off() -> None:
    got = ask(method="POST", parts=tuple(b"x" * 65_536 for _ in range(MOST_BODY // 65_536 + 1)))

    assert got.status == 413
    assert b"through" not in got.body


def test_a_body_of_just_that_length_is_read() -> None:
    assert len(ask(method="POST", parts=(b"x" * MOST_BODY,)).body) == MOST_BODY + len(b"through:")


def test_a_body_that_never_ends_is_not_waited_for() -> None:
    assert ask(method="POST", parts=(), guard=Guard(echo, OPEN, seconds=0.01)).status == 408


def test_every_answer_keeps_to_itself() -> None:
    for got in (ask(), ask(hosts=("evil.example",)), ask("/..")):
        for name, value in HEADERS:
            assert got.headers[name] == value
        assert got.headers["cache-control"] == "no-store"
    policy = ask().headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_the_application_cannot_take_the_policy_back() -> None:
    async def careless(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"Content-Security-Policy", b"default-src *"), (b"cache-control", b"max-age=60")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    got = ask(guard=Guard(careless, OPEN))

    assert got.headers["content-security-policy"] == dict(HEADERS)["content-security-policy"]
    assert "Content-Security-Policy" not in got.headers
    assert got.headers["cache-control"] == "max-age=60"


def test_a_websocket_is_closed() -> None:
    sent: list[Any] = []

    async def collect(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(echo, OPEN)({"type": "websocket"}, asyncio.Event().wait, collect))

    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_without_the_token_nobody_comes_in() -> None:
    for path in ("/", "/static/page.js", "/?token=wrong", "/?token=", f"/?token={TOKEN}x"):
        got = ask(path, policy=WITH_TOKEN)
        assert got.status == 403
        assert TOKEN.encode() not in got.body


def test_a_browser_without_the_token_is_told_where_it_stands_on_a_page_with_the_style() -> None:
    got = ask("/", policy=WITH_TOKEN, headers={"accept": "text/html,*/*"})
    assert (got.status, got.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert b'href="/static/page.css"' in got.body
    assert b"topospread serve printed it in its terminal" in got.body
    assert ask("/static/page.css", policy=WITH_TOKEN).status == 200
    assert ask("/static/page.css", policy=WITH_TOKEN, hosts=("evil.example",)).status == 421


def test_a_shared_address_without_the_token_asks_for_it_and_is_kept() -> None:
    page = {"accept": "text/html"}
    form = ask("/?step=fail+zone%3Da&step=%22%3E&token=wrong", policy=WITH_TOKEN, headers=page).body.decode()
    assert "This is not the token. A token is needed." in form
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form)
    assert fields == [("step", "fail zone=a"), ("step", "&quot;&gt;")]
    assert re.search(r'<form[^>]* action="/">.*<input type="password" name="token"', form)
    again = ask(f"/?step=fail+zone%3Da&token={TOKEN}", policy=WITH_TOKEN)
    assert (again.status, again.headers["location"]) == (303, "/?step=fail+zone%3Da")
    assert "<form" not in ask("/api/trial", policy=WITH_TOKEN, headers=page).body.decode()


def test_the_token_is_taken_once_and_leaves_the_url() -> None:
    first = ask(f"/what-if?fail=zone-a&token={TOKEN}&token=x", policy=WITH_TOKEN)
    cookie = first.headers["set-cookie"].partition(";")[0]

    assert first.status == 303
    assert first.headers["location"] == "/what-if?fail=zone-a"
    assert "HttpOnly" in first.headers["set-cookie"]
    assert TOKEN not in first.headers["set-cookie"]
    assert ask("/", policy=WITH_TOKEN, headers={"cookie": f"a=b; {cookie}"}).body == b"through:"
    assert ask("/", policy=WITH_TOKEN, headers={"cookie": cookie[:-1]}).status == 403


def test_the_token_redirects_to_nobody_else() -> None:
    got = ask(f"//evil.example/x?token={TOKEN}", policy=WITH_TOKEN)

    assert got.headers["location"] == "/evil.example/x"


def test_a_program_brings_the_token_in_a_header() -> None:
    right = {"authorization": f"Bearer {TOKEN}"}

    assert ask(method="POST", policy=WITH_TOKEN, headers=right, parts=(b"x",)).body == b"through:x"
    assert ask(method="POST", policy=WITH_TOKEN, headers={"authorization": "Bearer x"}).status == 403


def test_a_cookie_of_another_process_is_worth_nothing() -> None:
    cookie = ask(f"/?token={TOKEN}", policy=WITH_TOKEN).headers["set-cookie"].partition(";")[0]
    another = AccessPolicy.listening_on("0.0.0.0", token=TOKEN)

    assert ask("/", policy=another, headers={"cookie": cookie}).status == 403


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost", "0.0.0.0"])
def test_a_token_is_made_up_for_every_address(address: str) -> None:
    made, other = (AccessPolicy.listening_on(address).token for _ in range(2))
    assert len(made) >= 32
    assert made != other
    assert ask(policy=AccessPolicy.listening_on(address)).status == 403


def test_the_url_to_open_holds_the_token() -> None:
    assert OPEN.url("127.0.0.1", 8080) == f"http://127.0.0.1:8080/?token={TOKEN}"
    assert WITH_TOKEN.url("0.0.0.0", 8080) == f"http://127.0.0.1:8080/?token={TOKEN}"
    assert AccessPolicy.listening_on("::", token="a&b").url("::", 1) == "http://127.0.0.1:1/?token=a%26b"
    assert AccessPolicy.listening_on("fd00::7", token="t").url("fd00::7", 1) == "http://[fd00::7]:1/?token=t"
