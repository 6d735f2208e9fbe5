"""Names of objects, containers, ports, variables and keys: what is good, and how many things are wrong."""

from __future__ import annotations

import pytest

from topospread.api.validation import names


@pytest.mark.parametrize(
    ("check", "good"),
    [
        (names.label_key, ["app", "a.b/c", "A_b.c-d", "1", "x" * 63, "a" * 253 + "/x"]),
        (names.label_value, ["", "web", "A_b.c", "v" * 63]),
        (names.subdomain, ["a", "a.b-c", "0", "a" * 253]),
        (names.dns_label, ["a", "a-b", "0", "a" * 63]),
        (names.underscore_subdomain, ["_a.b_c", "a"]),
        (names.port_name, ["http", "a-1", "p" * 15]),
        (names.environment_variable, ["A", "my.env", "9", "a b"]),
        (names.config_key, ["a.b", "_", "A-1"]),
        (names.http_header, ["X-A", "a"]),
    ],
)
def test_good_names(check, good):
    assert {name: check(name) for name in good} == dict.fromkeys(good, ())


@pytest.mark.parametrize(
    ("check", "bad", "count"),
    [
        (names.label_key, "a/b/c", 1),
        (names.label_key, "/", 3),
        (names.label_key, "A.b/" + "x" * 64, 2),
        (names.label_key, "a\n", 1),
        (names.label_value, "-" * 64, 2),
        (names.label_value, "é" * 32, 2),
        (names.subdomain, "A" * 254, 2),
        (names.dns_label, "a.b", 1),
        (names.dns_label, "", 1),
        (names.underscore_subdomain, "-a", 1),
        (names.port_name, "-A--" + "b" * 12, 4),
        (names.port_name, "", 2),
        (names.port_name, "80", 1),
        (names.environment_variable, "", 1),
        (names.environment_variable, "a=b", 1),
        (names.config_key, "..", 1),
        (names.config_key, "..a/b", 2),
        (names.http_header, "a b", 1),
    ],
)
def test_bad_names_have_all_their_reasons(check, bad, count):
    assert len(check(bad)) == count


def test_a_label_with_dots_is_told_so():
    assert names.dns_label("a.b") == ("must not contain dots",)


def test_lengths_are_worded_by_whoever_checks_them():
    assert "must be no more than 63 characters" in names.dns_label("a" * 64)
    assert "name part must be no more than 63 bytes" in names.label_key("a" * 64)


@pytest.mark.parametrize(("prefix", "checked"), [("web-", "wea"), ("-", "-"), ("web", "web"), ("a-", "a")])
def test_a_generate_name_stands_for_a_name(prefix, checked):
    assert names.name_prefix(prefix) == checked


def test_ranges_name_their_ends():
    assert names.port_number(65536) == ("must be between 1 and 65535, inclusive",)
    assert names.user_or_group(-1) == ("must be between 0 and 2147483647, inclusive",)
    assert names.in_range(1, 1, 1) == ()
