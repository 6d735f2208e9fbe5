"""Fixes change what they are about and nothing else: comments, quotes, indentation and other objects stay."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from tests.drawn import drawn
from topospread.errors import InputError
from topospread.lint.edits import changed, splice_of
from topospread.lint.fixing import FixedText, TextEditor, mend, unified_diff
from topospread.lint.layout import documents_of
from topospread.lint.lint_input import LintInput, LintSubject
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.reading import Question
from topospread.lint.rule import Rule
from topospread.lint.rules import RULES
from topospread.lint.settings import Settings
from topospread.sources.files import Source
from topospread.sources.text import Text
from topospread.sources.yaml import read_documents


def edited(text: str, *edits: FieldEdit, as_json: bool = False) -> str | None:
    """The text with edits made one after another; None when one cannot be made."""
    for edit in edits:
        splice = splice_of(edit, documents_of(text.encode())[0], text, as_json=as_json)
        if splice is None:
            return None
        text = text[: splice.start] + splice.text + text[splice.end :]
    return text


def value_of(text: str) -> object:
    return next(iter(read_documents(Text("", text.encode())))).value


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("a: old # why\n", FieldEdit("replace", "a", "new/x"), "a: new/x # why\n"),
        ("a: 'old'\n", FieldEdit("replace", "a", "it's"), "a: 'it''s'\n"),
        ('a: "old"\n', FieldEdit("replace", "a", "new"), 'a: "new"\n'),
        ("a: old\n", FieldEdit("replace", "a", "yes"), 'a: "yes"\n'),
        ("a: old\n", FieldEdit("replace", "a", 3), "a: 3\n"),
        ("a: {b: c}\n", FieldEdit("replace", "a.b", "d"), "a: {b: d}\n"),
        ("- a: x\n- a: y\n", FieldEdit("replace", "[1].a", "z"), "- a: x\n- a: z\n"),
        ("a:\n- x\n- y\n", FieldEdit("replace", "a[1]", "z"), "a:\n- x\n- z\n"),
        ("a:\nb: 1\n", FieldEdit("replace", "a", "x"), "a: x\nb: 1\n"),
        (
            "l:\n- a: 1  # one\n  # end\n",
            FieldEdit("add", "l[0].b", [1, "x"]),
            "l:\n- a: 1  # one\n  b: [1, x]\n  # end\n",
        ),
        ("a: 1", FieldEdit("add", "b", {"c": {"d": "e"}}), "a: 1\nb:\n  c:\n    d: e"),
        ("a: 1\r\nb: 2\r\n", FieldEdit("add", "c", 3), "a: 1\r\nb: 2\r\nc: 3\r\n"),
        ("a:\n  b: |\n    text\nc: 1\n", FieldEdit("add", "a.d", 2), "a:\n  b: |\n    text\n  d: 2\nc: 1\n"),
        ("a: {b: 1} # x\n", FieldEdit("add", "a.c", ["d e"]), 'a: {b: 1, c: ["d e"]} # x\n'),
        ("a: {}\n", FieldEdit("add", "a.c", 1), "a: {c: 1}\n"),
        ("a: [1]\n", FieldEdit("add", "a[-]", 2), "a: [1, 2]\n"),
        ("a:\n  - 1 # x\nb: 2\n", FieldEdit("add", "a[-]", "c"), "a:\n  - 1 # x\n  - c\nb: 2\n"),
        ("a:\n- 1\n", FieldEdit("add", "a[-]", 2), "a:\n- 1\n- 2\n"),
        ("a: 1\nb: 2 # x\nc: 3\n", FieldEdit("remove", "b"), "a: 1\nc: 3\n"),
        ("a: 1\nb:\n- 2\n- 3\n", FieldEdit("remove", "b"), "a: 1\n"),
        ("l:\n- a: 1\n  b: 2\n", FieldEdit("remove", "l[0].a"), "l:\n- b: 2\n"),
        ("l:\n- 1\n- 2\n- 3\n", FieldEdit("remove", "l[1]"), "l:\n- 1\n- 3\n"),
        ("a: {b: 1, c: 2, d: 3}\n", FieldEdit("remove", "a.c"), "a: {b: 1, d: 3}\n"),
        ("a: {b: 1, c: 2}\n", FieldEdit("remove", "a.c"), "a: {b: 1}\n"),
        ("a: [1, 2]\n", FieldEdit("remove", "a[0]"), "a: [2]\n"),
    ],
)
def test_an_edit_changes_its_field_and_leaves_the_rest(before: str, edit: FieldEdit, after: str) -> None:
    assert edited(before, edit) == after
    assert value_of(after) == changed(value_of(before), edit)


@pytest.mark.parametrize(
    ("before", "edit"),
    [
        ("a: &x old\nb: *x\n", FieldEdit("replace", "a", "new")),
        ("a: &x old\nb: *x\n", FieldEdit("replace", "b", "new")),
        ("a: !!str old\n", FieldEdit("replace", "a", "new")),
        ("a: |\n  old\n", FieldEdit("replace", "a", "new")),
        ("a:\n  b: 1\n", FieldEdit("replace", "a", {})),
        ("a:\n  b: 1\nc: 2\n", FieldEdit("remove", "a.b")),
        ("l:\n- a: 1\n  # of b\n  b: 2\n", FieldEdit("remove", "l[0].a")),
        ("a: 1\n", FieldEdit("replace", "b", 1)),
        ("a: 1\n", FieldEdit("remove", "b")),
        ("a: 1\n", FieldEdit("add", "a.b", 1)),
        ("a: 1\n", FieldEdit("add", "x.b", 1)),
    ],
)
def test_what_takes_somebody_who_reads_it_is_left_alone(before: str, edit: FieldEdit) -> None:
    assert edited(before, edit) is None


def test_json_stays_json() -> None:
    before = '{\n  "a": {\n    "b": "old",\n    "c": [\n      1\n    ]\n  }\n}\n'
    edits = (FieldEdit("replace", "a.b", "new"), FieldEdit("add", "a.c[-]", "x"), FieldEdit("add", "a.d", {"e": True}))
    after = '{\n  "a": {\n    "b": "new",\n    "c": [\n      1,\n      "x"\n    ],\n    "d": {"e": true}\n  }\n}\n'
    assert edited(before, *edits, as_json=True) == after


KEYS = st.sampled_from(["a", "b-c", "d.e/f", "1", "yes"])
SCALARS = st.one_of(st.integers(-5, 5), st.booleans(), st.sampled_from(["x", "no", "a: b", "", "1", "ä '\"", "null"]))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=4
)


@drawn(30)
@given(value=VALUES, flow=st.booleans())
def test_any_value_can_be_added(value: object, flow: bool) -> None:
    before = "l: {k: 1}\n" if flow else "l:\n  k: 1\n"
    edit = FieldEdit("add", "l.new", value)
    after = edited(before, edit)
    assert after is not None
    assert value_of(after) == {"l": {"k": 1, "new": value}}


def mended(text: str, select: frozenset[str] | None = None, cluster: str = "", version: str = "1.37") -> str:
    question = Question(paths=["-"], settings=Settings(select=select), cluster=cluster or None, kube_version=version)
    _, changes = mend(question, BytesIO(text.encode()))
    return changes[0].after if changes else text


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.fix], ids=lambda rule: rule.id)
def test_a_rules_fix_leaves_nothing_for_the_rule_to_find(rule: Rule) -> None:
    example = rule.wrong
    question = Question(paths=["-"], cluster=example.cluster or None, kube_version=example.kube_version or "1.37")
    outcome, changes = mend(question, BytesIO(example.manifests.encode()))
    assert len(changes) == 1
    assert [str(each) for each in outcome.findings if each.rule == rule.id] == []


BETA = frozenset({"beta-topology-key"})
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a, labels: {{app: a}}}}
spec:
  containers: [{{name: a, image: a}}]
  topologySpreadConstraints:
  - maxSkew: 1 # one
    topologyKey: {0}
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {{matchLabels: {{app: a}}}}
"""
OLD, NEW = "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"


def test_every_document_is_fixed_and_no_other_changes() -> None:
    text = "# head\n---\n" + POD.format(OLD) + "---\n# between\n" + POD.format("x/y") + "---\n" + POD.format(f"'{OLD}'")
    assert mended(text, BETA) == text.replace(OLD, NEW)


def test_an_anchor_that_others_repeat_is_left_alone() -> None:
    text = POD.format(f"&key {OLD}") + "---\n" + POD.format(OLD)
    assert mended(text, BETA) == POD.format(f"&key {OLD}") + "---\n" + POD.format(NEW)


def test_items_of_a_json_list_are_fixed() -> None:
    constraint = (
        f'{{"maxSkew": 1, "topologyKey": "{OLD}", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {{}}}}'
    )
    spec = f'{{"containers": [{{"name": "ä", "image": "a"}}], "topologySpreadConstraints": [{constraint}]}}'
    pod = f'{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "ü"}}, "spec": {spec}}}'
    text = f'{{"apiVersion": "v1", "kind": "List", "items": [\n{pod},\n{pod}]}}'
    assert mended(text, BETA) == text.replace(OLD, NEW)


def test_a_file_keeps_its_mode_its_mark_and_its_link(tmp_path: Path) -> None:
    file, link = tmp_path / "pod.yaml", tmp_path / "link.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + POD.format(OLD).encode())
    file.chmod(0o640)
    link.symlink_to(file)
    _, (change,) = mend(Question(paths=[str(link)]))
    change.write()
    assert file.read_bytes().startswith(b"\xef\xbb\xbfapiVersion")
    assert NEW in file.read_text()
    assert (file.stat().st_mode & 0o777, link.is_symlink()) == (0o640, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.yaml", "pod.yaml"]


def test_a_file_that_has_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(POD.format(OLD))
    _, (change,) = mend(Question(paths=[str(file)]))
    file.write_text("somebody was here\n")
    with pytest.raises(InputError, match="changed since it was read"):
        change.write()
    assert file.read_text() == "somebody was here\n"


def test_a_diff_can_be_applied() -> None:
    change = FixedText(Source("a.yaml", None), "a: 1\nb: 2", "a: 1\nb: 3")
    assert change.diff().splitlines() == [
        "--- a.yaml",
        "+++ a.yaml",
        "@@ -1,2 +1,2 @@",
        " a: 1",
        "-b: 2",
        "\\ No newline at end of file",
        "+b: 3",
        "\\ No newline at end of file",
    ]


def test_what_stands_in_a_comment_is_not_changed() -> None:
    assert mended(f"# {OLD}\n" + POD.format(OLD), BETA) == f"# {OLD}\n" + POD.format(NEW)


def test_a_configuration_in_a_config_map_is_edited_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def score_all(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
        for each in given.configurations:
            if each.value["percentageOfNodesToScore"] != 100:
                yield each, Problem("", "", (FieldEdit("replace", "percentageOfNodesToScore", 100),))

    monkeypatch.setattr("topospread.lint.run.RULES", (with_fields(RULES[0], check=score_all),))
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ü}\ndata:\n  a: b\n  config.yaml: |\n"
        "    apiVersion: kubescheduler.config.k8s.io/v1\n    kind: KubeSchedulerConfiguration\n"
        "    percentageOfNodesToScore: 50 # half\n---\napiVersion: v1\nkind: ConfigMap\n"
    )
    assert mended(text) == text.replace("50 #", "100 #")


def test_fixes_are_tried_one_by_one_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try reads the whole text: a text with thousands of fixes that fail together would never end."""
    made: list[int] = []
    monkeypatch.setattr(TextEditor, "made", lambda self, wanted, added=(): made.append(len(wanted)))
    text = f"---\n{POD.format(OLD)}" * 40 + "# " + "x" * (1 << 20)
    assert mended(text, BETA) == text
    assert made[0] > 1
    assert made[1:] == [1]


def test_a_suggested_edit_is_made_only_if_it_is_asked_for() -> None:
    """A constraint may count another workload's pods on purpose."""
    rule = next(each for each in RULES if each.id == "selector-not-own")
    question = Question(paths=["-"], settings=Settings(select=frozenset({rule.id})))
    outcome, changes = mend(question, BytesIO(rule.wrong.manifests.encode()))
    assert [each.rule for each in outcome.findings] == [rule.id]
    assert changes == []
    outcome, (change,) = mend(question, BytesIO(rule.wrong.manifests.encode()), unsafe=True)
    assert outcome.findings == []
    assert change.after == rule.right.manifests


def test_a_suggested_selector_keeps_the_labels_that_match() -> None:
    rule = next(each for each in RULES if each.id == "selector-not-own")
    labels = "\n            app: wbe\n            side: left"
    text = labels.join(rule.right.manifests.rsplit(" {app: web}", 1))
    question = Question(paths=["-"], settings=Settings(select=frozenset({rule.id})))
    outcome, (change,) = mend(question, BytesIO(text.encode()), unsafe=True)
    assert outcome.findings == []
    assert change.after == text.replace("wbe", "web").replace("            side: left\n", "")


LINES = st.lists(st.sampled_from(["a: 1", "b: 2", "---", "", "@@ -1 +1 @@", "- x", "--- # y"]), max_size=30)


END = st.sampled_from(["", "\n"])


def applied(before: str, diff: str) -> str:
    """The text with a unified diff applied."""
    old = before.splitlines(keepends=True)
    new: list[str] = []
    at = 0
    lines = diff.splitlines(keepends=True)[2:]
    for number, line in enumerate(lines):
        kept = line[1:-1] if lines[number + 1 : number + 2] == ["\\ No newline at end of file\n"] else line[1:]
        head = re.match(r"@@ -(\d+)(?:,(\d+))? \+", line)
        if head:
            begin = int(head[1]) - (head[2] != "0")
            new += old[at:begin]
            at = begin
        elif line[0] in " -":
            assert old[at] == kept
            at += 1
        if line[0] in " +":
            new.append(kept)
    return "".join(new + old[at:])


@given(LINES, LINES, END, END)
def test_the_diff_leads_from_one_to_the_other(one: list[str], other: list[str], end: str, other_end: str) -> None:
    before, after = "\n".join(one) + end, "\n".join(other) + other_end
    assert applied(before, unified_diff(before, after, "a.yaml")) == after


def test_the_same_text_has_no_differences() -> None:
    assert unified_diff("a: 1\n", "a: 1\n", "a.yaml") == ""


@pytest.mark.parametrize("end", ["", "\n"])
def test_patch_takes_it(tmp_path: Path, end: str) -> None:
    documents = [f"name: {at}\nvalue: {at}\n" for at in range(50)]
    before = "---\n".join(documents).removesuffix("\n") + end
    after = before.replace("value: 7", "value: x\nmore: y").replace("name: 49\n", "")
    (tmp_path / "a.yaml").write_text(before)
    diff = unified_diff(before, after, "a.yaml")
    subprocess.run(["patch", "-p0", "-s"], cwd=tmp_path, input=diff, text=True, check=True)
    assert (tmp_path / "a.yaml").read_text() == after


def test_a_line_ends_where_patch_ends_it() -> None:
    before = '{"a": "\u2028+forged\x85",\n "b": 1\n}\n'
    diff = unified_diff(before, before.replace("1", "2"), "a.json")
    assert diff.split("\n")[3:-1] == [' {"a": "\u2028+forged\x85",', '- "b": 1', '+ "b": 2', " }"]
