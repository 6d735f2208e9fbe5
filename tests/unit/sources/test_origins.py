"""Places of objects in the output of Helm: only Helm's own comments name templates, and none out of the chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.errors import Place
from topospread.sources.origins import ChartOrigins, SourceFiles


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


@pytest.mark.parametrize(
    ("files", "source"),
    [
        ({"good/Chart.yaml": "name: good"}, "charts/good/templates/a.yaml"),
        ({"evil/Chart.yaml": "name: good"}, "charts/evil/templates/a.yaml"),
        ({"evil/Chart.yaml": "name: good", "good/Chart.yaml": "name: other"}, "charts/evil/templates/a.yaml"),
        ({"evil/Chart.yaml": "name: good", "good/Chart.yaml": "name: good"}, ""),
        ({"evil/Chart.yaml": "name: evil\nName: good", "good/Chart.yaml": "name: other"}, ""),
        ({"evil/Chart.yaml": "name: evil", "evil/requirements.yaml": "name: good"}, ""),
        ({"evil/Chart.yaml": "name: evil", "good/Chart.yaml": "name: other"}, ""),
        ({"evil/Chart.yaml": "name: aliased", "good/Chart.yaml": "name: other"}, "charts/evil/templates/a.yaml"),
        ({"evil/Chart.yaml": "name: aliased", "good/Chart.yaml": "name: good"}, ""),
        ({"good/Chart.yaml": "name: good", "evil-1.0.0.tgz": ""}, ""),
        ({"good/Chart.yaml": "name: other", "evil-1.0.0.tgz": ""}, ""),
        ({"evil-1.0.0.tgz": ""}, "charts/good/templates/a.yaml"),
    ],
)
def test_a_subchart_does_not_pass_for_another(files: dict[str, str], source: str, tmp_path: Path) -> None:
    """Helm's comments contain the charts' own names and aliases, not the folders'."""
    dependencies = "name: c\ndependencies: [{name: aliased, alias: good}]"
    for name, text in {"../Chart.yaml": dependencies, **files}.items():
        (tmp_path / "charts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "charts" / name).write_text(text)
    origins = ChartOrigins(str(tmp_path), b"---\n# Source: c/charts/good/templates/a.yaml\nkind: A\n", str(tmp_path))
    rendered = Place("c", 1, line=3, column=1)
    assert origins.place(1, ["kind"], rendered).source == str(tmp_path / source)


def test_each_folder_of_a_subchart_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Chart.yaml").write_text("name: c\ndependencies: [{name: s0, alias: t}]")
    for each in range(30):
        (tmp_path / f"charts/f{each}").mkdir(parents=True)
        (tmp_path / f"charts/f{each}/Chart.yaml").write_text(f"name: s{each}")
    asked: list[str] = []
    documents = SourceFiles.documents
    monkeypatch.setattr(SourceFiles, "documents", lambda self, path: asked.append(path) or documents(self, path))
    names = ["t", *(f"s{each}" for each in range(30))]
    text = "".join(f"---\n# Source: c/charts/{each}/templates/a.yaml\nkind: A\n" for each in names)
    origins = ChartOrigins(str(tmp_path), text.encode(), str(tmp_path))
    found = [origins.place(1, [], Place("c", 1, line=3 * at + 3, column=1)).source for at in range(31)]
    assert found == [str(tmp_path / f"charts/f{each}/templates/a.yaml") for each in [0, *range(30)]]
    assert len(asked) < 300
