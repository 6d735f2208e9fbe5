"""Generated names, hashes and uids: the API server's form, each once, the same for the same input."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from topospread.admission.names import (
    ALPHABET,
    Names,
    generated_uid,
    parent_and_ordinal,
    pod_prefix,
    replica_set_name,
    safe_hash,
)


def test_names_are_of_the_form_and_none_comes_twice() -> None:
    names = Names([("ns", "web-other")])
    found = [*islice(names.generate("ns", "web-"), 2000), next(names.generate("ns", "web-"))]
    assert len(set(found)) == 2001
    assert all(re.fullmatch(f"web-[{ALPHABET}]{{5}}", each) for each in found)
    assert found == [*islice(Names().generate("ns", "web-"), 2001)], "the same for the same input"
    assert found[:3] != [*islice(Names().generate("ns", "api-"), 3)]


def test_a_name_that_is_taken_in_the_namespace_is_passed_over() -> None:
    first, second = islice(Names().generate("ns", "web-"), 2)
    assert next(Names([("ns", first)]).generate("ns", "web-")) == second
    assert next(Names([("other", first)]).generate("ns", "web-")) == first


def test_a_long_base_is_shortened_to_58_characters() -> None:
    assert re.fullmatch("a{58}.....", next(Names().generate("ns", "a" * 70)))
    assert re.fullmatch("a{57}.....", next(Names().generate("ns", "a" * 57)))


@pytest.mark.parametrize(("length", "dash"), [(1, "-"), (252, "-"), (253, "")])
def test_pods_have_the_controllers_name_and_a_dash_where_it_fits(length: int, dash: str) -> None:
    assert pod_prefix("a" * length) == "a" * length + dash


def test_a_replica_sets_name_fits_253_characters() -> None:
    assert replica_set_name("web", "abc") == "web-abc"
    assert replica_set_name("a" * 253, "abc") == "a" * 249 + "-abc"


def test_hashes_are_of_the_alphabet_and_differ() -> None:
    found = {safe_hash(str(number).encode()) for number in range(200)}
    assert len(found) == 200
    assert all(set(each) <= set(ALPHABET) for each in found)
    # crc32 of "a" is 3904355907: each digit's code point, counted around the alphabet.
    assert safe_hash(b"a") == "".join(ALPHABET[ord(digit) % 27] for digit in "3904355907")


def test_uids_are_of_version_8_and_each_object_has_its_own() -> None:
    found = {
        generated_uid(*each) for each in (("Pod", "a", "b"), ("Pod", "b", "a"), ("Job", "a", "b"), ("Pod", "a", "c"))
    }
    assert len(found) == 4
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", each) for each in found)
    assert generated_uid("Pod", "ns", "web") == generated_uid("Pod", "ns", "web")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("web-0", ("web", 0)),
        ("web-a-12", ("web-a", 12)),
        ("-3", ("", 3)),
        ("web", ("", -1)),
        ("web-", ("", -1)),
        ("web-x", ("", -1)),
        ("web-2147483647", ("web", 2147483647)),
        ("web-2147483648", ("web", -1)),
        ("web-٣", ("", -1)),
    ],
)
def test_the_stateful_set_and_ordinal_of_a_name(name: str, found: tuple[str, int]) -> None:
    assert parent_and_ordinal(name) == found
