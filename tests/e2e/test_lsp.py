"""`topospread lsp` as an editor has it: what it shows is what `topospread lint` says of the same text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.editor import Editor, editor
from topospread.lint.reading import Question
from topospread.lint.rules import RULES
from topospread.lsp.diagnostics import diagnostics
from topospread.lsp.fixes import fixes
from topospread.lsp.judging import TextJudge
from topospread.lsp.lines import Lines

from .conftest import Command

ROOT = Path(__file__).parents[2]
LEVELS = {"error": 1, "warning": 2, "hint": 4}
WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          minDomains: 3
          labelSelector: {matchLabels: {app: wbe}}
      containers: [{name: web, image: web}]
"""


def play(folder: Path, flow: Callable[[Editor], Awaitable[None]]) -> None:
    async def played() -> None:
        async with editor(folder) as it:
            await flow(it)

    asyncio.run(played())


def shown(diagnostics: Iterable[types.Diagnostic]) -> list[tuple[Any, ...]]:
    return [
        (each.code, each.severity, each.range.start.line + 1, each.range.start.character + 1, each.message)
        for each in diagnostics
    ]


def linted(command: Command, name: str) -> list[tuple[Any, ...]]:
    """Return what `topospread lint` says of a file in its folder."""
    _, said, _ = command("lint", name, "--allow-empty", "-o", "json")
    return [
        (each["rule"], LEVELS[each["level"]], each["line"], each["column"], each["says"])
        for each in json.loads(str(said))["findings"]
    ]


@pytest.mark.parametrize("project", ["", 'on = "zones=3,nodes=6"\nkube-version = "1.33"\n'])
def test_examples_have_the_findings_of_lint(in_process: Command, tmp_path: Path, project: str) -> None:
    (tmp_path / "topospread.toml").write_text(project)
    for number, each in enumerate(sorted(ROOT.glob("examples/*/*.[yj]*")) + sorted(ROOT.glob("tests/unit/**/*.yaml"))):
        (tmp_path / f"{number}{each.suffix}").write_bytes(each.read_bytes())
    for rule in RULES:
        (tmp_path / f"{rule.id}.yaml").write_text(rule.wrong.manifests)
    names = sorted(each.name for each in tmp_path.iterdir() if each.suffix != ".toml")

    async def flow(it: Editor) -> None:
        found = {name: [each for each in shown(await it.open(name)) if each[0] is not None] for name in names}
        assert found == {name: linted(in_process, name) for name in names}
        assert len({each[0] for some in found.values() for each in some}) > (40 if project else 30)
        assert it.told == []

    play(tmp_path, flow)


def test_settings_and_ignores_are_those_of_the_project(tmp_path: Path) -> None:
    settings = "ignore: [selector-not-own], severity: {min-domains-soft: error}"
    (tmp_path / ".topospread.yaml").write_text(f"lint: {{{settings}}}\n")

    async def flow(it: Editor) -> None:
        found = await it.open("web.yaml", WEB)
        rules = {each.code: each.severity for each in found}
        assert rules["min-domains-soft"] == types.DiagnosticSeverity.Error
        assert "selector-not-own" not in rules
        ignored = WEB.replace("minDomains: 3", "minDomains: 3 # topospread: ignore min-domains-soft wanted later")
        assert "min-domains-soft" not in [each.code for each in await it.typed("web.yaml", ignored)]
        (tmp_path / ".topospread.yaml").write_text("lint: {ignore: [no-such-rule]}\n")
        it.save(".topospread.yaml")
        await it.until(lambda: it.told)
        assert "unknown rule 'no-such-rule'" in it.told[0]
        (tmp_path / ".topospread.yaml").unlink()
        it.shown.clear()
        it.save(".topospread.yaml")
        assert "selector-not-own" in [each.code for each in await it.diagnostics("web.yaml")]

    play(tmp_path, flow)


def test_what_cannot_be_read_keeps_what_is_known_and_says_where_it_breaks(tmp_path: Path) -> None:
    async def flow(it: Editor) -> None:
        whole = await it.open("web.yaml", WEB)
        assert {"selector-not-own", "min-domains-soft"} <= {each.code for each in whole}
        broken = await it.typed("web.yaml", WEB.replace("spec:\n  replicas", "spec:\n  paused\n  replicas"))
        kept = [each for each in broken if each.code]
        moved = [(code, level, line + (line > 4), column, says) for code, level, line, column, says in shown(whole)]
        assert shown(kept) == moved
        (error,) = (each for each in broken if not each.code)
        assert error.message.startswith("not YAML: ")
        assert error.severity == types.DiagnosticSeverity.Error
        typed = WEB.replace("minDomains: 3", 'minDomains: "3')
        assert "min-domains-soft" not in [each.code for each in await it.typed("web.yaml", typed)]
        assert await it.typed("web.yaml", WEB) == whole

    play(tmp_path, flow)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chart/templates/web.yaml", WEB.replace("replicas: 6", "replicas: {{ .Values.replicas }}")),
        ("elsewhere.yaml", "{{- if .Values.web }}\n" + WEB + "{{- end }}\n"),
        ("compose.yaml", "services: {web: {image: web}}\n"),
        ("compose.yaml", "services: {web: {image: web}\n"),
        ("notes.yaml", "kind: [of, blue\n"),
        ("empty.yaml", ""),
        ("package.json", '{"name": "web", "kind": 1'),
    ],
)
def test_what_is_no_manifest_stays_silent(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "chart/templates").mkdir(parents=True)
    (tmp_path / "chart/Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")

    async def flow(it: Editor) -> None:
        assert await it.open(name, text) == []
        assert it.told == []

    play(tmp_path, flow)


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Pod\nmetadata: {name: \0}\n",
        "apiVersion: v1\nkind: Pod\nmetadata: " + "{a: " * 5000,
        "apiVersion: v1\nkind: &a [*a, *a]\n" + "a: &b [*b]\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: \ud800}\n",
        "apiVersion: v1\nkind: Pod\nx: !!python/object/apply:os.system [touch pwned]\n",
        "apiVersion: v1\nkind: Pod\n# " + "x" * (5 << 20),
        "\ufeffapiVersion: v1\r\nkind: Pod\rmetadata:\u2028 {name: 💥}\x85spec: {}\n",
    ],
)
def test_hostile_files_are_answered_and_the_next_file_too(tmp_path: Path, text: str) -> None:
    async def flow(it: Editor) -> None:
        await it.open("hostile.yaml", text)
        assert it.told == []
        assert await it.open("web.yaml", WEB)

    play(tmp_path, flow)
    assert list(tmp_path.iterdir()) == []


def test_a_project_that_names_a_chart_renders_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/helm"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart/Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (tmp_path / "topospread.toml").write_text('on = "chart"\n')

    async def flow(it: Editor) -> None:
        it.texts["chart/Chart.yaml"] = (1, "")
        document = types.TextDocumentItem(it.uri("web.yaml"), "yaml", 1, WEB)
        it.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        await it.until(lambda: it.told)

    play(tmp_path, flow)
    assert not (tmp_path / "ran").exists()


def test_positions_count_as_the_protocol_does(tmp_path: Path) -> None:
    in_line = 'apiVersion: v1\nkind: Pod\nmetadata: {annotations: {"💥💥": "💥"}, name: web, labels: 3}\n'

    async def flow(it: Editor) -> None:
        (found,) = (each for each in await it.open("pod.yaml", in_line) if "labels" in each.message)
        line = in_line.split("\n")[2]
        assert found.range.start.character == len(line[: line.index("labels")].encode("utf-16-le")) // 2

    play(tmp_path, flow)


@pytest.mark.parametrize("begin", ["", "é💥"])
def test_a_position_in_a_long_line_does_not_measure_all_of_it(begin: str) -> None:
    measured = 0

    def units(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return len(text.encode("utf-16-le")) // 2

    text = begin + "x" * 100_000 + "💥"
    lines = Lines(f"\n{text}", units)
    columns = [*range(0, len(text), 97), len(text)]
    wide = 1 if begin else 0
    found = [lines.position(1, column) for column in columns]
    assert [each.character for each in found[2:-1]] == [column + wide for column in columns[2:-1]]
    assert found[-1].character == len(text) + wide + 1
    assert [lines.column(each) for each in found] == columns
    assert measured < 100 * len(text)


def test_diagnostics_are_limited_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("topospread.lsp.diagnostics.MOST", 3)
    report = TextJudge(lambda: Question(paths=["web.yaml"])).report("web.yaml", f"{WEB}---\n{WEB}")
    found = diagnostics(report.findings, "web.yaml", Lines(f"{WEB}---\n{WEB}", len))
    more = len(report.findings) - 3
    assert len(found) == 3
    assert found[-1].message == f"{report[2].message} (and {more} more findings: topospread lint shows them)"


def test_quick_fixes_end_after_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "---\n".join(WEB.replace("name: web}", f"name: web{at}}}", 1) for at in range(9))
    report = TextJudge(lambda: Question(paths=["web.yaml"])).report("web.yaml", text)
    lines = Lines(text, len)
    whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    assert len(list(fixes(report, lines, whole, "file:///web.yaml"))) == 9
    monkeypatch.setattr("topospread.lsp.fixes._SECONDS", 0.0)
    assert len(list(fixes(report, lines, whole, "file:///web.yaml"))) == 1


def test_a_closed_file_has_no_diagnostics(tmp_path: Path) -> None:
    async def flow(it: Editor) -> None:
        assert await it.open("web.yaml", WEB)
        it.close("web.yaml")
        await it.until(lambda: it.shown.get((it.uri("web.yaml"), None)) == [])

    play(tmp_path, flow)


FINE = WEB.replace("          minDomains: 3\n", "")


async def hover(it: Editor, name: str, text: str, offset: int = 0) -> str:
    """Return what is said about a place in a file."""
    found = await it.client.text_document_hover_async(types.HoverParams(*it.at(name, text, offset)))
    return "" if found is None else found.contents.value  # type: ignore[union-attr]


def test_a_field_is_explained_as_explain_does(in_process: Command, tmp_path: Path) -> None:
    _, said, _ = in_process("explain", "maxSkew")

    async def flow(it: Editor) -> None:
        await it.open("web.yaml", WEB)
        assert str(said).strip() in await hover(it, "web.yaml", "maxSkew", 3)
        assert "FIELD: matchLabels" in await hover(it, "web.yaml", "wbe", 1)
        assert await hover(it, "web.yaml", "replicas") == ""
        objects = {"apiVersion": "v1", "kind": "List", "items": [{}, json.loads(POD)]}
        await it.open("list.json", json.dumps(objects, ensure_ascii=False, indent=2), "json")
        assert "FIELD: whenUnsatisfiable" in await hover(it, "list.json", "whenUnsat", 2)

    play(tmp_path, flow)


POD = """\
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": {"a": "💥"}}, "spec": {
"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
"containers": [{"name": "web", "image": "web"}]}}
"""


def test_a_hover_text_has_no_invisible_characters(tmp_path: Path) -> None:
    (tmp_path / "topospread.toml").write_text('on = "zones=3,nodes=6"\n')
    (tmp_path / "web.yaml").write_text(FINE.replace("  replicas: 6", '  "repl\\u202eicas": 6\n  replicas: 6'))

    async def flow(it: Editor) -> None:
        await it.open("web.yaml")
        assert "\u202e" not in await hover(it, "web.yaml", "kind", 1)

    play(tmp_path, flow)


MANY = FINE.replace("name: web}", "name: many}").replace("replicas: 6", "replicas: 101")


def test_a_workload_shows_its_promise(in_process: Command, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(FINE)

    async def flow(it: Editor) -> None:
        await it.open("web.yaml")
        assert "topospread.toml" in await hover(it, "web.yaml", "kind", 1)
        (tmp_path / "topospread.toml").write_text('on = "zones=3,nodes=6"\n')
        it.save("topospread.toml")
        found = await hover(it, "web.yaml", "web}", 1)
        _, said, _ = in_process("promise", "show", "deploy/web", "-f", "web.yaml")
        assert found.splitlines()[1] == str(said).splitlines()[0]
        assert "a zone is lost" in found
        await it.typed("web.yaml", f"{FINE}---\n{MANY}")
        assert "this many pods" in await hover(it, "web.yaml", "web}", 1)
        await it.typed("web.yaml", WEB)
        assert "would refuse" in await hover(it, "web.yaml", "Deployment", 1)

    play(tmp_path, flow)


async def offered(it: Editor, name: str, text: str, offset: int) -> list[str]:
    """Return the values that are offered at a place, each as the line that taking it makes."""
    at = it.at(name, text, offset)
    found = await it.client.text_document_completion_async(types.CompletionParams(*at))
    assert isinstance(found, Sequence)
    lines = []
    for each in found:
        assert isinstance(each.text_edit, types.TextEdit)
        span, line = each.text_edit.range, it.texts[name][1].split("\n")[at[1].line]
        lines.append(line[: span.start.character] + each.text_edit.new_text + line[span.end.character :])
    return [each.strip() for each in lines]


def test_topology_keys_of_the_cluster_and_values_are_offered(tmp_path: Path) -> None:
    async def flow(it: Editor) -> None:
        await it.open("web.yaml", FINE.replace("topologyKey: topology.kubernetes.io/zone", "topologyKey: topo"))
        keys = await offered(it, "web.yaml", "topologyKey: topo", 15)
        assert keys[:2] == ["topologyKey: topology.kubernetes.io/zone", "topologyKey: kubernetes.io/hostname"]
        (tmp_path / "nodes.yaml").write_text(NODE)
        (tmp_path / "topospread.toml").write_text('on = "nodes.yaml"\n')
        it.save("topospread.toml")
        keys = await offered(it, "web.yaml", "topologyKey: topo", 13)
        assert keys == ["topologyKey: example.com/rack"]
        when = await offered(it, "web.yaml", "whenUnsatisfiable: ScheduleAnyway", 19)
        assert when == ["whenUnsatisfiable: DoNotSchedule", "whenUnsatisfiable: ScheduleAnyway"]
        flow = FINE.replace("- maxSkew: 1\n", '- {"maxSkew": 1, "nodeTaintsPolicy": "Ho"}\n')
        await it.typed("web.yaml", flow)
        policies = await offered(it, "web.yaml", '"nodeTaintsPolicy": "Ho', 23)
        assert policies[0] == '- {"maxSkew": 1, "nodeTaintsPolicy": "Honor"}'
        assert await offered(it, "web.yaml", "replicas: 6", 10) == []
        await it.typed("web.yaml", flow.replace('"Ho"}', '"Ho'))
        assert await offered(it, "web.yaml", '"nodeTaintsPolicy": "Ho', 23)
        await it.open("compose.yaml", "services: {}\ntopologyKey: \n")
        assert await offered(it, "compose.yaml", "topologyKey: ", 13) == []

    play(tmp_path, flow)


NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: node-1, labels: {example.com/rack: r1}}\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_quick_fix_is_what_fix_writes(in_process: Command, tmp_path: Path, newline: str) -> None:
    text = "# 💥\n" + WEB.replace("minDomains: 3", "minDomains: 3 # 💥").replace("wbe", "web")
    text = text.replace("\n", newline)
    (tmp_path / "web.yaml").write_bytes(text.encode())

    async def flow(it: Editor) -> None:
        await it.open("web.yaml", text)
        document, at = it.at("web.yaml", "minDomains")
        asked = types.CodeActionParams(document, types.Range(at, at), types.CodeActionContext([]))
        (action,) = await it.client.text_document_code_action_async(asked) or ()
        assert isinstance(action, types.CodeAction)
        assert action.title == "Removes minDomains (min-domains-soft)"
        assert action.edit is not None
        ((edit,),) = (action.edit.changes or {}).values()
        lines = text.split("\n")
        lines[edit.range.start.line : edit.range.end.line + 1] = [
            lines[edit.range.start.line][: edit.range.start.character]
            + edit.new_text
            + lines[edit.range.end.line][edit.range.end.character :]
        ]
        in_process("lint", "web.yaml", "--fix", "--select", "min-domains-soft")
        assert "\n".join(lines).encode() == (tmp_path / "web.yaml").read_bytes()

    play(tmp_path, flow)
