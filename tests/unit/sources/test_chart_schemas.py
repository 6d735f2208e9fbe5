"""Schemas of charts that Helm may read: those that refer to nothing outside themselves."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from topospread.sources.chart_schemas import has_outside_references


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
    inner = packed("b/values.schema.json", schema.encode())
    for name, content in (("charts/b.tgz", inner), ("charts/c.tgz", packed("c/charts/b.tgz", inner))):
        path = tmp_path / name.replace("/", "-") / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        assert has_outside_references(str(path.parents[1]))
        assert has_outside_references(str(path))
    harmless = tmp_path / "d.tgz"
    harmless.write_bytes(packed("d/values.schema.json", b"{}"))
    assert not has_outside_references(str(harmless))
    harmless.write_bytes(inner[:20])
    assert has_outside_references(str(harmless))


def test_a_packed_chart_that_helm_reads_in_another_way_is_not_validated(tmp_path: Path) -> None:
    """Go reads on after the first part of a gzip file, and takes no names from global headers."""
    schema = b'{"$ref": "file:///etc/passwd"}'
    whole = gzip.decompress(packed("a/values.schema.json", schema))
    parts = gzip.compress(gzip.decompress(packed("a/Chart.yaml", b"name: a\n"))[:1024]) + gzip.compress(whole)
    renamed = io.BytesIO()
    with tarfile.open(fileobj=renamed, mode="w:gz", pax_headers={"path": "a/README.md"}) as archive:
        member = tarfile.TarInfo("a/values.schema.json")
        member.size = len(schema)
        archive.addfile(member, io.BytesIO(schema))
    broken = bytearray(whole)
    broken[100:108] = b"not-octa"
    slash = packed("a/values.schema.json/", schema)
    for number, content in enumerate((parts, renamed.getvalue(), gzip.compress(broken), slash)):
        path = tmp_path / f"{number}.tgz"
        path.write_bytes(content)
        assert has_outside_references(str(path)), number


def test_charts_that_hold_each_other_many_times_end(tmp_path: Path) -> None:
    """Twelve levels of ten charts each are five kilobytes, and a million million charts."""
    chart = packed("a/Chart.yaml", b"name: a")
    for _ in range(12):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as archive:
            for number in range(10):
                member = tarfile.TarInfo(f"a/charts/{number}.tgz")
                member.size = len(chart)
                archive.addfile(member, io.BytesIO(chart))
        chart = gzip.compress(made.getvalue())
    path = tmp_path / "a.tgz"
    path.write_bytes(chart)
    assert has_outside_references(str(path))


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
