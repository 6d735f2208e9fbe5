"""What a release says of itself is refused where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from release.metadata import fragment_faults, licence_faults, version_faults


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words.new.md", "Said."),
        ("words.added.md", ""),
        ("words.added.md", "# Heading\n"),
        ("Words.added.txt", "Said."),
    ],
)
def test_a_fragment_that_is_none_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert len(fragment_faults(tmp_path)) == 1


def test_a_fragment_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "words-of-it.added.md").write_text("It does more.\n")
    assert fragment_faults(tmp_path) == []


@pytest.mark.parametrize(
    ("version", "changelog", "tag", "faults"),
    [
        ("1.2.3", "", None, 0),
        ("1.2", "", None, 1),
        ("1.2.3", "## 1.2.3 (today)\n", "v1.2.3", 0),
        ("1.2.3", "", "v1.2.3", 1),
        ("1.2.3", "## 1.2.3\n", "v1.2.4", 1),
    ],
)
def test_a_tag_and_the_change_log_agree_with_the_version(
    version: str, changelog: str, tag: str | None, faults: int
) -> None:
    assert len(version_faults(version, changelog, tag)) == faults


@pytest.mark.parametrize(
    ("licences", "faults"),
    [
        ([{"license": {"id": "MIT"}}], 0),
        ([{"expression": "BSD-3-Clause AND 0BSD AND MIT"}], 0),
        ([{"expression": "GPL-3.0-only OR MIT"}], 0),
        ([{"expression": "MIT AND GPL-3.0-only"}], 1),
        ([{"license": {"name": "Apache Software License"}}], 0),
        ([], 1),
    ],
)
def test_a_licence_that_asks_for_more_is_refused(licences: list[dict[str, object]], faults: int) -> None:
    assert len(licence_faults({"components": [{"name": "a", "version": "1", "licenses": licences}]})) == faults
