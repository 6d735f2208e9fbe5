"""Words in place of private names."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.sources.pseudonyms import Pseudonyms, key_of, size_bucket

NAMES = Pseudonyms(b"key")
NAMES.know_nodes(["node-b", "node-a", "ip-10-0-1-5.acme.example"])


def test_the_same_name_is_the_same_word_and_another_key_gives_another() -> None:
    assert NAMES.name("web", "shop") == Pseudonyms(b"key").name("web", "shop")
    assert NAMES.name("web", "shop") != Pseudonyms(b"other").name("web", "shop")
    assert NAMES.name("web", "shop") not in ("web", NAMES.name("wed", "shop"))


def test_a_salt_gives_one_key_and_no_salt_a_random_one() -> None:
    assert key_of(b"pinch of salt") == key_of(b"pinch of salt") != key_of(b"other salt")
    assert key_of(None) != key_of(None)


def test_a_guess_of_a_salt_has_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("topospread.sources.pseudonyms.scrypt", lambda _, **how: asked.update(how) or b"key")
    assert key_of(b"pinch of salt") == b"key"
    assert asked["n"] * asked["r"] * 128 >= 64 << 20, "bytes of memory"


def test_a_word_depends_on_its_context() -> None:
    words = {
        NAMES.name("web", "shop"),
        NAMES.name("web", "blog"),
        NAMES.namespace("web"),
        NAMES.class_name("web"),
        NAMES.label_value("app", "web", "shop"),
        NAMES.label_value("tier", "web", "shop"),
        NAMES.kind("web"),
        NAMES.node("web"),
        NAMES.key("web"),
    }
    assert len(words) == 9
    assert NAMES.label_value("app", "web", "shop") == NAMES.label_value("app", "web", "blog")


def test_names_made_of_names_stay_so() -> None:
    web, data = NAMES.name("web", "shop"), NAMES.name("data", "shop")
    assert NAMES.name("web-0", "shop") == f"{web}-0"
    assert NAMES.name("data-web-0", "shop") == f"{data}-{web}-0"
    assert NAMES.name("web-", "shop") == f"{web}-"
    assert NAMES.label_value("statefulset.kubernetes.io/pod-name", "web-0", "shop") == f"{web}-0"


def test_words_of_nodes_sort_as_their_names_do() -> None:
    names = ["ip-10-0-1-5.acme.example", "node-a", "node-b"]
    assert [NAMES.node(name) for name in names] == sorted(NAMES.node(name) for name in names)
    assert NAMES.label_value("kubernetes.io/hostname", "node-a", "") == NAMES.node("node-a")


@pytest.mark.parametrize(
    "text", ["kube-proxy-ip-10-0-1-5.acme.example", "ip-10-0-1-5.acme.example", "x-10.0.1.5", "ip-10-0-1-5-y"]
)
def test_no_address_is_left_in_a_name(text: str) -> None:
    assert "10-0-1-5" not in NAMES.name(text, "kube-system")
    assert "10.0.1.5" not in NAMES.name(text, "kube-system")
    assert "acme" not in NAMES.name(text, "kube-system")


@pytest.mark.parametrize("size", [0, 1, 23 * 2**20, 187_654_321, 1000 * 2**20, 2**40 + 7])
def test_image_sizes_are_in_buckets_of_16_mebibytes(size: int) -> None:
    assert size_bucket(size) % 2**24 == 0
    assert abs(size_bucket(size) - size) <= 2**23
