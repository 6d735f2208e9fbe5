"""Writes the pages `rules/*.md` from the rules themselves; a test holds the pages to them.

python docs/reference/write_rules.py
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from topospread.lint.policies.cel import EXPRESSED
from topospread.lint.rule import Rule
from topospread.lint.rules import RULES
from topospread.render.pages.rules import NEEDS, with_options

FOLDER = Path(__file__).parent / "rules"
HEAD = """\
# Rules

The rules of [`topospread lint`](../lint.md), each with the problem that it reports. A star marks rules with a `--fix`,
a dagger rules that are also [policies](../../how-to/policies.md). `topospread explain RULE` prints a rule's page.

Written by `python docs/reference/write_rules.py`.
"""
NEAR = 3
"""Lines around a change that an example of one object shows."""
DULL = re.compile(
    r" (apiVersion: .*| +containers:| +- name: \w+| +image: .*|  - \{name: .*|  allocatable: .*|status:"
    r"| +matchLabelKeys: .*)"
)
"""Unchanged lines that an example of several objects leaves out."""
SEVERITIES = {
    "error": "the constraint cannot work, or the API server rejects the object",
    "warning": "very probably not intended",
    "hint": "may be intended",
}


def rule_page(rule: Rule) -> str:
    """Return a rule's page in ``docs/reference/rules``."""
    looks_at = "" if rule.needs == "manifest" else f" Needs: {NEEDS[rule.needs]}."
    facts = f"Severity: {rule.severity}.{looks_at} [Kubernetes]({rule.link})."
    lines = [f"# {rule.id}", "", f"{rule.sentence} {rule.why}", "", facts, ""]
    lines += [f"`--fix`: {rule.fix}", ""] if rule.fix else []
    wrong, right = with_options(rule.wrong), with_options(rule.right)
    if rule.wrong.manifests == rule.right.manifests:
        manifest = rule.wrong.manifests.rstrip("\n")
        lines += [f"## Wrong{wrong}; right{right}", "", "```yaml", manifest, "```"]
    else:
        lines += [f"## Example{wrong}{f'; right{right}' if right != wrong else ''}", ""]
        lines += ["```diff", *difference(rule), "```"]
    return "\n".join(lines).rstrip("\n") + "\n"


def difference(rule: Rule) -> list[str]:
    """Return both examples as one diff.

    Examples of one object show the lines near each change, others every line but unchanged ones that match ``DULL``.
    """
    wrong, right = (each.manifests.splitlines() for each in (rule.wrong, rule.right))
    several = "---" in wrong + right
    context = len(wrong) if several else NEAR
    found = [line for line in difflib.unified_diff(wrong, right, n=context, lineterm="") if line[:2] != "@@"][2:]
    return [line for line in found if not (several and DULL.fullmatch(line))]


def rules_page() -> str:
    """Return the list of all rules by severity, each with a link to its page."""
    lines = []
    for severity, meaning in SEVERITIES.items():
        lines += ["", f"## {severity.capitalize()}: {meaning}", ""]
        lines += [
            f"- [{rule.id}]({rule.id}.md){'*' * bool(rule.fix)}{'†' * (rule.id in EXPRESSED)}: {rule.sentence}"
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
