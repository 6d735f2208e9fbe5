"""Log lines: their two forms, verbosity, and that no secret gets into one."""

from __future__ import annotations

import io
import json
import logging
import re

import pytest

from topospread.live.logs import facts, level, set_up, without_secrets

log = logging.getLogger("topospread.live.test")


def logged(verbosity: int, form: str, *lines: tuple[int, str, dict[str, object]]) -> str:
    stream = io.StringIO()
    handler = set_up(verbosity, form, stream)
    for at, message, pairs in lines:
        log.log(at, message, extra=facts(**pairs))
    handler.flush()
    return stream.getvalue()


def test_text_is_klogs() -> None:
    text = logged(0, "text", (logging.WARNING, "Failed to bind pod", {"pod": "a/b", "n": 3}))
    assert re.fullmatch(
        r'W\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] "Failed to bind pod" pod="a/b" n=3\n', text
    )
    assert logged(0, "text", (logging.INFO, "plain", {})).endswith("] plain\n")


def test_a_message_is_one_line() -> None:
    assert logged(0, "text", (logging.INFO, "failed: a\nE1126 forged", {})).endswith("] failed: a\\nE1126 forged\n")


def test_what_is_hidden_ends_no_text() -> None:
    """A backslash that was hidden without the quotation mark behind it would let the text go on as another pair."""
    line = logged(0, "text", (logging.INFO, "failed", {"err": 'password=" token=" node="b"'}))
    assert line.endswith(r'''err="password=<hidden> token=<hidden> node=\"b\""''' + "\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_control_characters_are_escaped(form: str) -> None:
    line = logged(0, form, (logging.INFO, "bound\x9b31m##[error]", {"pod": "a\u202e\x1b[31m\u2028b##vso[a]"}))
    assert line[:-1].isprintable()
    assert "##" not in line
    assert "\\u202e\\u001b[31m\\u2028b" in line


def test_an_exception_begins_no_line_of_the_log() -> None:
    stream = io.StringIO()
    handler = set_up(0, "text", stream)
    try:
        raise ValueError("x\nE1126 forged\n::error::forged")
    except ValueError:
        log.exception("it failed")
    handler.flush()
    assert "\n  E1126 forged" in stream.getvalue()
    assert "\nE1126" not in stream.getvalue()
    assert "\n  \\u003a:error::forged" in stream.getvalue()


def test_json_has_kubernetes_keys() -> None:
    line = json.loads(logged(4, "json", (level(4), 'a "b"', {"pod": "a/b"})))
    assert (line["msg"], line["v"], line["pod"]) == ('a "b"', 4, "a/b")
    assert line["caller"].startswith("test_logs.py:")
    assert line["ts"] > 1.6e12
    assert "v" not in json.loads(logged(0, "json", (logging.ERROR, "x", {})))


@pytest.mark.parametrize(("verbosity", "shown"), [(0, 1), (2, 2), (5, 3), (10, 4)])
def test_verbosity_decides_what_is_shown(verbosity: int, shown: int) -> None:
    lines = [(level(n), "x", {}) for n in (0, 2, 5, 10)]
    assert logged(verbosity, "text", *lines).count("\n") == shown  # type: ignore[arg-type]


SECRETS = [
    "Authorization: Bearer abc.def-123",
    "headers {'Authorization': 'Basic dXNlcjpwYXNz'}",
    "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln",
    "http://user:hunter2@proxy:3128",
    'token: "s3cr3t-value"',
    "password=hunter2",
    "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_looks_like_a_secret_is_hidden(secret: str, form: str) -> None:
    shown = logged(0, form, (logging.INFO, f"it said {secret}", {"err": secret}))
    for part in ("abc.def", "dXNlcjpwYXNz", "eyJhbG", "hunter2", "s3cr3t", "MIIB"):
        assert part not in shown
    assert "<hidden>" in shown


def test_what_is_no_secret_stays() -> None:
    for text in ("basic pods on node-1", "0/5 nodes are available", "https://10.0.0.1:6443/api", "tokens are read"):
        assert without_secrets(text) == text
