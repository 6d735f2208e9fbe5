"""A stranger's pull request is only judged: it runs no code, reads and writes nothing outside, and sets no rules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

from tests.command import Done, forked
from tests.e2e.test_plan import APP, CLUSTER, ZONE, commit, git
from topospread.sources import revisions

ROOT = Path(__file__).parent.parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
SECRET = "eyJhbGciOiJSUzI1NiJ9.hunter2"
LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
FIXABLE = APP % (3, "failure-domain.beta.kubernetes.io/zone")


def run(folder: Path, *words: str) -> Done:
    return forked(*words, cwd=folder)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two commits, and secrets beside it."""
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "other.yaml").write_text(FIXABLE)
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init")
    commit(folder, "app.yaml", APP % (3, ZONE))
    commit(folder, "app.yaml", APP % (7, ZONE))
    return folder


def configure(checkout: Path, program: str) -> None:
    """Let the repository's configuration name a program, wherever git has a place for one."""
    git(checkout, "config", "core.fsmonitor", program)
    git(checkout, "config", "core.hooksPath", str(checkout / "hooks"))
    (checkout / "hooks").mkdir()
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (checkout / "hooks" / hook).symlink_to(program)
    for name in ("filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "core.pager", "core.sshCommand"):
        git(checkout, "config", name, program)
    git(checkout, "config", "filter.evil.required", "true")
    (checkout / ".git" / "info" / "attributes").write_text("*.yaml filter=evil diff=evil\n")


def test_no_program_of_the_repository_runs(checkout: Path) -> None:
    program, proof = checkout.parent / "program", checkout.parent / "proof"
    program.write_text(f"#!/bin/sh\ntouch {proof}\n")
    program.chmod(0o755)
    configure(checkout, str(program))
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert (done.returncode, proof.exists()) == (1, False), done.stderr
    assert "pod is newly pending" in done.stdout
    run(checkout, "lint", ".", "--settings", "rev:HEAD~1")
    assert not proof.exists()


def test_git_asks_nobody_and_reads_no_configuration_of_the_machine(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, log = shutil.which("git"), checkout.parent / "log"
    program = checkout.parent / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$GIT_CONFIG_NOSYSTEM $GIT_TERMINAL_PROMPT $*" >> {log}\nexec {real} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER).returncode == 1
    calls = log.read_text().splitlines()
    begin = f"1 0 --no-pager --git-dir={tempfile.gettempdir()}/topospread-"
    assert calls
    assert [each for each in calls if not each.startswith(begin)] == []
    assert not [each for each in calls if " checkout " in each or " archive " in each]


def test_a_path_does_not_pass_for_a_revision(checkout: Path) -> None:
    git(checkout, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    (checkout / "origin").mkdir()
    (checkout / "origin" / "main").symlink_to("..")
    done = run(checkout, "plan", "origin/main", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert "origin/main is a path and a revision; write path:origin/main or rev:origin/main" in done.stderr
    done = run(checkout, "plan", "rev:origin/main", "rev:HEAD", *CLUSTER)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("no: 1 pod is newly pending\n")
    assert run(checkout, "plan", "path:app.yaml", "rev:HEAD", *CLUSTER).returncode == 0


def test_a_path_is_not_taken_where_git_refuses_to_answer(checkout: Path) -> None:
    (checkout / ".git" / "config").write_text("[broken")
    done = run(checkout, "plan", "app.yaml", "app.yaml", *CLUSTER)
    assert done.returncode == 2
    assert "write path:app.yaml for the path" in done.stderr


@pytest.mark.parametrize("name", ["../../token", "../../missing"])
def test_git_reads_no_file_that_the_configuration_includes(checkout: Path, name: str) -> None:
    expected = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    git(checkout, "config", "include.path", name)
    found = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert (found.returncode, found.stdout, found.stderr) == (1, expected.stdout, expected.stderr)


def test_revisions_of_another_repository_are_not_read_by_a_link(checkout: Path) -> None:
    other = checkout.parent / "other"
    other.mkdir()
    (other / ".git").symlink_to("../checkout/.git")
    done = run(other, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert ".git: this path leaves" in done.stderr


def test_a_folder_that_looks_like_a_repository_is_none(checkout: Path) -> None:
    """git takes a folder with HEAD, objects and refs for a bare repository, before the one that contains it."""
    git(checkout, "clone", "--bare", ".", "deploy")
    git(checkout / "deploy", "update-ref", "refs/heads/main", "HEAD")
    git(checkout, "update-ref", "refs/heads/main", "HEAD~1")
    (checkout / "deploy" / "app.yaml").write_text(APP % (7, ZONE))
    done = run(checkout / "deploy", "plan", "rev:main", "path:app.yaml", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    # The real repository's main has no such folder.
    assert "error: main: deploy: no file in this folder ends in " in done.stderr


@pytest.mark.parametrize("target", ["elsewhere", "checkout/missing"])
def test_a_revision_makes_no_folder_elsewhere(checkout: Path, target: str) -> None:
    (checkout.parent / "elsewhere").mkdir()
    commit(checkout, "deploy/web/app.yaml", APP % (3, ZONE))
    git(checkout, "rm", "-r", "deploy")
    (checkout / "deploy").symlink_to(checkout.parent / target)
    git(checkout, "add", "-A")
    git(checkout, "commit", "-m", "x")
    (checkout / "deploy").unlink()
    (checkout / "deploy" / "web").mkdir(parents=True)
    done = run(checkout / "deploy" / "web", "plan", "rev:HEAD~1", "rev:HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: HEAD: deploy/web: this path leaves " in done.stderr
    assert not [*(checkout.parent / "elsewhere").iterdir()]


def test_plan_takes_settings_of_the_old_revision(checkout: Path) -> None:
    commit(checkout, "app.yaml", FIXABLE)
    commit(checkout, ".topospread.yaml", "lint: {exclude: ['*.yaml'], ignore: [beta-topology-key]}\n")
    done = run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER)
    assert "beta-topology-key" in done.stdout, done.stderr
    commit(checkout, "app.yaml", APP % (3, ZONE))
    commit(checkout, "app.yaml", FIXABLE)
    assert "beta-topology-key" not in run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER).stdout


def test_lint_takes_settings_of_a_revision(checkout: Path) -> None:
    commit(checkout, ".topospread.yaml", "lint: {select: [validation], cluster: nodes.yaml}\n")
    (checkout / ".topospread.yaml").write_text("lint: {exclude: ['*']}\n")
    (checkout / "app.yaml").write_text(FIXABLE)
    done = run(checkout, "lint", "app.yaml", "--settings", "rev:HEAD~1")
    assert "beta-topology-key" in done.stdout
    done = run(checkout, "lint", "app.yaml", "--settings", "rev:HEAD")
    assert "--on nodes.yaml" in done.stderr, "the paths of the settings are those of the working directory"


def test_settings_do_not_name_a_file_outside(checkout: Path) -> None:
    for name in ("cluster", "config"):
        (checkout / ".topospread.yaml").write_text(f"lint: {{{name}: ../token}}\n")
        done = run(checkout, "lint", ".")
        assert (done.returncode, done.stdout) == (2, "")
        assert f".topospread.yaml: lint.{name}: this path leaves {checkout}" in done.stderr
    (checkout / "link").symlink_to("../token")
    (checkout / ".topospread.yaml").write_text("lint: {cluster: link}\n")
    assert "leaves" in run(checkout, "lint", ".").stderr
    (checkout / ".topospread.yaml").unlink()
    (checkout / ".topospread.yaml").symlink_to("../token")
    done = run(checkout, "lint", ".")
    assert "leaves" in done.stderr
    assert "hunter2" not in done.stderr


def test_a_link_that_leaves_the_folder_is_not_read(checkout: Path) -> None:
    (checkout / "t.yaml").symlink_to("../other.yaml")
    for folder in (checkout, checkout.parent / "plain"):
        folder.mkdir(exist_ok=True)
        (folder / "app.yaml").write_text(APP % (3, ZONE))
        if not (folder / "t.yaml").is_symlink():
            (folder / "t.yaml").symlink_to("../other.yaml")
        done = run(folder, "lint", ".")
        assert "beta-topology-key" not in done.stdout
        assert "t.yaml: not read, the symbolic link leaves the root" in done.stderr
        done = run(folder, "simulate", "-f", ".", "--render", "never", *CLUSTER)
        assert "t.yaml: not read, the symbolic link leaves the root" in " ".join(done.stdout.split())


def test_a_named_link_does_not_leave_the_repository(checkout: Path) -> None:
    (checkout / "t.yaml").symlink_to("../other.yaml")
    (checkout / "missing").symlink_to("../none.yaml")
    for name in ("t.yaml", "missing"):
        for words in (
            ("lint", name),
            ("simulate", "-f", name, *CLUSTER),
            ("simulate", "--on", name),
            ("plan", "app.yaml", name, *CLUSTER),
            ("plan", "HEAD", ".", "-f", name, *CLUSTER),
        ):
            done = run(checkout, *words)
            assert (done.returncode, done.stdout) == (2, "")
            assert f"{name}: this path leaves {checkout} by a symbolic link" in done.stderr
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "x")
    for name in ("t.yaml", "missing"):
        done = run(checkout, "plan", "HEAD~1", "HEAD", "-f", name, *CLUSTER)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"HEAD: {name}: this path leaves HEAD by a symbolic link" in done.stderr


def test_settings_do_not_tell_whether_the_target_of_a_link_exists(checkout: Path) -> None:
    for target in ("../other.yaml", "../none.yaml"):
        (checkout / ".topospread.yaml").unlink(missing_ok=True)
        (checkout / ".topospread.yaml").symlink_to(target)
        for words in (("lint",), ("simulate", "-f", "app.yaml", *CLUSTER)):
            assert f".topospread.yaml: this path leaves {checkout}" in run(checkout, *words).stderr


@pytest.mark.parametrize("named", [".", "t.yaml"])
@pytest.mark.parametrize("folder", ["checkout", "plain"])
def test_fixes_are_not_written_through_a_link(checkout: Path, named: str, folder: str) -> None:
    place = checkout.parent / folder
    place.mkdir(exist_ok=True)
    (place / "t.yaml").symlink_to("../other.yaml")
    run(place, "lint", named, "--fix")
    assert (checkout.parent / "other.yaml").read_text() == FIXABLE
    assert (place / "t.yaml").is_symlink()


DRILL = """\
apiVersion: topospread.dev/v1alpha1
kind: Drill
metadata: {name: a}
spec:
  cluster: zones=3,nodes=3
  %s
  steps: [%s]
  expect: {pending: 0}
"""


@pytest.mark.parametrize(
    ("field", "step"),
    [
        ("manifests: [../token]", "fail: zone=zone-a"),
        ("manifests: [link]", "fail: zone=zone-a"),
        ("manifests: [app.yaml]\n  config: ../token", "fail: zone=zone-a"),
        ("manifests: [app.yaml]\n  pools: [../token]", "fail: zone=zone-a"),
        ("manifests: [app.yaml]\n  helm: {values: [../token]}", "fail: zone=zone-a"),
        ("manifests: [app.yaml]", "apply: ../token"),
        ('manifests: [app.yaml]\n  config: "a\\0b"', "fail: zone=zone-a"),
    ],
)
def test_a_drill_does_not_name_a_file_outside(checkout: Path, field: str, step: str) -> None:
    (checkout / "link").symlink_to("../token")
    (checkout / "drill.yaml").write_text(DRILL % (field, step))
    done = run(checkout, "drill", "--check", "-f", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"this path leaves {checkout}" in done.stderr
    assert "hunter2" not in done.stderr


SECRETS = (
    SECRET,
    f"*{SECRET}",
    f"!!int {SECRET}",
    f"{{{SECRET}: 1, {SECRET}: 2}}",
    f"[{SECRET}]",
    f'"{SECRET}"',
    f"kind: {SECRET}\nmetadata: {{name: {SECRET}}}",
    f"apiVersion: {SECRET}",
    f"apiVersion: [{SECRET}]",
    "1" * 500,
)


@pytest.mark.parametrize("content", SECRETS)
def test_errors_do_not_quote_a_file_that_is_no_manifest(checkout: Path, content: str) -> None:
    (checkout / "t.yaml").write_text(content)
    (checkout / "p.json").write_text(content)
    for words in (
        ("lint", "t.yaml"),
        ("lint", "p.json"),
        ("simulate", "-f", "t.yaml", *CLUSTER),
        ("simulate", "-f", "app.yaml", "--on", "p.json"),
        ("lint", "app.yaml", "--config", "t.yaml"),
        ("simulate", "-f", "app.yaml", *CLUSTER, "--config", "t.yaml"),
        ("simulate", "-f", "app.yaml", *CLUSTER, "--pools", "t.yaml"),
        ("drill", "--check", "-f", "t.yaml"),
    ):
        done = run(checkout, *words)
        assert done.returncode == 2
        assert SECRET not in done.stdout + done.stderr, words
        assert "111111" not in done.stdout + done.stderr, words


def test_names_of_folders_and_unknown_options_begin_no_line(checkout: Path) -> None:
    forged = "a\nyes: all is well"
    (checkout / forged).mkdir()
    for words in (("drill", "--check", "-f", forged), ("lint", "--", f"--{forged}"), ("lint", f"--{forged}")):
        done = run(checkout, *words)
        assert done.returncode == 2
        assert "\nyes" not in done.stdout + done.stderr, words
    unknown = run(checkout, "simulate", "-f", "app.yaml", "--on", "nowhere")
    assert "topospread explain clusters" in unknown.stderr
    assert unknown.stderr.count("\n") == 1


def test_the_words_of_a_snapshot_begin_no_line(checkout: Path) -> None:
    run(checkout, "simulate", "-f", "app.yaml", *CLUSTER, "--save", "a.json")
    snapshot = json.loads((checkout / "a.json").read_text())
    snapshot["topospread"]["kubeVersion"] = "v1.37\nyes: all is well"
    (checkout / "a.json").write_text(json.dumps(snapshot))
    done = run(checkout, "dump", "b.json", "--from", "a.json")
    assert done.stdout.startswith("b.json: ")
    assert done.stdout.count("\n") == 1


def test_a_file_does_not_pass_for_an_option(checkout: Path) -> None:
    (checkout / "app.yaml").write_text(FIXABLE)
    (checkout / "--fix").write_text("")
    done = run(checkout, "lint", "app.yaml", "--fix")
    assert done.returncode == 2
    assert "--fix is an option and a file here; write -- before paths" in done.stderr
    assert (checkout / "app.yaml").read_text() == FIXABLE
    (checkout / "--").write_text("")
    assert run(checkout, "lint", "app.yaml", "--fix", "--").returncode == 2
    assert (checkout / "app.yaml").read_text() == FIXABLE


@pytest.mark.parametrize("leaf", ["blob", "nothing"])
def test_trees_that_hold_each_other_end(checkout: Path, leaf: str) -> None:
    """Ten trees of ten entries each are a commit of ten thousand million files."""

    def printed(*words: str, given: str = "") -> str:
        named = ("git", "-c", "user.name=a", "-c", "user.email=a")
        done = subprocess.run([*named, *words], cwd=checkout, input=given, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    blob = printed("rev-parse", "HEAD:app.yaml")
    entries = "".join(f"100644 blob {blob}\ta{number}.yaml\n" for number in range(10)) if leaf == "blob" else ""
    for _ in range(10):
        tree = printed("mktree", given=entries)
        entries = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
    bomb = printed("commit-tree", "-m", "a", tree)
    limited = [sys.executable, "-c", LIMITED, TOPOSPREAD, "plan", "HEAD", bomb, *CLUSTER]
    done = subprocess.run(limited, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there are too many" in done.stderr


@pytest.mark.parametrize("change", ["link", "depth"])
def test_a_revision_that_no_checkout_could_have_is_refused(checkout: Path, change: str) -> None:
    def printed(*words: str, given: bytes = b"") -> str:
        named = ("git", "-c", "user.name=a", "-c", "user.email=a")
        done = subprocess.run([*named, *words], cwd=checkout, input=given, capture_output=True, check=True)
        return done.stdout.decode().strip()

    blob = printed("hash-object", "-w", "--stdin", given=b"a\0b")
    tree = printed("mktree", given=f"{'120000' if change == 'link' else '100644'} blob {blob}\tt.yaml\n".encode())
    for _ in range(1200 if change == "depth" else 0):
        tree = printed("mktree", given=f"040000 tree {tree}\td\n".encode())
    done = run(checkout, "plan", "HEAD", printed("commit-tree", "-m", "a", tree), *CLUSTER)
    assert done.returncode == 2, done.stderr[-300:]
    assert "has a path that is not allowed" in done.stderr


def step_of_the_action(name: str) -> str:
    (step,) = [
        each for each in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"] if each["id"] == name
    ]
    return str(step["run"])


def run_action(checkout: Path, step: str, **given: str) -> Done:
    """Run a step of the Action in a checkout; its Python is the one of these tests."""
    bin_ = checkout.parent / "temp" / "topospread" / "bin"
    if step == "judge":
        bin_.mkdir(parents=True, exist_ok=True)
        (bin_ / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (bin_ / "python").chmod(0o755)
    names = "PATHS CLUSTER CONFIG KUBE_VERSION SETTINGS SARIF BASE RENDER_HELM RENDER_NETWORK HELM_VALUES HELM_SET"
    env = dict.fromkeys([*names.split(), "RAW", "PLAN"], "") | {
        "RUNNER_TEMP": str(bin_.parent.parent),
        "PATH": os.environ["PATH"],
    }
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step_of_the_action(step)]
    return subprocess.run(script, cwd=checkout, env=env | given, capture_output=True, text=True, check=False)


def test_the_action_imports_no_module_of_the_checkout(checkout: Path) -> None:
    proof = checkout.parent / "proof"
    for name in ("venv", "pip", "topospread", "click", "yaml"):
        (checkout / f"{name}.py").write_text(f"open({str(proof)!r}, 'w')\n")
    # There is nothing to install: what matters is which modules are imported.
    run_action(checkout, "install", PYTHON=sys.executable, GITHUB_ACTION_PATH=str(checkout.parent / "nowhere"))
    assert (checkout.parent / "temp" / "topospread" / "bin" / "python").exists()
    (checkout.parent / "temp" / "topospread" / "bin" / "python").unlink()
    done = run_action(checkout, "judge", PATHS="app.yaml")
    assert done.returncode == 0, done.stderr
    assert not proof.exists()


@pytest.mark.parametrize("uv", [False, True])
def test_the_plugin_of_kubectl_installs_by_no_file_of_the_checkout(checkout: Path, *, uv: bool) -> None:
    """Its launcher runs where kubectl was called."""
    proof, temp = checkout.parent / "proof", checkout.parent / "plugin"
    for name in ("venv", "pip", "ensurepip", "sysconfig"):
        (checkout / f"{name}.py").write_text(f"open({str(proof)!r}, 'w')\n")
    (temp / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "deploy/krew/kubectl-topospread", temp)
    (temp / "topospread-1-py3-none-any.whl").write_text("no wheel")
    program = f"#!/bin/sh\npwd >> {temp}/folders\nexit 1\n" if uv else f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    (temp / "bin" / ("uv" if uv else "python3")).write_text(program)
    (temp / "bin" / ("uv" if uv else "python3")).chmod(0o755)
    env = {"PATH": f"{temp}/bin:/usr/bin:/bin", "HOME": str(temp), "PIP_NO_INDEX": "1"}
    done = subprocess.run(
        [temp / "kubectl-topospread", "--version"], cwd=checkout, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "could not be installed" in done.stderr
    assert not proof.exists()
    assert not uv or str(checkout) not in (temp / "folders").read_text()


def test_the_action_takes_a_path_for_no_option(checkout: Path) -> None:
    (checkout / "app.yaml").write_text(FIXABLE)
    done = run_action(checkout, "judge", PATHS="--fix\napp.yaml")
    assert done.returncode == 2
    assert "--fix: cannot be read" in done.stderr
    assert (checkout / "app.yaml").read_text() == FIXABLE


def test_the_action_takes_its_settings_from_the_base(checkout: Path) -> None:
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True, check=True).stdout
    commit(checkout, ".topospread.yaml", "lint: {exclude: ['*.yaml'], ignore: [beta-topology-key]}\n")
    commit(checkout, "app.yaml", FIXABLE)
    done = run_action(checkout, "judge", PATHS="app.yaml", BASE=base.strip())
    assert "title=beta-topology-key" in done.stdout, done.stderr
    # Without the base there are no settings at all, rather than those of the pull request.
    done = run_action(checkout, "judge", PATHS="app.yaml", BASE="0" * 40)
    assert done.returncode not in (0, 1), done.stdout


def test_the_action_replaces_a_link_that_lies_where_it_writes(checkout: Path) -> None:
    (checkout / "out.sarif").symlink_to("../other.yaml")
    done = run_action(checkout, "judge", PATHS="app.yaml", SARIF="out.sarif")
    assert done.returncode == 0, done.stderr
    assert (checkout.parent / "other.yaml").read_text() == FIXABLE
    assert '"version": "2.1.0"' in (checkout / "out.sarif").read_text()


def test_the_action_writes_into_no_folder_that_a_link_leads_to(checkout: Path) -> None:
    (checkout.parent / "elsewhere").mkdir()
    (checkout / "out").symlink_to("../elsewhere")
    done = run_action(checkout, "judge", PATHS="app.yaml", SARIF="out/a.sarif")
    assert (done.returncode, list((checkout.parent / "elsewhere").iterdir())) == (2, [])
    assert "a symbolic link leads out of the folder" in done.stderr


def test_the_action_plans_a_pull_request_and_lints_it_all_the_same(checkout: Path) -> None:
    """What gets worse fails the run, after the findings are shown; the plan is left for the summary and the comment."""
    words = ["git", "rev-parse", "HEAD"]
    base = subprocess.run(words, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()
    commit(checkout, "app.yaml", FIXABLE.replace("maxSkew: 1", "maxSkew: 5"))
    summary, plan = checkout.parent / "summary", checkout.parent / "temp" / "topospread-plan.md"
    given = {"PATHS": "app.yaml", "BASE": base, "GITHUB_STEP_SUMMARY": str(summary), "CLUSTER": CLUSTER[1]}
    done = run_action(checkout, "judge", PLAN="true", **given)
    told = [line for line in done.stdout.splitlines() if not line.startswith("::remove-matcher ")]
    assert (done.returncode, told[0][:3]) == (1, "no:"), done.stderr
    notes = [line for line in told if line.startswith("::")]
    assert any(line.startswith("::error file=app.yaml,line=5,col=1,title=keeps-less ") for line in notes)
    assert len(notes) == len(set(notes)), "lint reports a new finding, too"
    assert "title=beta-topology-key" in done.stdout
    assert summary.read_text() == plan.read_text()
    assert plan.read_text().startswith("### ❌ ")
    assert run_action(checkout, "judge", PLAN="false", **given).returncode == 1
    assert not plan.exists()
    done = run_action(checkout, "judge", PLAN="true", **(given | {"CLUSTER": ""}))
    assert (done.returncode, done.stderr) == (2, "the input plan needs the input cluster\n")


@pytest.mark.parametrize(
    "fields",
    [
        'uid: u, deletionTimestamp: "2026-01-01T00:00:00Z"',
        "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]",
    ],
)
def test_fields_that_the_api_server_sets_hide_no_change(checkout: Path, fields: str) -> None:
    commit(checkout, "app.yaml", FIXABLE.replace("{name: web}", f"{{name: web, {fields}}}").replace(": 3", ": 9"))
    done = run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout[:3]) == (1, "no:"), done.stderr
    assert "pods are newly pending" in done.stdout
    for cluster in ((), CLUSTER):
        assert "beta-topology-key" in run(checkout, "lint", "app.yaml", *cluster).stdout


@pytest.mark.parametrize(
    ("metadata", "spec", "refused"),
    [
        (', resourceVersion: "1"', "", "should not be set on objects to be created"),
        ("", "metrics: [{type: Foo}]", "spec.metrics[0].type"),
        ("", "behavior: {scaleUp: {policies: []}}", "spec.behavior.scaleUp.policies"),
    ],
)
def test_an_autoscaler_that_the_api_server_refuses_keeps_no_replicas(
    checkout: Path, metadata: str, spec: str, refused: str
) -> None:
    scaler = (
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web" + metadata + "}\nspec:\n"
        "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  minReplicas: 3\n  maxReplicas: 5\n"
    )
    commit(checkout, "scaler.yaml", f"{scaler}  {spec}\n")
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert refused in done.stderr
    assert refused in run(checkout, "lint", "scaler.yaml", "-o", "line").stdout


REPAIR = """\
apiVersion: admissionregistration.k8s.io/%s
kind: MutatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}
  reinvocationPolicy: Never
  failurePolicy: Fail
  %s
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        %s[JSONPatch{op: "replace", path: "/spec/topologySpreadConstraints/0/whenUnsatisfiable",
        value: "DoNotSchedule"}]
---
apiVersion: admissionregistration.k8s.io/%s
kind: MutatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p}
"""


@pytest.mark.parametrize(
    ("version", "more", "before", "reason"),
    [
        ("v1", "", "", ""),
        ("v1beta1", "", "", "served only if enabled"),
        ("v1alpha1", "", "", "served only if enabled"),
        ("v1", "", '(true || 1 + "a" == 2) ? [] : ', "spec.mutations[0].jsonPatch.expression: no overload of _+_"),
        ("v1", 'variables: [{name: x, expression: "y"}]', "", "spec.variables[0].expression: undeclared reference"),
        ("v1", 'matchConditions: [{name: x, expression: "true || 1"}]', "", "spec.matchConditions[0].expression"),
        ("v1", 'matchConditions: [{name: x y, expression: "true"}]', "", "spec.matchConditions[0].name"),
    ],
)
def test_only_a_policy_that_the_api_server_takes_repairs_a_workload(
    checkout: Path, version: str, more: str, before: str, reason: str
) -> None:
    app = (APP % (3, ZONE)).replace("        matchLabelKeys: [pod-template-hash]\n", "")
    commit(checkout, "app.yaml", app)
    commit(checkout, "policy.yaml", REPAIR % (version, more, before, version))
    commit(checkout, "app.yaml", app.replace("DoNotSchedule", "ScheduleAnyway"))
    done = run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER)
    verdict, _, rest = done.stdout.partition(":")
    assert (verdict == "yes") == (reason == ""), done.stdout + done.stderr
    assert "counts what only NEW has: MutatingAdmissionPolicy p" in " ".join(rest.split())
    done = run(checkout, "simulate", "-f", "app.yaml", "-f", "policy.yaml", *CLUSTER, "-o", "json")
    assert reason in done.stdout
    assert (json.loads(done.stdout)["verdict"] == "unknown") == (reason != "")
    linted = run(checkout, "lint", "policy.yaml", "-o", "line").stdout
    assert (reason.replace("served ", "") in linted) if reason else ("error" not in linted)


@pytest.mark.parametrize(
    "attribute", ["working-tree-encoding=UTF-7", "ident", "text ident", "\rident", "filter=lfs", "text filter"]
)
def test_a_revision_whose_checkout_has_other_bytes_is_refused(checkout: Path, attribute: str) -> None:
    commit(checkout, "k8s/web.yaml", "")
    commit(checkout, "k8s/.gitattributes", f"# ident\n*.yaml -ident identical\n*.yaml\t{attribute}\n")
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    word = attribute.removeprefix("text ").strip().partition("=")[0]
    assert f'HEAD: k8s/web.yaml: the git attribute "{word}" changes this file in a checkout' in done.stderr
    commit(checkout, "k8s/.gitattributes", '"*.yaml"ident\n')
    assert 'the git attribute "ident" changes this file' in run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER).stderr
    commit(checkout, "k8s/.gitattributes", "# ident\n*.yaml -ident identical !ident eol=lf -filter\n")
    assert run(checkout, "plan", "HEAD~3", "HEAD", *CLUSTER).returncode == 0


@pytest.mark.parametrize("name", [".gitattributes", "k8s/.GitAttributes"])
def test_attributes_in_the_target_of_a_link_are_refused(checkout: Path, name: str) -> None:
    (checkout / "k8s").mkdir()
    (checkout / name).symlink_to("*.yaml working-tree-encoding=UTF-7")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "x")
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"HEAD: {name}: this link may change files in a checkout" in done.stderr


@pytest.mark.parametrize("attribute", ["eol=crlf", "text eol=crlf", "text=auto eol=crlf"])
def test_other_line_ends_are_refused_where_they_may_change_the_meaning(checkout: Path, attribute: str) -> None:
    commit(checkout, ".gitattributes", f"* {attribute}\n")
    assert run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER).returncode == 0
    for name in ("a.json.gz", "web/Chart.yaml", "app/Kustomization"):
        commit(checkout, name, "x: y\n")
        done = run(checkout, "plan", "HEAD", "HEAD", *CLUSTER)
        assert f'HEAD: {name}: the git attribute "eol" changes this file in a checkout' in done.stderr
        git(checkout, "rm", "-q", name)
    commit(checkout, ".gitattributes", f"* {attribute}\n*.gz -text\n")
    commit(checkout, "a.json.gz", "")
    assert "eol" not in run(checkout, "plan", "HEAD", "HEAD", *CLUSTER).stderr


def test_attributes_of_files_that_are_not_read_are_no_matter(checkout: Path) -> None:
    commit(checkout, "tools/build.ps1", "echo")
    commit(checkout, ".gitattributes", "*.c working-tree-encoding=UTF-16\n*.ps1 ident\n")
    assert run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER).returncode == 0


def test_attributes_of_files_that_links_charts_and_kustomizations_may_read_are_refused(checkout: Path) -> None:
    commit(checkout, "other/app.txt", "apiVersion: v1")
    commit(checkout, ".gitattributes", "[attr]strange working-tree-encoding=UTF-7\n*.txt strange\n")
    assert run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER).returncode == 0
    info = checkout / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* !working-tree-encoding\n")
    for name in ("other/Chart.yaml", "other/kustomization.yml"):
        commit(checkout, name, "x: y\n")
        done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
        assert (
            ': other/app.txt: the git attribute "working-tree-encoding" changes this file in a checkout' in done.stderr
        )
        git(checkout, "rm", "-q", name)
    (checkout / "link.yaml").symlink_to("other/app.txt")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "x")
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert ': other/app.txt: the git attribute "working-tree-encoding" changes this file in a checkout' in done.stderr


def test_a_submodule_that_plan_does_not_read_is_named(checkout: Path) -> None:
    git(checkout, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},k8s/other")
    git(checkout, "commit", "-m", "x")
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 0, done.stderr
    assert "k8s/other: a submodule, at 111111111111" in done.stdout
    assert "submodule" not in run(checkout, "plan", "HEAD", "HEAD", *CLUSTER).stdout


@pytest.mark.parametrize("named", ["k8s/web.yaml", "k8s", "link"])
def test_a_path_that_becomes_a_submodule_or_part_of_it_is_named(checkout: Path, named: str) -> None:
    (checkout / "link").symlink_to("k8s")
    commit(checkout, "k8s/web.yaml", APP % (3, ZONE))
    git(checkout, "rm", "-rqf", "k8s")
    git(checkout, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},k8s")
    git(checkout, "commit", "-m", "x")
    done = run(checkout, "plan", "HEAD~1", "HEAD", "-f", named, *CLUSTER)
    assert "k8s: a submodule, at 111111111111" in done.stdout, done.stderr


def test_a_comment_makes_no_hook(checkout: Path) -> None:
    hook = FIXABLE.replace("{name: web}", "{name: web, annotations: {helm.sh/hook: test}}").replace(": 3", ": 9")
    commit(checkout, "app.yaml", hook)
    done = run(checkout, "plan", "HEAD~2", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout[:3]) == (1, "no:"), done.stderr
    commit(checkout, "app.yaml", "# Source: web/templates/app.yaml\n" + hook)
    done = run(checkout, "plan", "HEAD~3", "HEAD", *CLUSTER)
    assert (done.returncode, done.stdout[:3]) == (1, "no:"), done.stderr
    assert "left out" not in done.stdout


def test_an_error_of_a_revision_names_no_temporary_folder(checkout: Path) -> None:
    commit(checkout, "kustomization.yaml", "resources: [app.yaml, ../other.yaml]\n")
    done = run(checkout, "plan", "HEAD~1", "rev:HEAD", *CLUSTER)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: HEAD: kustomization.yaml: ../other.yaml leaves HEAD; name a folder, ")
    commit(checkout, "kustomization.yaml", "kind: Component\n")
    done = run(checkout, "plan", "HEAD~2", "rev:HEAD", *CLUSTER)
    assert done.returncode == 2
    assert "topospread-" not in done.stderr
    assert "--allow-empty" not in done.stderr


def test_a_change_can_make_the_chart_of_a_repository_leave_out_git(checkout: Path) -> None:
    """The old state without the line is judged, or no pull request could add it."""
    programs = checkout.parent / "bin"
    programs.mkdir()
    (programs / "helm").write_text(f"#!/bin/sh\ncat <<'E'\n---\n# Source: web/templates/web.yaml\n{APP % (3, ZONE)}E\n")
    (programs / "helm").chmod(0o755)
    env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    git(checkout, "rm", "-q", "app.yaml")
    commit(checkout, "Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
    commit(checkout, ".helmignore", "/.git/\n")
    done = forked("plan", "HEAD~1", "HEAD", *CLUSTER, "-o", "wide", cwd=checkout, env=env)
    assert done.returncode == 0, done.stderr
    assert "warning: HEAD~1: Helm's templates could read .git" in " ".join(done.stdout.split())
    done = forked("plan", "HEAD", "HEAD~1", *CLUSTER, cwd=checkout, env=env)
    assert done.returncode == 2
    assert "HEAD~1: Helm's templates could read .git, which is hidden from them here" in done.stderr
    assert "add the line .git/ to .helmignore" in done.stderr


def test_the_files_of_a_revision_have_a_limit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MAX_BYTES", 4 << 20)
    commit(checkout, "large.bin", "a" * (5 << 20))
    done = run(checkout, "plan", "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 2
    assert "HEAD: the files of this revision have more than 4 MiB; name a checkout instead" in done.stderr
