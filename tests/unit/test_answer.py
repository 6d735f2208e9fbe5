"""An answer is its own JSON, and an unknown verdict is neither true nor false."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from topospread.answer import Answer, Cause, Remedy, Tried, Unjudged
from topospread.errors import UnknownVerdictError
from topospread.session import Session


def answer(verdict: str = "no", **fields: object) -> Answer:
    told = {"says": "shop/web-0 finds no node"} | fields
    return Answer(kind="Why", verdict=verdict, **told)  # type: ignore[arg-type]


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


def test_names_of_an_input_do_nothing_where_an_answer_is_printed(tmp_path: Path) -> None:
    evil = "web\x1b[31m\u202e\u2028##[error]x"
    stored = {"namespace": "shop", "uid": "1", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": evil, **stored}}
    spec = {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "9"}}}]}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}}
    items = [node, pod | {"spec": spec}]
    (tmp_path / "a.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = Session(tmp_path / "a.json").status()
    assert "##" in found.to_json()
    for text in (found.text(), found.markdown(), found._repr_html_()):
        assert text.replace("\n", "").isprintable()
        assert "##[" not in text
    assert repr(answer(says="a\x1b[31m\nyes: all is well")) == "<Answer no: a\\u001b[31m\\nyes: all is well>"


def test_causes_and_remedies_keep_their_numbers() -> None:
    remedy = Remedy(code="uncordon", says="uncordon node-c1", tried=Tried(verdict="yes", places=6, of=6))
    found = answer(causes=(Cause(code="cordoned", says="node-c1 is cordoned", nodes=1),), remedies=(remedy,)).to_dict()
    assert found["causes"][0]["nodes"] == 1
    tried = {
        "verdict": "yes",
        "places": 6,
        "of": 6,
        "evicts": 0,
        "replaces": 0,
        "newlyPending": [],
        "exceeds": [],
        "mayExceed": [],
        "uncounted": [],
    }
    assert found["remedies"][0]["tried"] == tried
