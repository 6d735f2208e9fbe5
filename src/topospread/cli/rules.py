"""``topospread rules``: what ``topospread lint`` looks for."""

from __future__ import annotations

import click

from .inputs import COLOUR
from .terminal import layout, show, written
from .usage import Explained

HELP = """\
List the rules of topospread lint, with how bad a finding is and what each asks for.

\b
Examples:
  topospread rules
  topospread rules -o json
  topospread lint --explain selector-not-own
"""


@click.command(cls=Explained, help=HELP)
@click.option("-o", "--output", type=click.Choice(["text", "json", "name"]), default="text", help="How to show them.")
@click.option("--color", type=COLOUR, default="auto", help="Colours: on a terminal, always or never.")
def rules(output: str, color: str) -> int:
    """Print the rules."""
    from topospread.linting.rules import RULES
    from topospread.report.lint_rule import rules_json, rules_text

    if output == "json":
        show(written(rules_json(RULES), "json"))
    elif output == "name":
        show("".join(f"{rule.id}\n" for rule in RULES))
    else:
        show(rules_text(RULES, layout(color)))
    return 0
