"""``topospread explain``: describe fields of spread constraints, lint rules, causes and synthetic clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from topospread.base import API_VERSION
from topospread.errors import UsageError
from topospread.text import shell_line

from .inputs import COLOUR
from .terminal import has_colours, show, width, written
from .usage import EXITS_WORKED, Explained, option_rows, shared_options

if TYPE_CHECKING:
    from topospread.lint.rule import Rule

HELP = """\
Explain a field of topologySpreadConstraints, a lint rule or a cause code. No cluster is read. To explain a pod, use
`topospread why`.

NAME is a field, rule or code, or one of these topics: fields, rules, causes, options, clusters, pools.

\b
Examples:
  topospread explain fields
  topospread explain topologySpreadConstraints.minDomains
  topospread explain rules
  topospread explain selector-not-own
  topospread explain spread-domain-full
  topospread explain options
  topospread explain clusters
  topospread explain pools
"""


def _names_from(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from topospread.answers.cause_codes import CODES
    from topospread.api.fields import paths
    from topospread.lint.rules import BY_ID

    names = ("fields", "rules", "causes", "options", "clusters", "pools", *paths(), *BY_ID, *CODES)
    return [CompletionItem(each) for each in names if each.startswith(incomplete)]


@click.command(cls=Explained, help=HELP, exits=EXITS_WORKED)
@click.argument("name", required=False, default="", shell_complete=_names_from)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "name"]),
    default="text",
    help="Output format of the list of rules.",
)
@click.option("--color", type=COLOUR, default="auto", help="Use colours: on a terminal, always or never.")
def explain(name: str, output: str, color: str) -> int:
    """Explain a field, rule, cause or topic. Raise UsageError for an unknown name, or ``-o`` without ``rules``."""
    if output != "text" and name != "rules":
        raise UsageError(f"-o {output} is for: topospread explain rules")
    if name == "rules":
        _rules(output, color)
    elif name == "options":
        root = click.get_current_context().find_root()
        assert isinstance(root.command, click.Group)
        click.echo("Options of several commands. A command's --help names those that it has.")
        for heading, options in shared_options(root.command, root).items():
            click.echo("\n".join(["", heading, *option_rows(options)]))
    elif name == "clusters":
        from topospread.sources.synthetic_cluster import GRAMMAR

        click.echo(GRAMMAR, nl=False)
    elif name == "pools":
        from topospread.sources.pools import EXAMPLE

        click.echo(EXAMPLE, nl=False)
    elif "/" in name:
        raise UsageError(f"explain is for fields and rules; for a pod: topospread why {shell_line([name])}")
    elif not (_is_cause(name) or _is_rule(name, color)):
        from topospread.api.fields import explain as documentation

        try:
            found = documentation("" if name == "fields" else name, width=width())
        except UsageError as error:
            if "did you mean" in str(error) or "." in name:
                raise
            listing = "topospread explain fields|rules|causes|options|clusters|pools"
            raise UsageError(f'"{name}" is not a field, rule, cause or topic; list them with: {listing}') from None
        click.echo(found, nl=False)
    return 0


def _is_cause(name: str) -> bool:
    """Print the description of a cause code, or of all codes for ``causes``. Return False for another name."""
    from topospread.answers.cause_codes import CODES
    from topospread.render.blocks import Fact, Page
    from topospread.render.text import text

    codes = CODES if name == "causes" else {name: CODES[name]} if name in CODES else {}
    if codes:
        show(text(Page("", tuple(Fact(code, says) for code, says in codes.items())), width=width()))
    return bool(codes)


def _is_rule(name: str, color: str) -> bool:
    """Print a rule. Return False if there is no such rule."""
    from topospread.lint.rules import BY_ID
    from topospread.lint.settings import unknown_rule
    from topospread.render.pages.rules import rule_page
    from topospread.render.text import text

    if name not in BY_ID:
        if "-" in name:
            raise UsageError(unknown_rule(name))
        return False
    show(text(rule_page(BY_ID[name]), width=width(), colour=has_colours(color)))
    return True


def _rules(output: str, color: str) -> None:
    from topospread.lint.rules import RULES
    from topospread.render.pages.rules import rules_page
    from topospread.render.text import text

    if output == "json":
        show(
            written(
                {"apiVersion": API_VERSION, "kind": "RuleList", "items": [rule_json(each) for each in RULES]}, "json"
            )
        )
    elif output == "name":
        show("".join(f"{rule.id}\n" for rule in RULES))
    else:
        show(text(rules_page(RULES), width=width(), colour=has_colours(color)))


def rule_json(rule: Rule) -> dict[str, Any]:
    """Return a rule as ``topospread explain rules -o json`` lists it."""
    return {
        **{name: getattr(rule, name) for name in ("id", "severity", "sentence", "why", "link", "needs", "fix")},
        "wrong": rule.wrong.manifests,
        "right": rule.right.manifests,
        "cluster": rule.wrong.cluster,
        "kubeVersion": rule.wrong.kube_version,
    }
