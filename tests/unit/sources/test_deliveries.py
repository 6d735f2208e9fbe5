"""What Argo CD and Flux fetch from elsewhere is named and never followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.cli.lint import left_out
from topospread.errors import InputError
from topospread.lint.reading import Question
from topospread.lint.run import run
from topospread.sources.load import load

APPLICATION = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec: {}\n"
)
RELEASE = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db}\nspec: {}\n"
FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {path: ./x}\n"
SAID = "where its manifests are and holds none: give the chart or folder that is meant"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (APPLICATION, "Application argocd/web (Argo CD)"),
        (RELEASE, "HelmRelease default/db (Flux)"),
        (FLUX, "Kustomization default/apps (Flux)"),
    ],
)
def test_a_note_names_them_and_nothing_else_does(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "kustomization.yaml").write_text(text)
    inventory = load([str(tmp_path)], cluster="nodes=1", allow_empty=True)
    assert f"{name} says {SAID}" in inventory.notes
    assert not inventory.skipped
    assert f"{name} says {SAID}" in left_out(run(Question(paths=[str(tmp_path)])).read)


def test_alone_they_are_an_error_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(APPLICATION)
    with pytest.raises(InputError) as caught:
        load([str(tmp_path)], cluster="nodes=1")
    assert str(caught.value) == (
        f"{tmp_path} holds no object (--allow-empty accepts that); Application argocd/web (Argo CD) says {SAID}"
    )


def test_many_are_one_note(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("---\n".join(APPLICATION.replace("web", f"web-{n}") for n in range(5)))
    (note,) = [each for each in load([str(tmp_path)], cluster="nodes=1", allow_empty=True).notes if "Argo CD" in each]
    assert "web-2 (Argo CD) and 2 more say where their manifests are and hold none" in note


def test_other_kinds_of_the_same_groups_are_skipped_as_before(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(APPLICATION.replace("Application", "AppProject"))
    assert load([str(tmp_path)], cluster="nodes=1", allow_empty=True).skipped == {"AppProject": 1}
