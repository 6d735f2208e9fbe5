"""Writes the pages `rules/*.md` from the rules themselves; a test holds the pages to them.

python docs/reference/write_rules.py
"""

from __future__ import annotations

from pathlib import Path

from topospread.linting.rules import RULES
from topospread.report.lint_rule import rule_page, rules_page

FOLDER = Path(__file__).parent / "rules"
HEAD = """\
# Rules

What [`topospread lint`](../lint.md) looks for. Written from the rules themselves by
`python docs/reference/write_rules.py`; `topospread explain RULE` prints a page in the terminal.

Severities: `error`, what is meant cannot happen; `warning`, very probably not what is meant; `hint`, may well be meant.

"""


def pages() -> dict[str, str]:
    """The name of each page and what stands in it."""
    return {"README.md": HEAD + rules_page(RULES)} | {f"{rule.id}.md": rule_page(rule) for rule in RULES}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text)
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
