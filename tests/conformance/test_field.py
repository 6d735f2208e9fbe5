"""The page about the field says what was answered, every difference is explained, and we answer as kube-scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.field import page, peers, questions, stored
from conformance.field.__main__ import as_stored, changed
from conformance.field.causes import CAUSES, cause_of
from conformance.field.findings import KINDS, compared
from conformance.judging.cases import judge_case

Json = dict[str, Any]

FOUND = stored.read()
SITUATIONS = stored.situations()


def answered(situation: Json) -> Json:
    """What we answer."""
    cases = questions.cases(situation)
    return questions.answer(cases, [judge_case(each)["verdicts"][0] for each in cases])


def test_the_page_is_written_from_what_was_answered() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_the_situations_are_those_that_were_asked_about() -> None:
    assert len(SITUATIONS) >= 200
    assert [each["name"] for each in SITUATIONS] == list(FOUND["answers"])
    assert FOUND["versions"] == peers.VERSIONS


@pytest.mark.parametrize("part", range(4))
def test_we_answer_as_kube_scheduler(part: int) -> None:
    for each in SITUATIONS[part::4]:
        assert answered(each) == FOUND["answers"][each["name"]]["kube-scheduler"], each["name"]


def test_every_smallest_case_differs_and_is_explained() -> None:
    for each in FOUND["smallest"]:
        assert (each["peer"], each["kind"], tuple(each["about"])) in compared(each["answers"])
        assert cause_of(each), each
        asked = ("again",) if each["peer"] == "descheduler" else ("now", "new")
        cases = questions.cases(each["situation"], asked)
        ours = questions.answer(cases, [judge_case(case)["verdicts"][0] for case in cases])
        assert ours == each["answers"]["kube-scheduler"], each


def test_every_kind_of_difference_has_a_smallest_case() -> None:
    kinds = {finding[:2] for _, finding in stored.differences(FOUND["answers"])}
    assert kinds == {(each["peer"], each["kind"]) for each in FOUND["smallest"]}


def test_every_cause_is_shown() -> None:
    shown = {cause.id for each in FOUND["smallest"] if (cause := cause_of(each))}
    assert shown == {each.id for each in CAUSES}
    assert all(set(each.kinds) <= set(KINDS) for each in CAUSES)


def test_kube_score_speaks_where_a_selector_is_missing_and_polaris_never() -> None:
    for each in SITUATIONS:
        missing = any("labelSelector" not in constraint for constraint in each["pod"]["constraints"])
        assert FOUND["answers"][each["name"]]["linters"] == {"kube-score": missing, "polaris": False}


def test_an_answer_that_changed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [each["kube-scheduler"] for each in FOUND["answers"].values()]
    other = [now[0] | {"nodes": ["nowhere"]}, *now[1:]]
    for given, told in ((now, 0), (other, 1)):
        monkeypatch.setitem(peers.ASKED, "kube-scheduler", lambda situations, given=given: given)
        assert len(changed(["kube-scheduler"])) == told


def test_who_is_asked_many_times_may_leave_out_an_end_and_adds_none() -> None:
    assert as_stored("karpenter", ["new one/a", "new one/b"], ["new one/b"])
    assert not as_stored("karpenter", ["new one/b"], ["new one/a", "new one/b"])
    assert not as_stored("karpenter", ["none"], [])
    assert not as_stored("kube-scheduler", ["a1", "b1"], ["b1"])
