"""Writes the pages `rules/*.md` from the rules themselves; a test holds the pages to them.

python docs/reference/write_rules.py
"""

from __future__ import annotations

import difflib
from pathlib import Path

from topospread.lint.rule import Rule
from topospread.lint.rules import RULES
from topospread.render.pages.rules import NEEDS, with_options

FOLDER = Path(__file__).parent / "rules"
HEAD = """\
# Rules

Rules of [`topospread lint`](../lint.md), written by `python docs/reference/write_rules.py`. `topospread explain RULE`
prints a page in the terminal. Each sentence is the problem that the rule reports. A star marks rules with a `--fix`.
"""
SEVERITIES = {
    "error": "the intent cannot work, or the API server rejects it",
    "warning": "very probably not intended",
    "hint": "may be intended",
}


def rule_page(rule: Rule) -> str:
    """Return a rule's page in ``docs/reference/rules``."""
    looks_at = "" if rule.needs == "manifest" else f" Looks at: {NEEDS[rule.needs]}."
    facts = f"Severity: {rule.severity}.{looks_at} [Kubernetes' documentation]({rule.link})."
    lines = [f"# {rule.id}", "", f"{rule.sentence} {rule.why}", "", facts, ""]
    lines += [f"`--fix`: {rule.fix}", ""] if rule.fix else []
    wrong, right = with_options(rule.wrong), with_options(rule.right)
    if wrong == right:
        lines += [f"## Example{wrong}", "", "```diff", *difference(rule), "```"]
    else:
        for title, example in ((f"Wrong{wrong}", rule.wrong), (f"Right{right}", rule.right)):
            lines += [f"## {title}", "", "```yaml", example.manifests.rstrip("\n"), "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def difference(rule: Rule) -> list[str]:
    """Return the lines of both examples as one diff: of a single object only those near a change."""
    wrong, right = (each.manifests.splitlines() for each in (rule.wrong, rule.right))
    context = len(wrong) if "---" in wrong + right else 6
    changed = [line for line in difflib.unified_diff(wrong, right, n=context, lineterm="") if line[:2] != "@@"]
    return changed[2:]


def rules_page() -> str:
    """Return the list of all rules by severity, each with a link to its page."""
    lines = []
    for severity, meaning in SEVERITIES.items():
        lines += ["", f"## {severity.capitalize()}: {meaning}", ""]
        lines += [
            f"- [{rule.id}]({rule.id}.md){'*' if rule.fix else ''}: {rule.sentence}"
            for rule in RULES
            if rule.severity == severity
        ]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """The name of each page and what stands in it."""
    return {"README.md": HEAD + rules_page()} | {f"{rule.id}.md": rule_page(rule) for rule in RULES}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text)
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
