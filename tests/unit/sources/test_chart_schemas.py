"""Schemas of charts that Helm may read: those that refer to nothing outside themselves."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from topospread.sources.chart_schemas import has_outside_references, may_forge_sources, unstable_in


def chart(folder: Path, schema: str, name: str = "values.schema.json") -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(schema)
    return str(folder)


def packed(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


@pytest.mark.parametrize(
    "schema",
    [
        '{"$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://example.com/a", "type": "object"}',
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"$ref": "#/$defs/a"}}}',
        '{"properties": {"$ref": {"type": "string"}, "id": {"type": "string"}}, "default": {"id": "a"}}',
        "true",
    ],
)
def test_a_schema_that_refers_to_itself_is_read(tmp_path: Path, schema: str) -> None:
    assert not has_outside_references(chart(tmp_path, schema))


@pytest.mark.parametrize(
    "schema",
    [
        '{"properties": {"a": {"$ref": "file:///etc/passwd"}}}',
        '{"properties": {"a": {"$ref": "other.json"}}}',
        '{"$ref": "http://127.0.0.1/a", "$ref": "#"}',
        '{"$defs": {"a": {"$dynamicRef": "https://example.com/a"}}}',
        '{"\\u0024ref": "file:///etc/passwd"}',
        '{"$schema": "file:///etc/passwd"}',
        '{"$schema": "http://json-schema.org.example.com/a"}',
        '{"properties": {"a": {"$id": "file:///etc/passwd", "$ref": "#"}}}',
        "{",
        "[" * 100_000,
    ],
    ids=lambda schema: schema[:50],
)
def test_a_schema_that_refers_to_others_or_cannot_be_read_is_not(tmp_path: Path, schema: str) -> None:
    assert has_outside_references(chart(tmp_path, schema))


def test_schemas_of_charts_in_a_chart_count(tmp_path: Path) -> None:
    schema = '{"$ref": "file:///etc/passwd"}'
    assert has_outside_references(chart(tmp_path / "a", schema, "charts/b/values.schema.json"))


def test_a_packed_chart_is_not_validated(tmp_path: Path) -> None:
    """Helm may find a schema in an archive in which Python finds none."""
    inner = packed("b/Chart.yaml", b"name: b")
    path = tmp_path / "a" / "charts" / "b.tgz"
    path.parent.mkdir(parents=True)
    path.write_bytes(inner)
    assert has_outside_references(str(path))
    assert has_outside_references(str(path.parents[1]))


@pytest.mark.parametrize(
    ("content", "is_forged"),
    [
        (packed("c/templates/a.yaml", b"kind: ConfigMap\n---\n"), False),
        (packed("c/templates/a\n---\n# Source: c/b", b""), True),
        (packed("c/charts/d.tgz", b""), True),
        (b"not packed", True),
        (gzip.compress(b"0" * 70_000_000), True),
    ],
    ids=["plain", "a name", "nested", "no archive", "large"],
)
def test_a_packed_chart_whose_names_look_like_helms_comments_has_no_places(
    content: bytes, is_forged: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a" / "charts" / "c.tgz"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert [may_forge_sources(str(each)) for each in (path, path.parents[1])] == [is_forged] * 2


def test_links_that_lead_in_circles_end(tmp_path: Path) -> None:
    """Two links to their own folder are a million million paths."""
    for name in "ab":
        (tmp_path / name).symlink_to(".")
    assert not has_outside_references(chart(tmp_path, "{}"))


def test_what_is_no_file_or_lies_elsewhere_is_not_opened(tmp_path: Path) -> None:
    chart, linked = tmp_path / "a", tmp_path / "b"
    for each in (chart, linked):
        each.mkdir()
    os.mkfifo(chart / "values.schema.json")  # whoever opens it waits for a writer
    (linked / "x").symlink_to("/")
    assert has_outside_references(str(chart))
    assert has_outside_references(str(linked))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a: b\n{{ if lookup "v1" "Pod" "" "" }}', "2 (lookup)"),
        ("{{- if\n  .Release.IsUpgrade }}", "2 (IsUpgrade)"),
        ('{{ get .Release "IsInstall" }}', "1 (.Release), 1 (IsInstall)"),
        ("{{ now }}\n\n{{ randAlphaNum 5 }} {{ lookup 1 }} {{ lookup 2 }}", "1 (now), 3 (randAlphaNum), 3 (lookup)"),
        ('{{ tpl "\\x7b\\x7b now }}" . }}', "1 (now)"),
        ('a: "\\u007b{ now }}"', "1 (now)"),
        ('{{ tpl "{{ .Release.\\x49sInstall }}{{ \\156ow }}" . }}', "1 (IsInstall), 1 (now)"),
        ("{{ durationRound .Values.since }}", "1 (durationRound)"),
        ("{{ .Release.Revision }}", "1 (Release.Revision)"),
        ('{{ (index . "Release").Revision }}', "1 (.Revision)"),
        ('{{ contains "ade:true" (print .Release) }}', "1 (.Release)"),
        ("{{ .Release.Name }}{{ .Releases }}", ""),
        ("{{ `}}` | print now }}", "1 (now)"),
        ('{{ print "\\"}}" \'"\' (randInt 0 9) }}', "1 (randInt)"),
        ('{{ tpl "{{ now }}" . }}', "1 (now)"),
        ('now {{/* lookup now " */}} {{- /* now */ -}} now', ""),
        ('{{ .Values.now }} {{ $now }} lookup {{ include "now" . }} {{ nowhere }} {{ "date" }}', ""),
        ("{{ .Release.Name }} IsUpgrade", ""),
    ],
)
def test_values_that_differ_at_installation_are_found(tmp_path: Path, text: str, found: str) -> None:
    folder = chart(tmp_path, text, "charts/sub/templates/_a.tpl")
    uses = found.split(", ") if found else []
    assert unstable_in(folder, folder) == [f"charts/sub/templates/_a.tpl:{each}" for each in uses]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# {{/* how\na: |\n  {{ if .Release.IsInstall }}\n# */}}", "2 (IsInstall)"),
        ('a: "{\\\n  { now }}"', "1 (now)"),
        ('a: 1\nb: "{{ .Release.IsIn\\\n  stall }}"', "2 (IsInstall)"),
        ('a: "{{ .Release.\\x49sInstall }}"', "1 (IsInstall)"),
        ("a: [{{ b }}\nc: }", "1 (invalid YAML)"),
        ("a: {{/* now */}}", ""),
        ("# {{/* now */}}\na: now", ""),
        ("a: [b\nc: }", ""),
    ],
)
def test_values_of_a_chart_that_differ_at_installation_are_found_in_each_text(
    tmp_path: Path, text: str, found: str
) -> None:
    folder = chart(tmp_path, text, "values.yaml")
    assert unstable_in(folder, folder) == ([f"values.yaml:{found}"] if found else [])
    assert unstable_in(f"{folder}/values.yaml", folder) == ([f"values.yaml:{found}"] if found else [])


def test_the_texts_of_a_chart_s_values_have_a_common_limit(tmp_path: Path) -> None:
    for name in ("values.yaml", "more.yaml"):
        chart(tmp_path, "a: {{ b }}\n---\n" + "[" + "a," * 600_000 + "]", name)
    assert unstable_in(str(tmp_path), str(tmp_path)) == ["a file that cannot be searched"]


def test_values_of_packed_charts_that_differ_at_installation_are_found(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "a.tgz").write_bytes(packed("a/templates/a.yaml", b"{{ now }}"))
    (tmp_path / "charts" / "b.tgz").write_bytes(packed("b/templates/a.yaml", b"now"))
    assert unstable_in(str(tmp_path), str(tmp_path)) == ["charts/a.tgz (now)"]
    assert unstable_in(str(tmp_path / "charts" / "a.tgz"), str(tmp_path)) == ["a.tgz (now)"]
    (tmp_path / "charts" / "c.tgz").write_bytes(b"torn")
    assert unstable_in(str(tmp_path), str(tmp_path)) == ["charts/a.tgz (now)", "a file that cannot be searched"]


@pytest.mark.parametrize("text", ["{{", '{{ "', "{{ `", "{{/*", "{{ '", '{{ "\\'])
def test_unclosed_actions_take_linear_time(tmp_path: Path, text: str) -> None:
    folder = chart(tmp_path, text * 500_000 + "now", "a")
    assert len(unstable_in(folder, folder)) <= 1
