"""Which texts are read as machine-written lists."""

from __future__ import annotations

import pytest

from topospread.sources.text import Text
from topospread.sources.yaml_list import SMALLEST, YamlList

ITEMS = "items:\n" + "- kind: ConfigMap\n" * (SMALLEST // 16)


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        (f"apiVersion: v1\n{ITEMS}kind: List\nmetadata: {{}}\n", True),
        (f"apiVersion: v1\nkind: List\nnote: 'x\n{ITEMS}'\nitems: []\n", False),
        (f"apiVersion: v1\nkind: List\nnote: |\n{ITEMS}", False),
        (f"apiVersion: v1\nkind: List\n{ITEMS}note: \ufeff\n", False),
    ],
)
def test_items_are_a_field_of_the_document_and_no_part_of_a_text(text: str, *, is_list: bool) -> None:
    assert (YamlList.at(Text("a.yaml", text.encode())) is not None) == is_list


def test_a_list_of_items_that_are_too_small_is_left_to_the_reader_with_a_limit() -> None:
    for line, is_list in (("- null\n", False), (f"- a: {'b' * 59}\n", True)):
        text = "apiVersion: v1\nkind: List\nitems:\n" + line * max(100_001, SMALLEST // len(line) + 1)
        assert (YamlList.at(Text("a.yaml", text.encode())) is not None) == is_list
