"""What was heard of a kind: its age, whether it is followed, and a log line when that ends and begins again."""

from __future__ import annotations

import logging

import pytest

from topospread.exporter.watch_health import WatchHealth


def test_an_outage_is_said_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    contact = WatchHealth(clock=lambda: now[0])
    contact.expect("pods")
    contact.watching("pods", "listed")
    now[0] = 5.0
    with caplog.at_level(logging.INFO, "topospread.live.export"):
        for _ in range(3):
            contact.watching("pods", "failed", "503 ServiceUnavailable")
        now[0] = 65.0
        assert (contact.ages(), contact.kinds["pods"].up, contact.errors["pods"]) == ({"pods": 65.0}, False, 3)
        contact.watching("pods", "open")
    assert [each.getMessage() for each in caplog.records] == [
        "a kind cannot be followed: its last known state is kept",
        "a kind is followed again",
    ]
    assert (contact.ages(), contact.kinds["pods"].up) == ({"pods": 0.0}, True)


def test_an_object_that_cannot_be_read_is_counted() -> None:
    contact = WatchHealth()
    contact.failed("pods default/web-0 cannot be read", "spec: Expected `object`")
    assert contact.unreadable == 1


def test_a_kind_that_is_not_served_is_not_down_and_one_that_is_forbidden_is() -> None:
    contact = WatchHealth(logs=False)
    for kind, why in (
        ("podgroups", "404: page not found"),
        ("workloads", "404 NotFound: no"),
        ("pods", "403 Forbidden: no"),
    ):
        contact.expect(kind)
        contact.watching(kind, "failed", "no connection")
        contact.watching(kind, "absent", why)
    assert {kind: heard.up for kind, heard in contact.kinds.items()} == {"pods": False}
    contact.changed("podgroups", "added")
    contact.watching("podgroups", "listed")
    assert contact.kinds["podgroups"].up
