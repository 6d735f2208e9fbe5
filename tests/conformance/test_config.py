"""What kube-scheduler's validation says of stored configurations, beside what ours says."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.generate_config import Generator
from conformance.stored import stored
from topospread.config.load import problems
from topospread.errors import ConfigError, DecodeError

Json = dict[str, Any]
CASES = list(zip(*stored("config"), strict=True))


def answer(configuration: Json) -> set[tuple[str, str, str]] | None:
    """Type, field and message of every problem; ``None`` for what does not even decode."""
    try:
        return {(error.type, error.field, error.message) for error in problems(configuration)}
    except (ConfigError, DecodeError):
        return None


@pytest.mark.parametrize("part", range(6))
def test_problems_are_those_of_kube_scheduler(part: int) -> None:
    for configuration, verdict in CASES[part::6]:
        theirs = {(error["type"], error["field"], error["message"]) for error in verdict["errors"]}
        assert answer(configuration) == (None if "decode" in verdict else theirs), configuration


def test_stored_cases_hold_good_broken_and_undecodable_ones() -> None:
    good = sum(not verdict["errors"] and "decode" not in verdict for _, verdict in CASES)
    undecodable = sum("decode" in verdict for _, verdict in CASES)
    kinds = {error["type"] for _, verdict in CASES for error in verdict["errors"]}
    assert good > 200
    assert undecodable > 20
    assert len(CASES) - good - undecodable > 150
    assert kinds == {
        "FieldValueInvalid",
        "FieldValueRequired",
        "FieldValueNotSupported",
        "FieldValueDuplicate",
        "FieldValueForbidden",
    }


def test_generator_repeats_a_seed() -> None:
    first, second = Generator(7), Generator(7)
    assert [first.configuration() for _ in range(20)] == [second.configuration() for _ in range(20)]
