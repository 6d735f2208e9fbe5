"""`topospread lint` and `topospread explain rules` as users and pipelines run them."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.answer_schema import schema_of
from tests.command import Done, forked
from topospread.lint.rules import RULES

ROOT = Path(__file__).parent.parent.parent
SCHEMA = schema_of("Lint")
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {app: a}}
spec:
  containers: [{name: a, image: a}]
"""
CONSTRAINT = """\
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: %s
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: a}}
"""
GOOD = POD + CONSTRAINT % "topology.kubernetes.io/zone"
HINTED = POD + CONSTRAINT % "rack"
WARNED = POD + CONSTRAINT % "failure-domain.beta.kubernetes.io/zone"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 3
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: a, image: a}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: %s
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: a}}
"""
REFUSED = POD.replace("image: a", "image: ''")

LEVELS = ("error", "warning", "hint")


def run(*words: str | Path, folder: Path, stdin: str = "", env: Mapping[str, str] | None = None) -> Done:
    return forked(*words, cwd=folder, env={"PATH": os.environ["PATH"]} | (env or {}), stdin=stdin)


@pytest.mark.parametrize(
    ("manifest", "code"),
    [(GOOD, 0), (HINTED, 0), (WARNED, 1), (REFUSED, 1), ("apiVersion: {{ x }}: [", 2), ("a: 1", 2), ("", 2)],
)
def test_exit_codes(tmp_path: Path, manifest: str, code: int) -> None:
    (tmp_path / "app.yaml").write_text(manifest)
    done = run("lint", "app.yaml", folder=tmp_path)
    assert done.returncode == code
    again = run("lint", "-f", "app.yaml", folder=tmp_path)
    assert (again.returncode, again.stdout) == (done.returncode, done.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.yaml"], "nowhere.yaml"),
        (["app.yaml", "-f", "nowhere.yaml"], "nowhere.yaml"),
        (["app.yaml", "--select", "selector-emtpy"], "did you mean selector-empty?"),
        (["app.yaml", "--ignore", "x"], "--ignore: unknown rule 'x'"),
        (["app.yaml", "--on", "zones=many"], "--on"),
        (["app.yaml", "--kube-version", "1.4"], "1.4"),
        (["app.yaml", "--config", "app.yaml"], "expected one KubeSchedulerConfiguration, found none"),
        (["app.yaml", "--settings", "app.yaml"], "app.yaml: apiVersion: unknown field 'apiVersion'"),
        (["-", "-"], "- is given twice"),
        (["-", "--on", "-"], "- is given twice"),
        (["-", "--fix"], "--fix cannot change standard input"),
        (["app.yaml", "-o", "xml"], "xml"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "app.yaml").write_text(GOOD)
    done = run("lint", *words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [("vap", ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]), ("kyverno", ["ClusterPolicy"])],
)
def test_policies_are_printed_and_what_is_not_in_them(tmp_path: Path, kind: str, kinds: list[str]) -> None:
    done = run("policies", "--for", kind, "--select", "selector-missing,group-differs", folder=tmp_path)
    assert done.returncode == 0
    assert [each["kind"] for each in yaml.safe_load_all(done.stdout)] == kinds
    assert "#   group-differs: it compares the object with others" in done.stdout
    assert "note: group-differs is in no policy: it compares" in done.stderr
    assert "note: 1 rule is a policy, 1 cannot be" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explain", "selector-emtpy"], "did you mean selector-empty?"),
        (["explain", "minDomains", "-o", "json"], "-o json is for: topospread explain rules"),
        (["policies", "--for", "opa"], "opa"),
        (["policies", "--for", "vap", "--select", "group-differs"], "none of these rules can be expressed in CEL"),
        (["policies", "--for", "vap", "app.yaml"], "app.yaml is a file"),
    ],
)
def test_bad_words_for_rules_are_one_message(tmp_path: Path, words: list[str], said: str) -> None:
    done = run(*words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_broken_file_does_not_hide_what_the_others_have(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("apiVersion: {{ x }}: [")
    (tmp_path / "warned.yaml").write_text(WARNED)
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    done = run("lint", folder=tmp_path)
    assert done.returncode == 2
    assert "beta-topology-key" in done.stdout
    assert done.stderr.startswith("error: ./broken.yaml")
    assert "note: ./values.yaml: not a Kubernetes object, skipped" in done.stderr


def test_a_file_that_cannot_be_read_makes_the_answer_unknown_unless_findings_decide(tmp_path: Path) -> None:
    (tmp_path / "utf16.yaml").write_bytes(b"\xff\xfek\x00")
    done = run("lint", "--select", "beta-topology-key", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "unknown: no findings in 0 files; 1 file could not be read\n")
    (tmp_path / "warned.yaml").write_text(WARNED)
    done = run("lint", "--select", "beta-topology-key", folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith("no: 1 warning in 1 file; 1 file could not be read")


def test_standard_input_is_linted(tmp_path: Path) -> None:
    done = run("lint", "-", "-o", "line", folder=tmp_path, stdin=WARNED)
    assert done.stdout.startswith("-:8:5: warning: ")
    assert done.returncode == 1


def test_nothing_to_lint_can_be_expected(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    done = run("lint", "values.yaml", "--allow-empty", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "yes: no findings in 0 files\n")


@pytest.mark.parametrize("output", ["json", "sarif", "junit", "github", "line", "text"])
def test_every_format_goes_to_stdout_with_the_same_exit_code(tmp_path: Path, output: str) -> None:
    (tmp_path / "app.yaml").write_text(WARNED)
    done = run("lint", "app.yaml", "-o", output, folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "app.yaml" in done.stdout
    assert "beta-topology-key" in done.stdout


def test_the_page_shows_a_finding_as_it_is_written() -> None:
    page = (ROOT / "docs/reference/lint.md").read_text()
    shown = json.loads(page.partition("```json\n")[2].partition("```")[0])
    report = json.loads(run("lint", shown["file"], "-o", "json", folder=ROOT).stdout)
    assert shown in report["findings"]


def test_github_knows_files_by_their_path_in_the_repository(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WARNED)
    assert run("lint", "-o", "github", folder=tmp_path).stdout.startswith("::warning file=app.yaml,line=8,")


def test_github_shows_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text("kind: [\n")
    done = run("lint", "-o", "github", folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout.startswith("::error file=app.yaml,line=2,")


def test_json_has_the_documented_form(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WARNED)
    report = json.loads(run("lint", "app.yaml", "-o", "json", "--kube-version", "1.30", folder=tmp_path).stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report["on"]["kubeVersion"] == "1.30"


def test_diff_shows_what_fix_does(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(WARNED)
    shown = run("lint", "app.yaml", "--diff", folder=tmp_path)
    assert shown.returncode == 1
    assert "+    topologyKey: topology.kubernetes.io/zone\n" in shown.stdout
    assert app.read_text() == WARNED
    done = run("lint", "app.yaml", "--fix", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "fixed: app.yaml: beta-topology-key\n")
    assert app.read_text() == GOOD
    assert run("lint", "app.yaml", "--diff", folder=tmp_path).stdout == ""


def test_only_what_is_bad_enough_is_fixed(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(DEPLOYMENT % "failure-domain.beta.kubernetes.io/zone")
    run("lint", "app.yaml", "--fix", "--level", "warning", folder=tmp_path)
    assert app.read_text() == DEPLOYMENT % "topology.kubernetes.io/zone"
    run("lint", "app.yaml", "--fix", folder=tmp_path)
    assert app.read_text().endswith("        matchLabelKeys: [pod-template-hash]\n")


def test_patch_takes_the_diff(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WARNED)
    diff = run("lint", "app.yaml", "--diff", folder=tmp_path).stdout
    subprocess.run(["patch", "-p0"], cwd=tmp_path, input=diff, text=True, check=True, capture_output=True)
    assert (tmp_path / "app.yaml").read_text() == GOOD


def test_settings_in_the_repository_are_found(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(HINTED)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.topospread.lint]\nseverity = { private-topology-key = 'error' }\nkube-version = '1.33'\n"
    )
    done = run("lint", "app.yaml", "-o", "json", folder=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert (report["on"]["kubeVersion"], report["findings"][0]["level"]) == ("1.33", "error")
    ignored = run("lint", "app.yaml", "--ignore", "private-topology-key", folder=tmp_path)
    assert ignored.stdout == "yes: no findings in 1 file\n"


def test_only_what_is_bad_enough_is_shown(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WARNED + "---\n" + HINTED.replace("name: a,", "name: b,"))
    shown = {level: run("lint", "app.yaml", "-o", "line", "--level", level, folder=tmp_path) for level in LEVELS}
    found = {level: {line.split(": ")[1] for line in done.stdout.splitlines()} for level, done in shown.items()}
    assert found == {"error": set(), "warning": {"warning"}, "hint": {"warning", "hint"}}
    assert [done.returncode for done in shown.values()] == [0, 1, 1]


def test_rules_are_completed(tmp_path: Path) -> None:
    env = {"_TOPOSPREAD_COMPLETE": "bash_complete", "COMP_WORDS": "topospread lint --ignore validation,selector-no"}
    done = run(folder=tmp_path, env=env | {"COMP_CWORD": "3"})
    assert done.stdout == "plain,validation,selector-not-own\n"


def test_a_cluster_is_held_against_and_not_judged(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(HINTED)
    done = run("lint", "app.yaml", "--on", "zones=3", "-o", "line", folder=tmp_path)
    assert "topology-key-on-no-node" in done.stdout
    assert all(line.startswith("app.yaml:") for line in done.stdout.splitlines())


def test_a_cluster_may_come_from_standard_input(tmp_path: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "a"}}}
    (tmp_path / "app.yaml").write_text(WARNED)
    for option in ("-oline", "--diff"):
        done = run("lint", "app.yaml", "--on", "-", option, folder=tmp_path, stdin=json.dumps(node))
        assert (done.returncode, done.stderr) == (1, "")
        assert ("topology-key-on-no-node" in done.stdout) == (option != "--diff")


def test_the_rules_are_listed_and_explained(tmp_path: Path) -> None:
    names = run("explain", "rules", "-o", "name", folder=tmp_path).stdout.split()
    assert names == [rule.id for rule in RULES]
    listed = run("explain", "rules", folder=tmp_path).stdout
    assert max(map(len, listed.splitlines())) <= 80
    assert json.loads(run("explain", "rules", "-o", "json", folder=tmp_path).stdout)["items"][0]["id"] == names[0]
    explained = run("explain", names[1], folder=tmp_path)
    assert explained.returncode == 0
    assert explained.stdout.startswith(names[1])


def test_the_rules_pages_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("write_rules", ROOT / "docs/reference/write_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = ROOT / "docs/reference/rules"
    assert {path.name: path.read_text() for path in folder.glob("*.md")} == module.pages()


def test_the_action_lints_and_writes_sarif(tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [each for each in action["runs"]["steps"] if each["id"] == "judge"]
    expressions = {name: text.removeprefix("${{ ").removesuffix(" }}") for name, text in step["env"].items()}
    named = {name: text.removeprefix("inputs.") for name, text in expressions.items() if text.startswith("inputs.")}
    given = {name: action["inputs"][each]["default"] for name, each in named.items()}
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "app.yaml").write_text(WARNED)
    (tmp_path / "temp" / "topospread" / "bin").mkdir(parents=True)
    (tmp_path / "temp" / "topospread" / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "temp" / "topospread" / "bin" / "python").chmod(0o755)
    env = given | {"RUNNER_TEMP": str(tmp_path / "temp"), "PATH": os.environ["PATH"]}
    env |= {"PATHS": "a folder\n", "SARIF": "out.sarif", "KUBE_VERSION": "1.32"}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(script, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    removed = {line for line in lines if line.startswith("::remove-matcher ")}
    assert {"::remove-matcher owner=python::", "::remove-matcher owner=go::"} <= removed
    first = next(line for line in lines if line not in removed)
    assert first.startswith("::warning file=a folder/app.yaml,line=8,col=5,")
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"


def test_the_action_renders_charts_with_its_values(tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (step,) = [each for each in steps if each["id"] == "judge"]
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    helm = tmp_path / "temp" / "topospread" / "bin" / "helm"
    helm.parent.mkdir(parents=True)
    helm.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat {tmp_path}/made\n')
    helm.chmod(0o755)
    (tmp_path / "made").write_text(WARNED)
    (helm.parent / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (helm.parent / "python").chmod(0o755)
    names = ("CLUSTER", "CONFIG", "KUBE_VERSION", "SETTINGS", "SARIF", "BASE", "RENDER_HELM", "RENDER_NETWORK", "PLAN")
    env = {
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "PATH": f"{helm.parent}:{os.environ['PATH']}",
        **dict.fromkeys(names, ""),
    }
    env |= {"PATHS": "chart", "HELM_VALUES": "a b.yaml\nc.yaml\n", "HELM_SET": "x=1\n", "RAW": "false"}
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(script, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "--values=a b.yaml --values=c.yaml --set=x=1" in (tmp_path / "words").read_text()
    (tmp_path / "words").unlink()
    done = subprocess.run(
        script,
        cwd=tmp_path,
        env=env | {"RAW": "true", "HELM_VALUES": "", "HELM_SET": ""},
        capture_output=True,
        check=False,
    )
    assert not (tmp_path / "words").exists(), done.stderr


HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


@pytest.mark.parametrize("manifest", [GOOD, WARNED, "replicas: 3\n"])
def test_the_hooks_take_the_files_of_a_commit(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "app.yaml").write_text(manifest)
    for hook in HOOKS:
        python, isolated, module, program, *words = shlex.split(hook["entry"]) + hook["args"]
        assert (python, isolated, module, program) == ("python", "-I", "-m", "topospread")
        done = run(*words, "app.yaml", folder=tmp_path)
        assert done.returncode == int(manifest == WARNED and "--fix" not in words), done.stderr


def test_the_hook_of_charts_takes_any_file(tmp_path: Path) -> None:
    (hook,) = [each for each in HOOKS if each["id"] == "topospread-lint-charts"]
    assert not hook.keys() & {"files", "types", "types_or"}
    (tmp_path / "README.md").write_text("{{ a")
    done = run(*shlex.split(hook["entry"])[4:], *hook["args"], "README.md", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "yes: no findings in 0 files\n"), done.stderr


@pytest.mark.parametrize("form", ["json", "yaml", "text", "junit"])
def test_a_file_name_that_is_not_utf_8_is_escaped(tmp_path: Path, form: str) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/k\xff.yaml")).write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    )
    done = run("lint", ".", "-o", form, "--allow-empty", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_name_is_no_line_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "b.yaml:3:1: error: forged.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    done = run("lint", ".", "-o", "line", folder=tmp_path)
    assert done.stdout.startswith(r"./b.yaml\u003a3\u003a1\u003a error\u003a forged.yaml:")


def test_the_most_severe_finding_is_first_and_is_the_rule_to_explain(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text((ROOT / "docs/reference/lint/web.yaml").read_text())
    shown = run("lint", "web.yaml", folder=tmp_path).stdout.splitlines()
    levels = [line.split()[1].rstrip(":") for line in shown if line[:1].isdigit()]
    assert levels == ["warning", "warning", "hint", "hint"]
    assert shown[0].endswith("(--fix corrects 2, --unsafe-fixes 1 more)")
    assert 'suggested: labelSelector.matchLabels[app]: "web" (--fix --unsafe-fixes)' in shown
    assert shown[-1] == "why a rule: topospread explain beta-topology-key"
    alone = run("lint", "web.yaml", "--unsafe-fixes", folder=tmp_path)
    assert (alone.returncode, alone.stderr) == (2, "error: --unsafe-fixes requires --fix or --diff\n")
