"""What holds for every rule: its examples show it, its words are complete, and its fix mends what it finds."""

from __future__ import annotations

from io import BytesIO

import pytest

from topospread.lint.rule import Example, Finding, Rule
from topospread.lint.rules import RULES
from topospread.lint.run import lint


def judged(example: Example) -> list[Finding]:
    version = {"kube_version": example.kube_version} if example.kube_version else {}
    return lint(["-"], stdin=BytesIO(example.manifests.encode()), cluster=example.cluster or None, **version)


def identity(rule: Rule) -> str:
    return rule.id


@pytest.mark.parametrize("rule", RULES, ids=identity)
def test_the_wrong_example_raises_the_rule(rule: Rule) -> None:
    assert rule.id in {each.rule for each in judged(rule.wrong)}


@pytest.mark.parametrize("rule", RULES, ids=identity)
def test_the_right_example_raises_neither_the_rule_nor_a_warning(rule: Rule) -> None:
    assert [str(each) for each in judged(rule.right) if each.rule == rule.id or each.severity != "hint"] == []


@pytest.mark.parametrize("rule", RULES, ids=identity)
def test_a_rule_that_offers_a_fix_gives_its_findings_one(rule: Rule) -> None:
    found = [each for each in judged(rule.wrong) if each.rule == rule.id]
    assert any(each.fix for each in found) == bool(rule.fix)


@pytest.mark.parametrize("rule", RULES, ids=identity)
def test_a_rule_is_explained_in_sentences(rule: Rule) -> None:
    for text in (rule.sentence, rule.why, *([rule.fix] if rule.fix else [])):
        assert text.endswith("."), text
    assert rule.link.startswith("https://kubernetes.io/docs/")
    assert rule.id == rule.id.lower().replace("_", "-")


def test_ids_are_unique() -> None:
    assert len({each.id for each in RULES}) == len(RULES)
