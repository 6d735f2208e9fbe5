"""An answer is its own JSON, and an unknown verdict is neither true nor false."""

from __future__ import annotations

import json

import pytest

from topospread.answer import Answer, Cause, Remedy, Tried, Unjudged
from topospread.errors import UnknownVerdictError


def answer(verdict: str = "no", **fields: object) -> Answer:
    return Answer(kind="Why", verdict=verdict, says="shop/web-0 finds no node", **fields)  # type: ignore[arg-type]


def test_the_json_of_an_answer_is_its_struct_in_camel_case() -> None:
    unjudged = Unjudged(what="resourceClaims", because="claims are not modelled", to_know="kubectl get resourceslices")
    found = json.loads(answer(unjudged=(unjudged,)).to_json())
    assert list(found)[:4] == ["apiVersion", "kind", "verdict", "says"]
    assert found["unjudged"][0]["toKnow"] == "kubectl get resourceslices"
    assert found == answer(unjudged=(unjudged,)).to_dict()


def test_yes_is_true_no_is_false_and_unknown_raises() -> None:
    assert answer("yes")
    assert not answer("no")
    with pytest.raises(UnknownVerdictError, match="the verdict is unknown"):
        bool(answer("unknown"))


def test_the_repr_fits_a_line() -> None:
    long = Answer(verdict="no", says="x" * 500)
    assert repr(answer()) == "<Answer no: shop/web-0 finds no node>"
    assert len(repr(long)) <= 100


def test_causes_and_remedies_keep_their_numbers() -> None:
    remedy = Remedy(code="uncordon", says="uncordon node-c1", tried=Tried(verdict="yes", places=6, of=6))
    found = answer(causes=(Cause(code="cordoned", says="node-c1 is cordoned", nodes=1),), remedies=(remedy,)).to_dict()
    assert found["causes"][0]["nodes"] == 1
    assert found["remedies"][0]["tried"] == {"verdict": "yes", "places": 6, "of": 6, "evicts": 0, "newlyPending": []}
