"""The notebook of the documentation gives what it shows: `jupyter execute --inplace docs/how-to/session.ipynb`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs/how-to/session.ipynb"


def shown(notebook: Any) -> list[tuple[str, Any]]:
    """Return each cell of code with what it shows."""
    code = [each for each in notebook.cells if each.cell_type == "code"]
    return [(each.source, [_plain(one.data) if "data" in one else one for one in each.outputs]) for each in code]


def _plain(data: Any) -> tuple[str, list[str]]:
    """Return the text of an output, and its forms; HTML has the style of its page, which changes by itself."""
    return data["text/plain"], sorted(data)


@pytest.mark.filterwarnings("default")  # the kernel and its client are other projects
def test_the_notebook_gives_what_it_shows() -> None:
    stored, run = (nbformat.read(NOTEBOOK, as_version=4) for _ in range(2))
    NotebookClient(run, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    assert shown(run) == shown(stored)
    assert all(outputs for _, outputs in shown(stored))


def test_ten_questions_have_answers_with_frames_and_pictures() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    asked = [each.source.splitlines()[0] for each in cells if each.source.startswith("## ")]
    assert [each.split(".")[0] for each in asked] == [f"## {number}" for number in range(1, 11)]
    assert all(each.endswith("?") for each in asked)
    forms = [form for each in cells for output in each.get("outputs", ()) for form in output.get("data", {})]
    assert forms.count("image/svg+xml") == 2
    assert sum(".frame(" in each.source for each in cells) >= 4
