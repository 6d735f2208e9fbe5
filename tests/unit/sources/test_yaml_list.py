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
