"""Hooks of MkDocs: the README is the first page, the order of the pages, links out of the docs lead to the repository.

MkDocs finds the functions by their names.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PLAYGROUND = ROOT / "build" / "playground" / "assets"
SOURCE = os.environ.get("TOPOSPREAD_HOME_PAGE", "https://github.com/OWNER/topospread") + "/blob/main/"
SECTIONS = {
    "Tutorial": "tutorial",
    "How-to": "how-to",
    "Reference": "reference",
    "Rules": "reference/rules",
    "Explanation": "explanation",
    "Decisions": "adr",
}
"""Name of a section → its folder. A page that is in none of them makes the build fail, as an orphan."""
_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)\s#]+)([^)]*\))")
SYMPTOMS = ROOT / "docs" / "how-to" / "README.md"
_SYMPTOM = re.compile(r"^\| ([^|]+) \| \[[^\]]+\]\(([^)]+)\) \|$", re.MULTILINE)
_NAMELESS = (
    (re.compile(r'(<div class="md-search" [^>]*role="dialog")>'), r'\1 aria-label="Search">'),
    (re.compile(r'aria-labelledby="__nav_([\d_]+)_label"'), r'aria-label="Section \1"'),
    (re.compile(r"<th([^>]*)></th>"), r"<td\1></td>"),
)
"""What the theme leaves without a name that a screen reader can say → the same with a name, or as no heading."""


def on_config(config: Any) -> Any:
    """The navigation: every page of a folder, its index first."""
    docs = Path(config.docs_dir)
    nav: list[dict[str, Any]] = [{"topospread": "index.md"}]
    for name, folder in SECTIONS.items():
        pages = sorted((docs / folder).glob("*.md"), key=lambda path: (path.name != "README.md", path.name))
        nav.append({name: [str(path.relative_to(docs)) for path in pages]})
    nav[3:3] = [{"Playground": "playground.md"}, {"Gallery": "gallery.md"}, {"Performance": "performance.md"}]
    config.nav = nav
    return config


def on_files(files: Any, config: Any) -> Any:
    """The README is the first page, from where it stands."""
    from mkdocs.structure.files import File

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=_relinked(text, "")))
    return files


def on_post_build(config: Any) -> None:
    """What `make playground` has put together goes beside the playground's page; without it the page says so."""
    if PLAYGROUND.is_dir():
        shutil.copytree(PLAYGROUND, Path(config.site_dir) / "playground", dirs_exist_ok=True)


def symptoms() -> dict[str, list[str]]:
    """Page → what somebody sees who needs it: the search finds the page by these words before all others."""
    rows = _SYMPTOM.findall(SYMPTOMS.read_text(encoding="utf-8"))
    return {posixpath.normpath(f"how-to/{page}"): words.split(", ") for words, page in rows}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to what is outside of the docs lead to the repository."""
    if page.file.src_uri == "index.md":
        return markdown
    if words := symptoms().get(page.file.src_uri):
        page.meta["tags"] = words
    return _relinked(markdown, posixpath.join("docs", posixpath.dirname(page.file.src_uri)))


def on_post_page(output: str, **_: Any) -> str:
    """Every dialog, landmark and heading has a name."""
    for nameless, named in _NAMELESS:
        output = nameless.sub(named, output)
    return output


def on_post_template(output_content: str, **_: Any) -> str:
    """The page that is shown where there is none."""
    return on_post_page(output_content)


def _relinked(text: str, folder: str) -> str:
    """The same with links that hold in the site; ``folder`` is where the text stands in the repository."""

    def one(found: re.Match[str]) -> str:
        begin, link, end = found.groups()
        target = posixpath.normpath(posixpath.join(folder, link))
        inside = target.startswith("docs/")
        is_folder = (ROOT / target).is_dir()
        if inside and not is_folder:
            base = folder.removeprefix("docs").lstrip("/") or "."
            return f"{begin}{posixpath.relpath(target.removeprefix('docs/'), base)}{end}"
        if inside and (ROOT / target / "README.md").exists():
            base = folder.removeprefix("docs").lstrip("/") or "."
            return f"{begin}{posixpath.relpath(target.removeprefix('docs/'), base)}/README.md{end}"
        return f"{begin}{SOURCE}{target}{end}"

    return _LINK.sub(one, text)
