"""``topospread policies``: print lint rules as admission policies for the API server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from topospread.errors import UsageError

from .rule_options import read_settings, rule_options
from .terminal import show
from .usage import EXITS_WORKED, Explained

HELP = """\
Print lint rules as ValidatingAdmissionPolicies (vap) or Kyverno policies. Comments list the rules that CEL cannot
express, with the reasons.

\b
Examples:
  topospread policies --for vap --level warning | kubectl apply -f -
  topospread policies --for kyverno --select hostname-unlike-name
"""


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.option("--for", "kind", type=click.Choice(["vap", "kyverno"]), required=True, help="Engine that runs the rules.")
@rule_options
def policies(**given: Any) -> int:
    """Print the policies, and the number of missing rules on stderr. Raise UsageError if CEL can express no rule."""
    from topospread.lint.policies.cel import EXPRESSED
    from topospread.lint.policies.policies import exported, left_out
    from topospread.lint.policies.policies import policies as made

    settings = read_settings(given)
    rules, missing = exported(settings, given["level"]), left_out(settings)
    for rule, why in missing if settings.select is not None else ():
        click.echo(f"note: {rule} is in no policy: {why}", err=True)
    if not rules:
        raise UsageError("none of these rules can be expressed in CEL; choose others with --select")
    notes = [(rule.id, EXPRESSED[rule.id].note) for rule, _ in rules if EXPRESSED[rule.id].note]
    show(policies_text(made(rules, given["kind"], settings), notes, missing))
    are = "rule is a policy" if len(rules) == 1 else "rules are policies"
    click.echo(
        f"note: {len(rules)} {are}, {len(missing)} cannot be expressed as policies; the comments say why", err=True
    )
    return 0


def policies_text(
    policies: Iterable[Mapping[str, Any]], notes: Iterable[tuple[str, str]], left_out: Iterable[tuple[str, str]]
) -> str:
    """Return the policies as YAML, with a comment on what only the linter finds.

    Args:
        notes: (rule, difference) for exported rules that find less than the linter.
        left_out: (rule, reason) for rules that are not exported.
    """
    head = ["# Made by: topospread policies"]
    for title, lines in (("Rules that find less than topospread lint", notes), ("Rules not exported", left_out)):
        told = [f"#   {rule}: {why}" for rule, why in lines]
        head += [f"# {title}:", *told] if told else []
    from topospread.api.yaml_text import yaml_text

    return "\n".join(head) + "\n" + "".join(f"---\n{yaml_text(each)}" for each in policies)
