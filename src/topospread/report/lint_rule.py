"""A rule explained: for the terminal, and as its page of the documentation; both are made from the rule itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from topospread.base import API_VERSION
from topospread.linting.rule import Example, Needs, Rule

from .paragraphs import hanging
from .style import PLAIN, Style

NEEDS: Final[dict[Needs, str]] = {
    "manifest": "the object alone",
    "manifests": "everything that is linted together",
    "nodes": "nodes, among what is linted or with --on",
    "simulation": "nodes, among what is linted or with --on: the pods are placed on them to find out",
}
"""What a rule looks at."""


def rule_text(rule: Rule, width: int = 80, style: Style = PLAIN) -> str:
    """Return what ``topospread explain RULE`` prints in so many columns."""
    lines = [f"{style(rule.id, 'bold')} ({rule.severity})", ""]
    lines += hanging("", f"{rule.sentence} {rule.why}", width, 0)
    lines += ["", *hanging("", f"Looks at: {NEEDS[rule.needs]}", width, 10)]
    if rule.fix:
        lines += hanging("", f"--fix: {rule.fix}", width, 7)
    lines += [f"Documentation: {rule.link}", ""]
    for title, example in (("Wrong", rule.wrong), ("Right", rule.right)):
        lines += [*hanging("", style(f"{title}{_with(example)}:", "bold"), width, 2), ""]
        lines += [f"  {line}".rstrip() for line in example.manifests.rstrip("\n").splitlines()] + [""]
    lines += hanging("", f"To ignore it somewhere: # topospread: ignore {rule.id} REASON", width, 0)
    return "\n".join(lines) + "\n"


def rule_page(rule: Rule) -> str:
    """A rule's page in ``docs/reference/rules``."""
    lines = [f"# {rule.id}", "", f"{rule.sentence} {rule.why}", ""]
    lines += ["| | |", "|---|---|", f"| severity | {rule.severity} |", f"| looks at | {NEEDS[rule.needs]} |"]
    lines += [f"| `--fix` | {rule.fix} |"] if rule.fix else []
    lines += [f"| Kubernetes | <{rule.link}> |", ""]
    for title, example in (("Wrong", rule.wrong), ("Right", rule.right)):
        lines += [f"## {title}{_with(example)}", "", "```yaml", example.manifests.rstrip("\n"), "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def rules_page(rules: Sequence[Rule]) -> str:
    """The list of all rules, each with a link to its page."""
    lines = ["| rule | severity | asks that | `--fix` |", "|---|---|---|---|"]
    lines += [
        f"| [{rule.id}]({rule.id}.md) | {rule.severity} | {rule.sentence} | {'yes' if rule.fix else ''} |"
        for rule in rules
    ]
    return "\n".join(lines) + "\n"


def _with(example: Example) -> str:
    """What an example is linted with, besides its manifests."""
    options = [f"--on {example.cluster}"] if example.cluster else []
    options += [f"--kube-version {example.kube_version}"] if example.kube_version else []
    return f", with `{' '.join(options)}`" if options else ""


def rules_text(rules: Sequence[Rule], width: int = 80, style: Style = PLAIN) -> str:
    """Return the rules, one a paragraph, in so many columns."""
    longest = max((len(rule.id) for rule in rules), default=0)
    lines = []
    for rule in rules:
        first = f"{style(rule.id, 'bold')}{' ' * (longest - len(rule.id))}  {rule.severity:<7}  "
        lines += hanging(first, rule.sentence, width, longest + 11)
    return "\n".join(lines) + "\n"


def rule_json(rule: Rule) -> dict[str, Any]:
    """A rule as ``topospread explain rules -o json`` lists it."""
    return {
        "id": rule.id,
        "severity": rule.severity,
        "sentence": rule.sentence,
        "why": rule.why,
        "link": rule.link,
        "needs": rule.needs,
        "fix": rule.fix,
        "wrong": rule.wrong.manifests,
        "right": rule.right.manifests,
        "cluster": rule.wrong.cluster,
        "kubeVersion": rule.wrong.kube_version,
    }


def rules_json(rules: tuple[Rule, ...]) -> dict[str, Any]:
    """What ``topospread explain rules -o json`` writes."""
    return {"apiVersion": API_VERSION, "kind": "RuleList", "items": [rule_json(rule) for rule in rules]}
