"""A list that is read item by item says what the whole document says, and is refused where that is refused."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest
import yaml as pyyaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.errors import DuplicateError, InputError
from topospread.sources import yaml as yaml_reader
from topospread.sources import yaml_list
from topospread.sources.load import load
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents
from topospread.sources.yaml_list import YamlList

WORDS = st.sampled_from(
    [
        *(
            "a",
            "app",
            "kind",
            "y",
            "no",
            "null",
            "~",
            "true",
            "012",
            "0x1f",
            "1e3",
            "1_0",
            ".5",
            "-1",
            "12:30",
            "=",
            "<<",
        ),
        *(
            "",
            " a",
            "a ",
            "a: b",
            "a:b",
            "a #b",
            "a#b",
            "#",
            "- a",
            "--a",
            "---",
            "é",
            "\x85",
            "it's",
            'say "x"',
            "\\n",
        ),
        *(
            "a\nb",
            "a\n- b\n",
            "{}",
            "[]",
            "{a",
            "a]",
            "*a",
            "&a",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "`",
            "?",
            ",",
            "\t",
            "word " * 30,
        ),
        *(
            "2026-01-01T00:00:00Z",
            "100m",
            "registry.k8s.io/pause:3.10",
            "app.kubernetes.io/name",
            "18446744073709551616",
        ),
    ]
)
SCALARS = st.one_of(WORDS, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)
ITEMS = st.lists(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), min_size=1, max_size=4)
PUT_IN = st.sampled_from(
    [
        ": ",
        "- ",
        "#",
        " # c",
        "&a ",
        "*a",
        "|",
        "'",
        '"',
        "\n",
        "\n  ",
        " ",
        "{",
        "}",
        "~",
        "\t",
        "---\n",
        "\n- x",
        "a: 1\n",
        "\r",
    ]
)


def _slow(text: Text) -> Any:
    try:
        (document,) = read_documents(text)
    except (InputError, ValueError):
        return "refused"
    return document.value


def _fast(text: Text) -> Any:
    with patch.object(yaml_list, "SMALLEST", 0):
        listed = YamlList.at(text)
        if listed is None:
            return None
        try:
            return [json.loads(each) if isinstance(each, bytes) else each for each in listed.items(lambda _: None)]
        except (InputError, ValueError):
            return "refused"


@drawn(60)
@given(
    items=ITEMS,
    indent=st.booleans(),
    width=st.sampled_from([80, 10_000]),
    changes=st.lists(st.tuples(st.floats(0, 1), PUT_IN, st.integers(0, 3)), max_size=2),
)
@example(items=[{"a": 'x\n- b: "'}, {"c": 'y"'}], indent=False, width=80, changes=[])
def test_items_are_those_of_the_whole_document(
    items: list[Any], indent: bool, width: int, changes: list[tuple[float, str, int]]
) -> None:
    written = pyyaml.dump({"items": items}, width=width, allow_unicode=True, sort_keys=False)
    if indent:
        written = "items:\n" + "".join(f"  {line}\n" for line in written.splitlines()[1:])
    written = f"apiVersion: v1\n{written}kind: List\n"
    for place, put, cut in changes:
        at = int(place * len(written))
        written = written[:at] + put + written[at + cut :]
    text = Text("list.yaml", written.encode())
    fast, slow = _fast(text), _slow(text)
    if fast is not None:
        assert fast == (slow if slow == "refused" else slow["items"])


def test_most_of_what_programs_write_is_read_by_line() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "labels": {"app": "x"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {
            "containers": [{"name": "c", "args": ["--v=2", "1"], "ports": [{"containerPort": 80}]}],
            "volumes": [],
        },
    }
    written = pyyaml.dump(
        {"apiVersion": "v1", "items": [pod, json.loads(json.dumps(pod))], "kind": "List", "metadata": {}}
    )
    with patch.object(yaml_list, "SMALLEST", 0):
        listed = YamlList.at(Text("list.yaml", written.encode()))
    assert listed is not None
    found = list(listed.items(lambda _: None))
    assert all(isinstance(each, bytes) for each in found)
    assert [json.loads(each) for each in found] == [pod, pod]


def test_faults_stand_where_they_stand_in_the_document(tmp_path: Any) -> None:
    node = "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: {}\n"
    begin, end = "apiVersion: v1\nitems:\n", "kind: List\n"
    path = tmp_path / "list.yaml"
    for third, error in (("    name: again\n", DuplicateError), ("    labels: 5\n", InputError)):
        path.write_text(begin + node.format("a") + node.format("b") + third + end)
        with pytest.raises(error) as whole:
            load([str(path)])
        with patch.object(yaml_list, "SMALLEST", 0), pytest.raises(error) as by_line:
            load([str(path)])
        assert str(by_line.value) == str(whole.value)
        assert ":11:" in str(whole.value)


def test_a_list_may_be_larger_than_a_tree(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    node = "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: {}\n"
    (tmp_path / "list.yaml").write_text("items:\n" + "".join(map(node.format, "abc")) + "apiVersion: v1\nkind: List\n")
    (tmp_path / "other.yaml").write_text("a: b\n" * 30)
    monkeypatch.setattr(yaml_list, "SMALLEST", 0)
    monkeypatch.setattr(yaml_reader, "MAX_SIZE", 100)
    assert [each.name for each in load([str(tmp_path / "list.yaml")]).nodes] == ["a", "b", "c"]
    with pytest.raises(InputError, match="not a List as kubectl writes it"):
        load([str(tmp_path / "other.yaml")])
