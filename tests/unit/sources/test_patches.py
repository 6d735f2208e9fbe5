"""A field that a patch wrote is placed in the patch, whatever form it has; what cannot be told is not guessed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from topospread.errors import Place
from topospread.sources.kustomizations import Kustomization
from topospread.sources.origins import Annotated, KustomizationOrigins, SourceFiles, written_in
from topospread.sources.positions import parse_path

RENDERED: dict[str, Any] = {
    "kind": "Deployment",
    "metadata": {"name": "prod-web"},
    "spec": {
        "replicas": 4,
        "constraints": [{"maxSkew": 2, "key": "zone"}, {"maxSkew": 1, "key": "host"}, {"maxSkew": 1, "key": "rack"}],
    },
}
MERGE = "kind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 4\n  constraints:\n  - key: host\n    maxSkew: 1\n"
JSON = """\
- {op: test, path: /spec/replicas, value: 4}
- op: add
  path: /spec/constraints/-
  value: {maxSkew: 1, key: rack}
- op: replace
  path: /spec/replicas
  value: 4
"""


def place(tmp_path: Path, kustomization: str, field: str, **files: str) -> tuple[str, int, int] | None:
    (tmp_path / "kustomization.yaml").write_text(kustomization)
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    found = written_in(SourceFiles(str(tmp_path)), [str(tmp_path / "kustomization.yaml")], RENDERED, parse_path(field))
    return None if found is None else (Path(found[0]).name, found[1].line, found[1].column)


@pytest.mark.parametrize(
    "kustomization",
    ["patches: [{path: a.yaml}]", "patchesStrategicMerge: [a.yaml]", "patches: [{path: a.yaml, target: {kind: X}}]"],
)
def test_a_field_of_a_merge_patch_is_in_its_file(tmp_path: Path, kustomization: str) -> None:
    assert place(tmp_path, kustomization, "spec.replicas", a=MERGE) == ("a.yaml", 4, 3)
    assert place(tmp_path, kustomization, "spec.constraints[1].maxSkew", a=MERGE) == ("a.yaml", 7, 5)
    assert place(tmp_path, kustomization, "spec.constraints[1].notThere", a=MERGE) == ("a.yaml", 6, 5)


@pytest.mark.parametrize("field", ["spec.constraints[0].maxSkew", "spec.other", "spec", ""])
def test_what_a_patch_does_not_say_alone_is_not_in_it(tmp_path: Path, field: str) -> None:
    assert place(tmp_path, "patches: [{path: a.yaml}]", field, a=MERGE.replace("replicas: 4", "replicas: 5")) is None


def test_a_kustomization_outside_the_root_is_not_read(tmp_path: Path) -> None:
    """An annotation of what was rendered names it, and the rendered text may come from a stranger."""
    os.mkfifo(tmp_path / "kustomization.yaml")  # whoever opened it would wait for ever
    (tmp_path / "root").mkdir()
    files = SourceFiles(str(tmp_path / "root"))
    assert written_in(files, [str(tmp_path / "kustomization.yaml")], RENDERED, parse_path("spec.replicas")) is None


@pytest.mark.parametrize(("name", "kind"), [("other", "Deployment"), ("web", "StatefulSet")])
def test_a_patch_of_another_object_is_not_meant(tmp_path: Path, name: str, kind: str) -> None:
    text = MERGE.replace("{name: web}", f"{{name: {name}}}").replace("Deployment", kind)
    assert place(tmp_path, "patches: [{path: a.yaml}]", "spec.replicas", a=text) is None


@pytest.mark.parametrize("field", ["patches", "patchesJson6902"])
def test_a_field_of_a_json_patch_is_in_its_operation(tmp_path: Path, field: str) -> None:
    kustomization = f"{field}: [{{path: a.yaml, target: {{kind: Deployment}}}}]"
    assert place(tmp_path, kustomization, "spec.replicas", a=JSON) == ("a.yaml", 7, 3)
    assert place(tmp_path, kustomization, "spec.constraints[2].key", a=JSON) == ("a.yaml", 4, 23)
    assert place(tmp_path, kustomization, "spec.constraints[1].key", a=JSON) is None


def test_a_patch_in_the_kustomization_is_where_it_stands_there(tmp_path: Path) -> None:
    lines = "".join(f"    {line}\n" for line in MERGE.splitlines())
    assert place(tmp_path, f"patches:\n- patch: |\n{lines}", "spec.replicas") == ("kustomization.yaml", 2, 3)


def test_the_last_patch_that_says_so_wrote_it(tmp_path: Path) -> None:
    kustomization = "patches: [{path: a.yaml}, {path: b.yaml}, {path: c.yaml}]"
    other = MERGE.replace("replicas: 4", "replicas: 5")
    assert place(tmp_path, kustomization, "spec.replicas", a=MERGE, b=MERGE, c=other) == ("b.yaml", 4, 3)


@pytest.mark.parametrize(
    "kustomization", ["patches: 3", "patches: [3, {}]", "a: b", "[", "patches: [{path: gone.yaml}]"]
)
def test_a_kustomization_that_says_nothing_of_use_is_no_fault(tmp_path: Path, kustomization: str) -> None:
    assert place(tmp_path, kustomization, "spec.replicas") is None


def test_places_of_many_findings_read_their_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 60
    text = "---\n".join(
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web{i}}}\nspec: {{\n  replicas: 2}}\n"
        for i in range(count)
    )
    file = tmp_path / "all.yaml"
    file.write_text(text)
    annotated = [Annotated(b"path: all.yaml\n")] * count
    folder = str(tmp_path)
    kustomization = Kustomization(folder, folder, f"{folder}/kustomization.yaml", files=frozenset([str(file)]))
    origins = KustomizationOrigins(
        folder,
        kustomization=kustomization,
        data=text.encode(),
        annotate=lambda: (annotated, folder),
        root=folder,
    )
    parsed, loader = [], yaml.CLoader
    monkeypatch.setattr(yaml, "CLoader", lambda data: parsed.append(len(data)) or loader(data))
    for number in range(count):
        for _ in range(3):
            found = origins.place(number + 1, ("spec", "replicas"), Place("rendered"))
            assert (found.source, found.line, found.column) == (str(file), number * 6 + 5, 3)
    assert sum(parsed) < 10 * len(text)
