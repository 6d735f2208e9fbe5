"""The interface of plugins: statuses, errors, rows, and the default normalisation of scores."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from topospread.plugins.interface import (
    OWN_NAME,
    UNSCHEDULABLE,
    CanBeIdle,
    ConstantScore,
    Normalized,
    NotJudgedError,
    RejectsAll,
    Status,
    length,
    normalize_by_maximum,
    numbers,
    offers,
)


@pytest.mark.parametrize(
    ("raw", "plain", "reverse"), [([0, 0], [0, 0], [100, 100]), ([1, 2, 3], [33, 66, 100], [67, 34, 0]), ([], [], [])]
)
def test_scores_are_relative_to_the_highest_and_truncated(raw: list[int], plain: list[int], reverse: list[int]) -> None:
    given = np.array(raw, dtype=np.int64)
    assert normalize_by_maximum(given).tolist() == plain
    assert normalize_by_maximum(given, reverse=True).tolist() == reverse


def test_an_unjudged_part_survives_pickle_with_all_its_fields() -> None:
    error = NotJudgedError("volumes", "spec.volumes[0]", "the volume v", changes_pod=True)
    again = pickle.loads(pickle.dumps(error))
    assert (again.what, again.field, again.message) == ("volumes", "spec.volumes[0]", "the volume v")
    assert (again.because, again.changes_pod) == ("topospread does not model the volume v", True)
    assert str(error) == "not judged: the volume v"
    assert str(NotJudgedError("a", "b", "c", "because")) == "not judged: because"


def test_pods_of_one_class_share_a_status_that_names_each_pod() -> None:
    assert Status(UNSCHEDULABLE, (f"no room for {OWN_NAME}", "full")).of("ns/p") == ("no room for ns/p", "full")


@pytest.mark.parametrize(("rows", "expected"), [(slice(0, 3), [0, 1, 2]), (np.array([4, 1]), [4, 1])])
def test_rows_are_a_slice_or_numbers(rows: slice, expected: list[int]) -> None:
    assert (length(rows), numbers(rows).tolist()) == (len(expected), expected)
    rejects = RejectsAll(Status(UNSCHEDULABLE, ("no",)))
    assert rejects.filter(rows).tolist() == [1] * len(expected)
    assert ConstantScore(7).score(rows).tolist() == [7] * len(expected)


def test_offers_is_the_check_of_the_protocol() -> None:
    class Idle(ConstantScore):
        idle = True

    for _ in range(2):
        assert [offers(each(1), CanBeIdle) for each in (Idle, ConstantScore)] == [True, False]
        assert not offers(Idle(1), Normalized)
