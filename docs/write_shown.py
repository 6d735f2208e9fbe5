"""Write every documented block that starts with ``$ topospread`` anew with what the command prints now.

``python docs/write_shown.py`` writes them all, ``python docs/write_shown.py docs/how-to`` those below a folder or in a
file. tests/e2e/test_docs.py and test_examples.py compare them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
BLOCK = re.compile(r"(```console\n\$ (topospread [^\n]*)\n)((?:(?!```).)+)", re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def folder(page: Path) -> Path:
    """Return the folder in which a page's commands are typed: an example's own, else the root."""
    return page.parent if "examples" in page.parts else ROOT


def printed(command: str, where: Path) -> str:
    """Return what a command line prints, without kubectl, helm or a kubeconfig."""
    words = [str(TOPOSPREAD), *shlex.split(command)[1:]]
    return subprocess.run(words, cwd=where, capture_output=True, text=True, check=False, env={"PATH": ""}).stdout


def written(page: Path) -> str:
    """Return the text of a page with the blocks as they are printed now."""
    return BLOCK.sub(lambda found: found[1] + printed(found[2], folder(page)), page.read_text())


def chosen(words: list[str]) -> Iterator[Path]:
    """Yield the pages in files or below folders, all without any."""
    named = [Path(word).resolve() for word in words]
    return (page for page in PAGES if not named or any(page == each or each in page.parents for each in named))


if __name__ == "__main__":
    for path in chosen(sys.argv[1:]):
        text = written(path)
        if text != path.read_text():
            path.write_text(text)
            print(path.relative_to(ROOT))
