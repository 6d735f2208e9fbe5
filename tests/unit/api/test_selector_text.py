"""A selector as kubectl takes it (apimachinery pkg/labels/selector_test.go, TestSelectorParse and others)."""

from __future__ import annotations

import pytest

from topospread.api.selector_text import parse_selector
from topospread.errors import UsageError


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("x=a", "x=a"),
        ("x==a", "x in (a)"),
        ("x=a,y=b,z=c", "x=a,y=b,z=c"),
        ("x!=a,y=b", "x notin (a),y=b"),
        ("x=", "x="),
        ("x= ", "x="),
        ("x=,z= ", "x=,z="),
        ("x in (a, b)", "x in (a,b)"),
        ("x notin (b,a)", "x notin (a,b)"),
        ("x in ()", "x in ()"),
        ("x in (,a)", "x in (,a)"),
        ("x,!y", "x,!y"),
        ("x>1,z<5", "x>1,z<5"),
        ("example.com/x in (in, notin)", "example.com/x in (in,notin)"),
    ],
)
def test_what_kubectl_takes_is_taken(text: str, printed: str) -> None:
    found = str(parse_selector(text))
    assert found.replace(" in (a)", "=a") == printed.replace(" in (a)", "=a")


@pytest.mark.parametrize(
    "text",
    [
        "x=a||y=b",
        "x==a==b",
        "!x=a",
        "x<a",
        "x in",
        "x in (a",
        "x in a)",
        ",x",
        "x,",
        "x=a,",
        "=a",
        "a=b=c",
        "-x=a",
        "()",
    ],
)
def test_what_kubectl_refuses_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a label selector"):
        parse_selector(text)


def test_every_requirement_must_hold() -> None:
    selector = parse_selector("app=web, tier in (front,back), !canary, stage != test")
    assert selector.matches({"app": "web", "tier": "back"})
    assert not selector.matches({"app": "web", "tier": "back", "canary": ""})
    assert not selector.matches({"app": "web", "tier": "back", "stage": "test"})
    assert not selector.matches({"app": "web"})
