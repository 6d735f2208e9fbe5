"""Puts the examples into the package, for the page's editor to start from: ``examples/`` is in no wheel.

python docs/reference/write_page_examples.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WRITTEN = ROOT / "src" / "topospread" / "web" / "examples.json"
DEMO = "A small shop: workloads spread over zones and hosts, a budget, a database, on three zones of four nodes."


def examples() -> list[dict[str, str]]:
    """What is written: the demo first, then every example that has a manifest of its own."""
    demo = ROOT / "examples" / "demo"
    found = [_example(demo, "The demo shop", DEMO, "shop.yaml")]
    for folder in sorted((ROOT / "examples").iterdir()):
        page = folder / "README.md"
        if page.exists() and (folder / "app.yaml").exists() and not (folder / "config.yaml").exists():
            heading, _, rest = page.read_text().partition("\n\n")
            found.append(_example(folder, heading.removeprefix("# "), _plain(rest.partition("\n\n")[0])))
    return found


def _example(folder: Path, title: str, why: str, manifest: str = "app.yaml") -> dict[str, str]:
    texts = {"cluster": (folder / "cluster.yaml").read_text(), "manifest": (folder / manifest).read_text()}
    return {"name": folder.name, "title": title, "why": why} | texts


def _plain(text: str) -> str:
    """A paragraph of Markdown without its links and marks, on one line."""
    linked = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text.replace("\n", " "))
    return linked.replace("`", "").replace("**", "")


def written() -> str:
    """The file's text."""
    return json.dumps(examples(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    WRITTEN.write_text(written())
