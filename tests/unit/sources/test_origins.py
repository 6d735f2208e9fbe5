"""Places of objects in the output of Helm: only Helm's own comments name templates, and none out of the chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import Place
from topospread.sources.origins import ChartOrigins


@pytest.mark.parametrize(
    ("comments", "source"),
    [
        (["c/templates/a.yaml"], "c/templates/a.yaml"),
        (["c/templates/a.yaml", "c/other/b.yaml"], "c/templates/a.yaml"),
        (["c/templates/a.yaml", "c/x.yaml", "c/other/b.yaml"], "c/templates/a.yaml"),
        (["c/../other/b.yaml"], "c"),
    ],
)
def test_only_the_first_comment_in_a_row_is_helms(comments: list[str], source: str, tmp_path: Path) -> None:
    text = "".join(f"---\n# Source: {each}\n" for each in comments) + "kind: ConfigMap\n"
    origins = ChartOrigins("c", text.encode(), str(tmp_path))
    rendered = Place("c", 1, line=text.count("\n"), column=1)
    assert origins.place(1, ["kind"], rendered).source == source
