"""GitHub's workflows and our Action: valid, found safe by zizmor, and made of pinned parts only."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.release.pythons import EMPTY, INSTALLER, ROOT, UV

ZIZMOR = UV.parent / "zizmor"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yaml"))
ACTION = ROOT / "action.yml"
SHOWN = [
    path
    for folder, pattern in (("docs", "*.md"), ("examples", "*.yaml"))
    for path in sorted((ROOT / folder).rglob(pattern))
    if " uses: " in path.read_text()
]
"""Documents and examples with steps for the reader's own workflow."""
OWN = "OWNER/topospread@COMMIT # VERSION"
USES = re.compile(r"^\s*(?:- )?uses: (.*)$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    words = [ZIZMOR, "--offline", "--no-progress", "--color", "never", "--persona", "pedantic", *paths]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_workflows_are_what_github_takes(release_programs: Path) -> None:
    done = subprocess.run([release_programs / "actionlint", *WORKFLOWS], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
    for name in ("ci", "release"):
        assert "run: .ci/run" in (ROOT / f".github/workflows/{name}.yaml").read_text()


def test_zizmor_finds_nothing() -> None:
    done = zizmor(*WORKFLOWS, ACTION, ROOT / ".github/dependabot.yml")
    assert (done.stdout.strip(), done.returncode) == ("No findings to report. Good job!", 0), done.stdout + done.stderr


def test_zizmor_can_fail(tmp_path: Path) -> None:
    workflow = tmp_path / ".github/workflows/ci.yaml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(WORKFLOWS[0].read_text() + "      - run: echo ${{ github.event.pull_request.title }}\n")
    done = zizmor(workflow)
    assert done.returncode != 0
    assert "template-injection" in done.stdout


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION, *SHOWN], ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_with_their_version(path: Path) -> None:
    found = USES.findall(path.read_text())
    assert found
    assert [each for each in found if each != OWN and not PINNED.fullmatch(each)] == []


def test_one_repository_has_one_pin() -> None:
    found = {each for path in [*WORKFLOWS, ACTION, *SHOWN] for each in USES.findall(path.read_text())}
    pins = {("/".join(each.split("@")[0].split("/")[:2]), each.split("@")[1]) for each in found}
    assert len(pins) == len({repository for repository, _ in pins})


@pytest.mark.parametrize(
    ("workflow", "action"),
    [
        ("codeql.yaml", "github/codeql-action/analyze@"),
        ("scorecard.yaml", "ossf/scorecard-action@"),
        ("release.yaml", "actions/attest@"),
    ],
)
def test_the_code_is_analysed_and_what_is_released_is_attested(workflow: str, action: str) -> None:
    text = (ROOT / ".github/workflows" / workflow).read_text()
    assert [each for each in USES.findall(text) if each.startswith(action)]
    assert workflow != "release.yaml" or "sbom-path:" in text


def test_the_build_backend_has_a_hash() -> None:
    (required,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    for name in ("build.txt", "release.txt", "dev.txt"):
        assert f"\n{required} \\\n    --hash=sha256:" in (ROOT / "requirements" / name).read_text()


def test_the_action_installs_from_hashes_only(tmp_path: Path) -> None:
    (step,) = [each for each in yaml.safe_load(ACTION.read_text())["runs"]["steps"] if "pip" in each.get("run", "")]
    variables = {"PYTHON": sys.executable, "RUNNER_TEMP": str(tmp_path), "GITHUB_ACTION_PATH": str(ROOT)}
    subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=INSTALLER | variables, check=True)
    program = tmp_path / "topospread/bin/topospread"
    done = subprocess.run([program, "--version"], env=EMPTY, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("topospread ")
    installs = step["run"].replace("\\\n", " ").split('"${pip[@]}"')[1:]
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert {"--no-deps", "--no-index", "--no-build-isolation"} <= set(installs[1].split())
