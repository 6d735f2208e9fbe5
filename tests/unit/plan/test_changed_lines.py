"""The changed lines of manifests in words."""

from __future__ import annotations

import pytest

from topospread.errors import Place
from topospread.plan.changed_lines import ChangedLine


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (Place("app.yaml", line=7), "app.yaml:7  cpu 1 → 2"),
        (Place("chart/templates/app.yaml"), "chart/templates/app.yaml  cpu 1 → 2"),
        (Place(), "cpu 1 → 2"),
    ],
)
def test_a_line_is_shown_with_what_is_known_of_its_place(place: Place, shown: str) -> None:
    """The lines of a rendered chart are not known."""
    assert str(ChangedLine(place, "cpu 1 → 2")) == shown
