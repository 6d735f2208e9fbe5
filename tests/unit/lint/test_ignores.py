"""Ignores keep from being reported what they cover, nothing else, and are reported themselves when they are idle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from topospread.answers.lint import lint_answer
from topospread.lint import ignores
from topospread.lint.rule import Finding
from topospread.lint.run import Question, lint, run

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a, labels: {{app: a}}}}
spec:
  containers: [{{name: a, image: a}}]
  topologySpreadConstraints:{0}
  - maxSkew: 1{1}
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {{}}{2}
  - maxSkew: 1
    topologyKey: rack
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {{}}
"""
IGNORE = "  # topospread: ignore selector-empty it counts everything on purpose"


def found(tmp_path: Path, text: str, name: str = "pod.yaml") -> list[tuple[str, int | None]]:
    (tmp_path / name).write_text(text)
    return [
        (each.rule, each.place.line)
        for each in lint(str(tmp_path / name))
        if "empty" in each.rule or "ignore" in each.rule
    ]


def test_without_ignores_everything_is_reported(tmp_path: Path) -> None:
    assert found(tmp_path, POD.format("", "", "")) == [("selector-empty", 10), ("selector-empty", 14)]


@pytest.mark.parametrize(
    ("where", "left"),
    [
        (("", "", IGNORE), [("selector-empty", 14)]),
        (("", IGNORE, ""), [("selector-empty", 14)]),
        ((IGNORE, "", ""), []),
        (("\n" + IGNORE, "", ""), [("selector-empty", 15)]),
        (("", "\n" + IGNORE, ""), [("unused-ignore", 8), ("selector-empty", 11), ("selector-empty", 15)]),
    ],
    ids=["field", "constraint", "list", "above-the-constraint", "above-another-field"],
)
def test_a_comment_covers_what_begins_on_its_line_or_the_next(
    tmp_path: Path, where: tuple[str, str, str], left: list[tuple[str, int]]
) -> None:
    assert found(tmp_path, POD.format(*where)) == left


@pytest.mark.parametrize("before", ["", "---\n", "# a licence\n\n"])
def test_a_comment_above_an_object_covers_that_object_and_no_other(tmp_path: Path, before: str) -> None:
    pod = POD.format("", "", "")
    text = f"{before}# topospread: ignore selector-empty all of it\n{pod}---\n{pod}"
    assert [rule for rule, _ in found(tmp_path, text)] == ["selector-empty", "selector-empty"]


def test_an_annotation_covers_its_object_in_json_too(tmp_path: Path) -> None:
    def pod(annotations: dict[str, str]) -> dict[str, object]:
        constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
        spec = {"containers": [{"name": "a", "image": "a"}], "topologySpreadConstraints": [constraint]}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "annotations": annotations},
            "spec": spec,
        }

    silent = pod({"topospread.dev/ignore": "selector-missing,selector-empty: on purpose; pod-unowned"})
    items = {"apiVersion": "v1", "kind": "List", "items": [silent, pod({})]}
    rules = [rule for rule, _ in found(tmp_path, json.dumps(items), "pods.json")]
    assert rules.count("selector-empty") == 1
    assert rules.count("unused-ignore") == 1
    assert rules.count("unknown-ignore") == 1


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("selector-emtpy", "unknown rule 'selector-emtpy'; did you mean selector-empty?"),
        ("", "the comment names no rule"),
        ("as we agreed", "unknown rule 'as'; write the comment as # topospread: ignore RULE reason"),
    ],
)
def test_an_ignore_that_names_no_rule_is_reported(tmp_path: Path, comment: str, words: str) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(POD.format("", f" # topospread: ignore {comment}", ""))
    (finding,) = (each for each in lint(str(file)) if each.rule == "unknown-ignore")
    assert words in finding.message
    assert (finding.place.line, finding.place.column) == (7, 16)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "because drains wait",
            "unknown rule 'because'; write the annotation as topospread.dev/ignore: \"RULE reason\"",
        ),
        ("?", 'the annotation names no rule; write it as topospread.dev/ignore: "RULE reason"'),
        ("no-budget", "no-budget has no finding here; remove it from the annotation"),
    ],
)
def test_the_message_about_an_annotation_says_how_to_write_it(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(
        POD.format("", "", "").replace("{name: a,", f'{{name: a, annotations: {{topospread.dev/ignore: "{text}"}},')
    )
    assert words in [each.message for each in lint(str(file)) if each.rule.endswith("-ignore")]


def test_a_rule_that_was_not_asked_leaves_its_ignores_alone(tmp_path: Path) -> None:
    text = POD.format("", " # topospread: ignore topology-key-nowhere checked in the cluster only", "")
    assert "unused-ignore" not in [rule for rule, _ in found(tmp_path, text)]


def test_what_stands_in_a_string_is_no_comment(tmp_path: Path) -> None:
    text = POD.format("", "", "").replace("{name: a,", '{name: a, annotations: {x: "a # topospread: ignore b"},')
    assert [rule for rule, _ in found(tmp_path, text)] == ["selector-empty", "selector-empty"]


def test_a_comment_in_a_config_map_covers_the_configuration_in_it(tmp_path: Path) -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  config.yaml: |\n"
        "    apiVersion: kubescheduler.config.k8s.io/v1\n    kind: KubeSchedulerConfiguration\n"
        "    # topospread: ignore validation tried on purpose\n    percentageOfNodesToScore: 200\n"
    )
    assert found(tmp_path, text) == []
    (tmp_path / "bare.yaml").write_text(text.replace("# topospread", "#"))
    assert [each.rule for each in lint(str(tmp_path / "bare.yaml"))] == ["validation"]


def test_an_idle_ignore_is_reported_once(tmp_path: Path) -> None:
    text = (
        "# topospread: ignore validation tried on purpose\n"
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    assert found(tmp_path, text) == [("unused-ignore", 1)]


def test_what_is_ignored_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(POD.format(IGNORE, "", ""))
    outcome = run(Question(paths=[str(file)]))
    assert len(outcome.ignored) == 2
    findings: list[Finding] = outcome.findings
    assert all(each.rule != "selector-empty" for each in findings)


def test_an_ignored_finding_is_shown_with_its_rule_place_and_reason(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(POD.format(IGNORE, "", ""))
    answer = lint_answer(run(Question(paths=[str(file)])))
    assert {(each.rule, each.file, each.reason) for each in answer.ignored} == {
        ("selector-empty", str(file), "it counts everything on purpose")
    }
    assert "(reason: it counts everything on purpose)" in " ".join(answer.text(wide=True).split())
    assert "it counts everything on purpose" not in answer.text()


def test_ignores_beyond_the_limit_suppress_nothing_and_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ignore takes time and memory, and hundreds of thousands fit into a file."""
    monkeypatch.setattr(ignores, "MOST_IGNORES", 3)
    others = "# topospread: ignore beta-topology-key x\n" * 3
    wanted = [("unused-ignore", 1), ("unused-ignore", 2), ("unused-ignore", 3)]
    wanted += [("selector-empty", 13), ("unknown-ignore", 13), ("selector-empty", 17)]
    assert found(tmp_path, others + POD.format("", "", IGNORE)) == wanted


def test_an_ignore_covers_no_file_whose_name_is_escaped_alike(tmp_path: Path) -> None:
    (tmp_path / "x\u200b.yaml").write_text(POD.format("", "", ""))
    (tmp_path / "x\\u200b.yaml").write_text(POD.format("", "", IGNORE + "\n" * 2))
    found = [each for each in lint(str(tmp_path)) if each.rule == "selector-empty"]
    assert len({each.place.source for each in found}) == 2
    assert len(found) == 3
