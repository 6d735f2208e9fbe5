"""Settings are found, read as they are documented, and refused with their place when they mean nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from topospread.errors import InputError
from topospread.lint import settings as settings_module
from topospread.lint.run import lint
from topospread.lint.settings import Settings, find_settings, read_settings
from topospread.sources.custom_kinds import find_kinds

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: a}}
spec:
  containers: [{name: a, image: a}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
  - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}
"""


def judged(folder: Path, settings: Settings) -> dict[str, str]:
    (folder / "pod.yaml").write_text(POD)
    return {each.rule: each.severity for each in lint(str(folder / "pod.yaml"), settings=settings)}


def written(path: Path, text: str) -> Settings:
    path.write_text(text)
    settings = read_settings(str(path))
    assert settings is not None
    return settings


def test_select_ignore_and_severity(tmp_path: Path) -> None:
    settings = written(
        tmp_path / ".topospread.yaml",
        "lint:\n  select: [selector-empty, selector-missing]\n  ignore: [selector-missing]\n"
        "  severity: {selector-empty: error}\n",
    )
    assert judged(tmp_path, settings) == {"selector-empty": "error"}


@pytest.mark.parametrize(("glob", "rules"), [("pod.yaml", 0), ("*.yaml", 0), ("apps/*", 0), ("other/*", 1)])
def test_rules_are_left_out_by_file(tmp_path: Path, glob: str, rules: int) -> None:
    (tmp_path / "apps").mkdir()
    settings = written(
        tmp_path / "pyproject.toml",
        f'[tool.topospread.lint]\nselect = ["selector-empty"]\n'
        f'[tool.topospread.lint.per-file-ignores]\n"{glob}" = ["selector-empty"]\n',
    )
    assert len(judged(tmp_path / "apps", settings)) == rules


def test_excluded_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("{{ template }}: [")
    settings = written(tmp_path / ".topospread.yaml", "lint: {exclude: ['broken*'], select: [selector-empty]}")
    (tmp_path / "pod.yaml").write_text(POD)
    assert len(lint(str(tmp_path), settings=settings)) == 1


def test_paths_in_settings_begin_at_their_file(tmp_path: Path) -> None:
    settings = written(tmp_path / ".topospread.yaml", "lint: {cluster: nodes.yaml, kube-version: '1.30'}")
    assert (settings.cluster, settings.kube_version) == (str(tmp_path / "nodes.yaml"), "1.30")
    assert written(tmp_path / ".topospread.yaml", "lint: {cluster: 'zones=3'}").cluster == "zones=3"


def test_the_nearest_file_upwards_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    written(tmp_path / ".topospread.yaml", "lint: {ignore: [validation]}")
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    monkeypatch.chdir(below)
    assert find_settings().ignore == {"validation"}
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.topospread.lint]\nignore = ['selector-empty']\n")
    assert find_settings().ignore == {"selector-empty"}


def test_without_settings_every_rule_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_settings() == Settings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ignore: [selector-empty]", ".topospread.yaml: ignore: unknown field 'ignore'; fields: lint"),
        ("lint: {selects: []}", "lint.selects: unknown field 'selects'; did you mean select?"),
        ("lint: {ignore: [selector-emtpy]}", "lint.ignore[0]: unknown rule 'selector-emtpy'; did you mean"),
        ("lint: {ignore: selector-empty}", "lint.ignore: expected a list"),
        ("lint: {kube-version: 1.30}", "lint.kube-version: expected a string, got a number; put it in quotes"),
        ("lint: {kube-version: '1.99'}", "lint.kube-version: Kubernetes 1.99 is not supported"),
        ("lint: {severity: {validation: bad}}", "lint.severity.validation: expected one of error, warning, hint"),
        ("lint: []", None),
        ("lint: [a]", "lint: expected a mapping"),
        ("a", "expected a mapping"),
    ],
)
def test_what_means_nothing_is_refused_with_its_place(tmp_path: Path, text: str, words: str | None) -> None:
    if words is None:
        assert written(tmp_path / ".topospread.yaml", text).select is None
        return
    with pytest.raises(InputError) as raised:
        written(tmp_path / ".topospread.yaml", text)
    assert words in str(raised.value)


def test_a_pyproject_that_is_no_toml_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not TOML"):
        written(tmp_path / "pyproject.toml", "[tool")


def test_settings_that_nobody_named_are_no_link_out_of_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret.yaml").write_text("hunter2: token\n")
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / ".topospread.yaml").symlink_to("../secret.yaml")
    monkeypatch.chdir(tmp_path / "checkout")
    for find in (find_settings, find_kinds):
        with pytest.raises(InputError, match="leaves") as caught:
            find()
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("globs", ["exclude: [{}]", "per-file-ignores: {{{}}}"])
def test_each_file_is_compared_with_a_thousand_globs_at_most(tmp_path: Path, globs: str) -> None:
    value = ", ".join(f"a{number}: []" if "per" in globs else f"a{number}" for number in range(1001))
    with pytest.raises(InputError, match="1001 globs, but at most 1000 are allowed"):
        written(tmp_path / ".topospread.yaml", f"lint: {{{globs.format(value)}}}\n")


def test_a_path_is_resolved_once_for_all_globs(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved, relpath = list[str](), os.path.relpath
    monkeypatch.setattr(os.path, "relpath", lambda path, start: resolved.append(path) or relpath(path, start))
    settings = Settings(exclude=tuple(f"a{at}.yaml" for at in range(100)))
    assert not settings.excludes("k8s/b.yaml")
    assert settings.excludes("k8s/a99.yaml")
    assert resolved == ["k8s/b.yaml", "k8s/a99.yaml"]


def test_globs_and_paths_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long glob takes time in proportion to its length, for each character of each path. A path is compared once."""
    monkeypatch.setattr(settings_module, "MOST_COMPARED", 100)
    settings = Settings(exclude=("a" * 5,), per_file_ignores={"b" * 5: frozenset({"no-spread"})}, source="own.yaml")
    for _ in range(9):
        assert not settings.excludes("c" * 10)
        assert settings.wants("no-spread", "c" * 10)
    with pytest.raises(InputError, match=r"^own.yaml: the globs are too long for so many files"):
        settings.excludes("d")
