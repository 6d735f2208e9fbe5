"""The pages of lint rules: a rule with its examples, and the list of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from topospread.lint.rule import Example, Needs, Rule
from topospread.render.blocks import Code, Fact, Page, Section, Span, Table

NEEDS: Final[dict[Needs, str]] = {
    "manifest": "the object alone",
    "manifests": "all objects",
    "nodes": "the nodes in the input or from --on",
    "simulation": "a simulation on the nodes in the input or from --on",
}
"""Input of a rule → words for it."""


def rule_page(rule: Rule) -> Page:
    """Return the page of ``topospread explain RULE``."""
    facts = [Fact("why", rule.why), Fact("needs", NEEDS[rule.needs])]
    facts += [Fact("--fix", rule.fix)] if rule.fix else []
    parts = [
        Section(f"{rule.id} ({rule.severity})", ()),
        Section(rule.sentence, (*facts, Fact("Kubernetes", "", rule.link))),
        *(
            Section(f"{title}{with_options(example)}:", (Section("", (Code(example.manifests, "yaml"),)),))
            for title, example in (("Wrong", rule.wrong), ("Right", rule.right))
        ),
        Section("", (Fact("to ignore it", "", f"# topospread: ignore {rule.id} REASON"),)),
    ]
    return Page(rule.id, tuple(parts))


def rules_page(rules: Sequence[Rule]) -> Page:
    """Return the page of ``topospread explain rules``."""
    rows = tuple((Span(rule.id, "name"), rule.severity, rule.sentence) for rule in rules)
    return Page("rules", (Table(("rule", "severity", "problem"), rows, most=len(rows)),))


def with_options(example: Example) -> str:
    """Return the options of `lint` that an example needs."""
    options = [f"--on {example.cluster}"] if example.cluster else []
    options += [f"--kube-version {example.kube_version}"] if example.kube_version else []
    return f", with `{' '.join(options)}`" if options else ""
