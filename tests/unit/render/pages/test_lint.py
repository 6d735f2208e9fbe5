"""What is found, in every form: each finding once, where it stands, and as the readers of the form want it."""

from __future__ import annotations

import json
import os
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.unit.sources.fake_programs import FakePrograms, programs
from topospread.answers.finding import Finding
from topospread.answers.lint import cases, lint_answer
from topospread.cli.explain import rule_json
from topospread.cli.lint import left_out
from topospread.errors import InputError, Place
from topospread.lint.reading import Question
from topospread.lint.rule import Rule
from topospread.lint.rules import RULES
from topospread.lint.run import LintReport, run
from topospread.render.github import github, workflow_command
from topospread.render.junit import junit
from topospread.render.pages.rules import rule_page, rules_page
from topospread.render.sarif import lint_sarif, uri
from topospread.render.text import text as drawn
from topospread.sources.text import shown_path
from topospread.text import for_terminal

__all__ = ["programs"]

ROOT = Path(__file__).parents[4]
# The standard's own schema (OASIS, errata 01), as github.com/owenrumney/go-sarif v3.3.1 carries it (Unlicense); and
# what GitHub code scanning needs beyond it, with the fields that are used and no others.
SARIF = json.loads((Path(__file__).parents[1] / "sarif-schema-2.1.0.json").read_text())
SCANNED = json.loads((Path(__file__).parents[1] / "sarif-2.1.0-subset.schema.json").read_text())
LINT = schema_of("Lint")
LONG = "a" * 100
POD = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: a, labels: {{app: a}}}}
spec:
  containers: [{{name: a, image: a}}]
  topologySpreadConstraints:
  - {{whenUnsatisfiable: DoNotSchedule, topologyKey: {LONG}.example.com/zone, maxSkew: 1, labelSelector: {{}}}}
  # topospread: ignore selector-missing, private-topology-key on purpose
  - {{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}}
---
apiVersion: v1
kind: Pod
metadata: {{name: b}}
spec:
  containers: [{{name: a, image: a}}]
"""
ERROR = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ä}\nspec: {}\n"


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LintReport:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pods.yaml").write_text(POD)
    (tmp_path / "an error.yaml").write_text(ERROR)
    (tmp_path / "values.yaml").write_text("replicas: 3\n")
    (tmp_path / "broken.yaml").write_text("apiVersion: {{ .Values.a }}: [\n")
    return run(Question(paths=["pods.yaml", "an error.yaml", "values.yaml", "broken.yaml"]))


def test_the_findings_that_these_tests_speak_of(outcome: LintReport) -> None:
    assert {(each.rule, each.severity) for each in outcome.findings} >= {
        ("selector-empty", "warning"),
        ("validation", "error"),
    }
    assert len(outcome.ignored) == 2
    assert not outcome.passed


def test_sarif_keeps_to_the_standard_and_what_code_scanning_needs(outcome: LintReport) -> None:
    log = json.loads(json.dumps(lint_sarif(outcome)))
    jsonschema.Draft4Validator(SARIF, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER).validate(log)
    jsonschema.Draft7Validator(SCANNED, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER).validate(log)
    (described,) = log["runs"]
    rules = described["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [rule.id for rule in RULES]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in described["results"])
    assert len(described["results"]) == len(outcome.findings)
    assert not described["invocations"][0]["executionSuccessful"]


def test_text_of_a_manifest_is_no_link_in_sarif() -> None:
    """Code scanning shows ``[text](address)`` as a link, also in a message of plain text."""
    pod = b"{apiVersion: v1, kind: Pod, metadata: {name: '[a](https://a.example)'}, spec: {containers: []}}"
    log = json.dumps(lint_sarif(run(Question(paths=["-"]), BytesIO(pod)))["runs"][0]["results"])
    assert "[a] (https://a.example)" in log
    assert "[a](" not in "".join(each.split('"', 1)[0] for each in log.split('"text": "')[1:])


def test_sarif_names_files_as_they_stand_in_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert uri(str(tmp_path / "an app.yaml")) == "an%20app.yaml"
    assert uri("./a/b.yaml") == "a/b.yaml"
    assert uri("/elsewhere/a.yaml") == "file:///elsewhere/a.yaml"
    assert uri("-") == "stdin"
    for name in ("a\u200b\\u200b.yaml", "a\\\\.yaml", "\n\x1b\udcff.yaml"):
        assert os.fsdecode(unquote_to_bytes(uri(shown_path(name)))) == name


def test_github_takes_no_escaped_name_for_a_file_of_this_name() -> None:
    line = workflow_command("error", Place("a\\u200b.yaml", line=3), "title", "message")
    assert line == "::error title=title::a\\u200b.yaml: message\n"
    line = workflow_command("error", Place("##[error]x.yaml"), "title", "message")
    assert line == "::error title=title::#\\u0023[error]x.yaml: message\n"


def fingerprints(outcome: LintReport) -> list[str]:
    return [each["partialFingerprints"]["topospread/v1"] for each in lint_sarif(outcome)["runs"][0]["results"]]


def test_fingerprints_tell_findings_apart_and_outlive_moved_lines(outcome: LintReport) -> None:
    before = fingerprints(outcome)
    Path("pods.yaml").write_text("# a licence\n\n" + POD)
    assert fingerprints(run(Question(paths=["pods.yaml", "an error.yaml"]))) == before
    assert len(set(before)) == len(before)


def test_json_has_the_documented_form(outcome: LintReport) -> None:
    report = lint_answer(outcome).to_dict()
    jsonschema.Draft202012Validator(LINT).validate(report)
    assert report["summary"]["files"] == 3
    assert report["summary"]["ignored"] == 2
    assert report["leftOut"] == [{"file": "values.yaml", "why": "other"}]
    assert len(report["findings"]) == sum(report["summary"][each] for each in ("errors", "warnings", "hints"))


def test_rules_as_json_name_every_rule() -> None:
    listed = json.loads(json.dumps([rule_json(rule) for rule in RULES]))
    assert [each["id"] for each in listed] == [rule.id for rule in RULES]
    assert all(each["why"] and each["wrong"] and each["right"] for each in listed)


def test_junit_has_a_failure_for_each_finding_that_fails_and_a_pass_for_each_good_object(outcome: LintReport) -> None:
    root = ElementTree.fromstring(junit("topospread lint", cases(outcome)))
    failures = root.findall("testsuite/testcase/failure")
    bad = [each for each in outcome.findings if each.severity != "hint"]
    assert [each.get("message") for each in failures] == [each.message for each in bad]
    names = [each.get("name") for each in root.findall("testsuite[@name='pods.yaml']/testcase")]
    assert "Pod default/b" in names
    assert len(set(names)) == len(names)
    for element in (root, *root.findall("testsuite")):
        played = element.findall(".//testcase")
        assert element.get("tests") == str(len(played))
        assert element.get("failures") == str(len(element.findall(".//failure")))


def test_junit_names_are_unique_and_repeat_no_rule() -> None:
    found = [Finding(level="error", rule="skew<=1", says=each, file="a.yaml", line=3) for each in "abc"]
    root = ElementTree.fromstring(junit("check", {"a.yaml": [("shop/web skew<=1", found)]}))
    names = [each.get("name") for each in root.iter("testcase")]
    assert names == ["shop/web skew<=1", "shop/web skew<=1 (line 3)", "shop/web skew<=1 (2)"]


def test_junit_has_an_error_for_each_file_that_cannot_be_read(outcome: LintReport) -> None:
    unread = [InputError("not YAML", Place("broken.yaml", line=3)), InputError("too large", Place("pods.yaml"))]
    root = ElementTree.fromstring(junit("topospread lint", cases(outcome), unread))
    told = [(suite.get("name"), each.get("message")) for suite in root for each in suite.findall("testcase/error")]
    assert told == [("broken.yaml", "not YAML"), ("pods.yaml", "too large")]
    assert root.get("errors") == "2"


def test_github_shows_findings_beside_their_lines(outcome: LintReport) -> None:
    lines = github(lint_answer(outcome).findings).splitlines()
    assert len(lines) == len(outcome.findings)
    assert any(line.startswith("::warning file=pods.yaml,line=7,col=") for line in lines)
    assert any(line.startswith("::error file=an error.yaml,line=") for line in lines)


def test_lines_have_the_form_that_editors_know(outcome: LintReport) -> None:
    for line, finding in zip(map(str, lint_answer(outcome).findings), outcome.findings, strict=True):
        place = finding.place
        assert line.startswith(f"{place.source}:{place.line}:{place.column}: {finding.severity}: ")
        assert line.endswith(f"[{finding.rule}]")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_text_fits_the_width_and_shows_the_lines_if_it_is_wide(outcome: LintReport, width: int) -> None:
    answer = lint_answer(outcome)
    text = answer.text(width=width)
    # Words are not broken: a name can be copied even where it is longer than a line.
    assert [line for line in text.splitlines() if len(line) > width and " " in line.strip()] == []
    assert " | " not in text
    assert "  7 | " in answer.text(wide=True)
    assert "labelSelector: {}" in answer.text(wide=True)


def test_of_a_long_line_the_part_around_the_column_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "pods.yaml"
    file.write_text(POD.replace("- {whenUn", f"- {{minDomains: {' ' * 500}1, whenUn"))
    kept = [each.text for each in lint_answer(run(Question(paths=[str(file)]))).findings if each.line == 7]
    assert kept
    assert all(len(each) <= 200 for each in kept)
    assert any("labelSelector: {}" in each for each in kept)


def test_the_first_line_says_how_many_there_are(outcome: LintReport) -> None:
    answer = lint_answer(outcome)
    assert answer.verdict == "no"
    assert "in 3 files" in answer.says
    assert "2 ignored" in answer.says


def test_nothing_found_is_said_as_well(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers: [{name: a, image: a}]\n")
    assert lint_answer(run(Question(paths=[str(file)]))).text() == "yes: no findings in 1 file\n"


def test_what_was_judged_is_counted_as_people_count_it(tmp_path: Path, programs: FakePrograms) -> None:
    pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  containers: [{name: a, image: a}]\n"
    for folder, file in (("web", "Chart.yaml"), ("plain", "pods.yaml"), ("built", "kustomization.yaml")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text({"web": "apiVersion: v2\nname: web\nversion: 1.0.0\n"}.get(folder, ""))
    (tmp_path / "plain" / "pods.yaml").write_text(pod % "a" + pod % "b")
    programs.install("helm", pod % "c" + pod % "d" + pod % "e")
    programs.install("kustomize", pod % "f")

    def said(*folders: str) -> str:
        return lint_answer(run(Question(paths=[str(tmp_path / each) for each in folders]))).says

    assert said("plain") == "no findings in 2 objects of 1 file"
    assert said("web") == "no findings in 3 objects of 1 chart"
    assert said("built") == "no findings in 1 object of 1 kustomization"
    assert said("plain", "web", "built") == "no findings in 6 objects of 1 file, 1 chart, 1 kustomization"


def test_colour_adds_marks_and_nothing_else(outcome: LintReport) -> None:
    page = lint_answer(outcome).page()
    coloured = for_terminal(drawn(page, colour=True))
    for code in ("\x1b[1;31m", "\x1b[0m"):
        assert code in coloured
        coloured = coloured.replace(code, "")
    assert coloured == drawn(page)


def test_what_is_left_out_is_named_shortly_with_its_reason(outcome: LintReport) -> None:
    assert left_out(outcome.read) == ["values.yaml: not a Kubernetes object, skipped"]
    outcome.read.left_out |= {f"{at}.yaml": "patch" for at in range(5)}
    assert left_out(outcome.read)[1].startswith("0.yaml, 1.yaml, 2.yaml and 2 more: a kustomization's patch, skipped")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_explained_with_its_examples_in_80_columns(rule: Rule) -> None:
    text = drawn(rule_page(rule))
    prose = [line for line in text.splitlines() if not line.startswith(("  ", "Kubernetes:"))]
    assert [line for line in prose if len(line) > 80 and " " in line.strip()] == []
    words = text.split()
    for part in (rule.sentence, rule.why, rule.link, rule.wrong.manifests, rule.right.manifests):
        assert " ".join(part.split()) in " ".join(words)


def test_the_list_of_rules_has_each_rule_and_its_sentence() -> None:
    words = " ".join(drawn(rules_page(RULES), width=200).split())
    assert all(f"{rule.id} {rule.severity} {rule.sentence}" in words for rule in RULES)


def test_what_came_through_a_pipe_is_found_by_its_document() -> None:
    text = POD.replace("name: a,", "name: first,").replace("name: b", "name: b, labels: {app: b}") + (
        "  topologySpreadConstraints:\n  - {whenUnsatisfiable: DoNotSchedule, topologyKey: a/b, maxSkew: 1}\n"
    )
    answer = lint_answer(run(Question(paths=["-"]), BytesIO(text.encode())))
    assert "17:5 warning: selector-missing (Pod default/b, document 2)" in " ".join(answer.text().split())
    assert any(str(each).endswith(" (Pod default/b) [selector-missing]") for each in answer.findings)


def test_what_no_rule_looks_at_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    claims = "  resourceClaims: [{name: gpu, resourceClaimName: gpu}]\n"
    file.write_text(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: b}}\nspec:\n{claims}  containers: [{{name: a, image: a}}]\n"
    )
    answer = lint_answer(run(Question(paths=[str(file)])))
    assert (answer.verdict, [each.what for each in answer.unjudged]) == ("yes", ["resourceClaims"])
    assert "not judged: no rule looks at the devices of resource claims (Pod default/b)\n" in answer.text()


def test_annotations_contain_no_commands_of_other_pipelines() -> None:
    says = "##vso[task.setvariable variable=PATH]/evil ##[error]a"
    line = github([Finding(level="error", rule="r", says=says, file="a.yaml", object="Pod ##vso[b]")])
    assert line.startswith("::error file=a.yaml,")
    assert "##" not in line
