"""The project file: what it sets, what it may not, and what comes before it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from topospread.cli.main import topospread as command
from topospread.cli.simulate import simulate
from topospread.errors import ConfigError, InputError
from topospread.lint.settings import Settings, find_settings

ROOT = Path(__file__).parent.parent.parent.parent
APP = str(ROOT / "docs/how-to/capacity/shop.yaml")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(command, words, standalone_mode=False)


def nodes_of(done: Result) -> int:
    assert done.exception is None, done.exception
    return len({each["node"] for each in json.loads(done.stdout)["placements"]})


def test_a_file_named_like_an_option_switches_it_off_nowhere(folder: Path) -> None:
    (folder / "topospread.toml").write_text('on = "zones=3,nodes=6"')
    for name in ("--settings=x.yaml", "--help"):
        (folder / "below" / name).write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
        done = run("lint", "-o", "json", "--allow-empty", "--", APP, name)
        assert json.loads(done.stdout)["on"]["nodes"] == 6


def test_settings_do_not_read_standard_input(folder: Path) -> None:
    (folder / "below" / ".topospread.yaml").write_text('lint: {cluster: "-"}')
    done = run("lint", APP)
    assert isinstance(done.exception, InputError)
    assert "./-: file not found" in str(done.exception)


@pytest.mark.parametrize(
    ("name", "head"), [("topospread.toml", ""), ("pyproject.toml", "[project]\nname = 'x'\n[tool.topospread]\n")]
)
def test_it_sets_what_nothing_else_sets(folder: Path, name: str, head: str) -> None:
    (folder / name).write_text(f'{head}on = "zones=3,nodes=3"\noutput = "json"\nnamespace = "shop"\n')
    assert nodes_of(run("simulate", "-f", APP)) == 3
    assert nodes_of(run("simulate", "-f", APP, "--on", "zones=3,nodes=6")) == 6
    shown = run("config", "show", "--project").stdout.splitlines()
    line = head.count("\n") + 1
    assert shown[0].split() == ["on", "=", "zones=3,nodes=3", f"../{name}:{line}"]
    assert len(shown) == 3


def test_the_environment_comes_before_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "topospread.toml").write_text('on = "zones=3,nodes=3"\noutput = "json"\n')
    monkeypatch.setenv("TOPOSPREAD_ON", "zones=3,nodes=6")
    assert nodes_of(run("simulate", "-f", APP)) == 6


def test_paths_are_relative_to_the_file(folder: Path) -> None:
    (folder / "nodes.yaml").write_text((ROOT / "examples/demo/cluster.yaml").read_text())
    (folder / "topospread.toml").write_text('on = "nodes.yaml"\noutput = "json"\n')
    assert nodes_of(run("simulate", "-f", APP)) > 3


@pytest.mark.parametrize("name", ["../nodes.yaml", "link.yaml"])
def test_without_a_repository_paths_stay_in_the_folder(folder: Path, name: str) -> None:
    (folder / ".git").rmdir()
    (folder / "nodes.yaml").write_text((ROOT / "examples/demo/cluster.yaml").read_text())
    (folder / "below" / "link.yaml").symlink_to("../nodes.yaml")
    (folder / "below" / "topospread.toml").write_text(f'on = "{name}"\n')
    done = run("simulate", "-f", APP)
    assert isinstance(done.exception, ConfigError)
    assert "on: this path leaves the folder of this file; give it on the command line" in str(done.exception)


def test_a_link_out_of_the_repository_does_not_show_whether_its_target_exists(folder: Path) -> None:
    for target in ("/etc/hostname", "/no/such/file"):
        (folder / "topospread.toml").unlink(missing_ok=True)
        (folder / "topospread.toml").symlink_to(target)
        done = run("config", "show", "--project")
        assert isinstance(done.exception, InputError)
        assert "leaves" in str(done.exception)


def test_without_a_repository_a_file_further_up_counts_for_nothing(folder: Path) -> None:
    (folder / ".git").rmdir()
    (folder / "topospread.toml").write_text('on = "zones=3,nodes=3"\n')
    (folder / ".topospread.yaml").write_text("lint: {ignore: [validation]}\n")
    assert run("config", "show", "--project").stdout == ""
    assert find_settings() == Settings()


def test_unknown_may_be_allowed(folder: Path) -> None:
    pod = {"containers": [{"name": "a", "image": "a"}], "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
    (folder / "app.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pod})
    )
    words = ["-f", "../app.json", "--on", "zones=3,nodes=6", "--feature-gates", "DynamicResourceAllocation=true"]
    codes = []
    for unknown in ("fail", "allow"):
        (folder / "topospread.toml").write_text(f'unknown = "{unknown}"\n')
        codes.append(CliRunner().invoke(simulate, words, standalone_mode=False).return_value)
    assert codes == [4, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('on = "live"', "a project file cannot say live"),
        ('on = "../secret.json"', "this path leaves the repository"),
        ('config = "/etc/passwd"', "this path leaves the repository"),
        ('output = "json=x.json"', "give the file on the command line"),
        ('output = "github"', "a project file cannot say github, whose lines are commands"),
        ('unknown = "yes"', 'expected "fail" or "allow"'),
        ("namespace = 3", "expected text in quotes"),
        ("on =", "not TOML"),
        ('config = "a\\u0000b"', "this path leaves the repository"),
        ("a = " + "[" * 5000, "not TOML"),
        ("a = " + "1" * 5000, "not TOML"),
    ],
)
def test_a_stranger_cannot_reach_out_with_it(folder: Path, text: str, said: str) -> None:
    (folder / "topospread.toml").write_text(text)
    found = run("simulate", "-f", APP).exception
    assert isinstance(found, Exception)
    assert said in str(found)
    assert "topospread.toml" in str(found)


@pytest.mark.parametrize("name", ["./live", "below/../live", "./-"])
def test_a_path_becomes_no_word_for_a_cluster(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    (folder / "topospread.toml").write_text(f'on = "{name}"')
    with pytest.raises(InputError, match=f"--on ./{name[-1] if name == './-' else 'live'}: file not found"):
        CliRunner().invoke(command, ["simulate", "-f", APP], standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize("text", ['tool = "a"', "tool = [1]", '[tool]\ntopospread = "a"', "[tool]\ntopospread = [1]"])
def test_a_pyproject_of_another_form_is_no_fault(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    found = run("simulate", "-f", APP, "--on", "zones=3,nodes=6").exception
    assert found is None or (isinstance(found, ConfigError) and "expected a table" in str(found))
    assert isinstance(run("lint", APP).exception, ConfigError | None)


def test_a_setting_begins_no_line(folder: Path) -> None:
    (folder / "topospread.toml").write_text('on = "a\\nunknown = fail"\nnamespace = "b\\nc"\n')
    shown = run("config", "show", "--project").stdout.splitlines()
    assert [each.split(" = ")[0] for each in shown] == ["on", "namespace"]


def test_help_reads_no_project_file(folder: Path) -> None:
    (folder / "topospread.toml").write_text("on =")
    assert run("simulate", "--help").exception is None


def test_a_plan_takes_no_cluster_of_the_working_tree(folder: Path) -> None:
    (folder / "topospread.toml").write_text("on =")
    assert not isinstance(run("plan", APP, APP, "--on", "zones=3,nodes=6", "--no-lint").exception, ConfigError)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_a_plan_takes_the_settings_of_the_old_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    shutil.copy(APP, tmp_path / "app.yaml")
    (tmp_path / "topospread.toml").write_text('on = "zones=3,nodes=3"\noutput = "json"\nkube-version = "1.36"\n')
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "old")
    (tmp_path / "topospread.toml").write_text('on = "zones=3,nodes=9"\nkube-version = "1.30"\nunknown = "allow"\n')
    git(tmp_path, "commit", "-qam", "new")
    on = json.loads(run("plan", "HEAD~1", "HEAD").stdout)["on"]
    assert (on["nodes"], on["kubeVersion"]) == (3, "1.36")
    typed = json.loads(run("plan", "HEAD~1", "HEAD", "--on", "zones=3,nodes=6", "--kube-version", "1.37").stdout)["on"]
    assert (typed["nodes"], typed["kubeVersion"]) == (6, "1.37")


def test_lint_takes_the_project_file_behind_its_own_settings(folder: Path) -> None:
    (folder / "topospread.toml").write_text('on = "nowhere.json"\n')
    assert isinstance(run("lint", APP).exception, InputError)
    (folder / "topospread.toml").write_text('on = "nowhere.json"\n[lint]\ncluster = "zones=3,nodes=3"\n')
    assert run("lint", APP).exception is None
    (folder / "other.toml").write_text("[tool.topospread.lint]\n")
    assert run("lint", APP, "--settings", "../other.toml").exception is None
