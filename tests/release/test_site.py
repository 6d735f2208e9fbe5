"""The site as `make site` has built it: no page is missing, none asks another host for anything."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

from tests.release.pythons import ROOT
from topospread.version import __version__

SITE = ROOT / "build" / "site" / "html"
VERSIONS = SITE.parent / "versions"
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Fetches(HTMLParser):
    """What a browser fetches for a page, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in FETCHED and given.get("rel") not in ("canonical", "prev", "next", "edit"):
            self.fetched.append(given.get(FETCHED[tag]) or "")


def pages() -> list[Path]:
    return sorted(SITE.rglob("*.html"))


def test_every_page_of_the_docs_is_there() -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(SITE).with_suffix("") for path in pages()}
    as_index = {path.with_name("index") if path.name == "README" else path for path in written}
    assert as_index - built == set()
    assert (SITE / "search" / "search_index.json").stat().st_size > 100_000


def test_nothing_is_fetched_from_other_hosts() -> None:
    assert len(pages()) > 100
    for page in pages():
        reader = Fetches()
        reader.feed(page.read_text())
        assert [each for each in reader.fetched if re.match(r"(\w+:)?//", each)] == [], page
        assert reader.fetched


def test_neither_do_the_styles() -> None:
    styles = sorted(SITE.rglob("*.css"))
    assert styles
    for style in styles:
        assert re.findall(r"url\([\"']?(?:https?:)?//[^)]*", style.read_text()) == []


def listed(folder: Path) -> dict[str, list[str]]:
    """Version → its other names."""
    return {each["version"]: each["aliases"] for each in json.loads((folder / "versions.json").read_text())}


def test_this_version_is_the_latest_of_its_versions() -> None:
    number = __version__.rpartition(".")[0]
    assert listed(VERSIONS)[number] == ["latest"]
    assert "latest/" in (VERSIONS / "index.html").read_text()
    for name in (number, "latest"):
        assert {path.relative_to(VERSIONS / name) for path in (VERSIONS / name).rglob("*.html")} == {
            path.relative_to(SITE) for path in pages()
        }
    chosen = re.search(r'id="__config"[^>]*>(.*?)</script>', (VERSIONS / number / "index.html").read_text())
    assert chosen is not None
    assert json.loads(chosen[1])["version"] == {"provider": "mike"}


def test_a_version_stays_when_the_next_one_is_built(tmp_path: Path) -> None:
    number = __version__.rpartition(".")[0]
    told = os.environ | {"PAGES_FROM": str(SITE.parent / "pages.git"), "SITE_VERSION": "99.0"}
    words = [ROOT / "release" / "site_versions.sh", SITE.parent / "tools" / "bin", tmp_path]
    done = subprocess.run(words, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert listed(tmp_path / "versions") == {"99.0": ["latest"], number: []}
    before = (tmp_path / "versions" / number / "index.html").read_bytes()
    assert before == (VERSIONS / number / "index.html").read_bytes()


def test_a_link_that_leads_nowhere_and_a_page_in_no_section_fail_the_build(tmp_path: Path) -> None:
    for folder in ("docs", "release"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for name in ("README.md", "mkdocs.yml", "src/topospread/version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "docs" / "orphan.md").write_text("# An orphan\n\n[nowhere](none.md)\n")
    words = [tmp_path / "release" / "site_versions.sh", SITE.parent / "tools" / "bin", tmp_path / "built"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "'orphan.md' contains a link 'none.md', but the target is not found" in done.stderr
    assert 'not included in the "nav" configuration:\n  - orphan.md' in done.stderr
