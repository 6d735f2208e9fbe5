"""Rules as policies: which there are, how findings are answered, and that both engines are told the same CEL."""

from __future__ import annotations

from pathlib import Path

import yaml

from topospread.api.well_known_labels import ZONE
from topospread.cli.policies import policies_text
from topospread.lint.policies.cel import EXPRESSED, VARIABLES
from topospread.lint.policies.not_in_cel import NOT_IN_CEL
from topospread.lint.policies.policies import exported, left_out, policies
from topospread.lint.rules import BY_ID, RULES
from topospread.lint.settings import Settings

USUAL = Settings()
EVERYTHING = exported(USUAL)


def test_every_rule_is_said_in_cel_or_has_a_reason_why_not() -> None:
    assert sorted([*EXPRESSED, *NOT_IN_CEL]) == sorted(BY_ID)


def test_the_page_names_every_difference_from_the_linter() -> None:
    page = (Path(__file__).parents[4] / "docs/how-to/policies.md").read_text()
    for rule, expressed in EXPRESSED.items():
        assert not expressed.note or f"| `{rule}` | {expressed.note} |\n" in page


def test_rules_that_need_nodes_are_in_no_policy() -> None:
    assert not [rule.id for rule in RULES if rule.needs in ("nodes", "simulation") and rule.id in EXPRESSED]


def test_policies_stand_in_the_order_of_the_rules_with_a_binding_each() -> None:
    made = policies(EVERYTHING, "vap", USUAL)
    ids = [rule.id for rule in RULES if rule.id in EXPRESSED]
    assert [each["spec"]["policyName"] for each in made[1::2]] == [f"topospread-{name}" for name in ids]
    assert [each["metadata"]["name"] for each in made[::2]] == [f"topospread-{name}" for name in ids]


def test_errors_deny_warnings_warn_and_hints_are_for_the_audit_log() -> None:
    severity = {"hard-and-soft": "error", "selector-missing": "warning", "selector-empty": "hint"}
    rules = exported(Settings(select=frozenset(severity), severity=severity))  # type: ignore[arg-type]
    actions = {
        each["metadata"]["name"]: each["spec"]["validationActions"] for each in policies(rules, "vap", USUAL)[1::2]
    }
    assert actions == {
        "topospread-hard-and-soft": ["Deny"],
        "topospread-selector-missing": ["Warn", "Audit"],
        "topospread-selector-empty": ["Audit"],
    }
    failing = [each["spec"]["rules"][0]["validate"]["failureAction"] for each in policies(rules, "kyverno", USUAL)]
    assert sorted(failing) == ["Audit", "Audit", "Enforce"]


def test_a_level_and_settings_leave_rules_out() -> None:
    assert all(severity != "hint" for _, severity in exported(Settings(), "warning"))
    chosen = Settings(select=frozenset({"selector-missing", "group-differs"}))
    assert [rule.id for rule, _ in exported(chosen)] == ["selector-missing"]
    assert [rule for rule, _ in left_out(chosen)] == ["group-differs"]


def test_kyverno_is_told_the_same_cel() -> None:
    for policy, kyverno in zip(
        policies(EVERYTHING, "vap", USUAL)[::2], policies(EVERYTHING, "kyverno", USUAL), strict=True
    ):
        rule = kyverno["spec"]["rules"][0]
        assert rule["celPreconditions"] == policy["spec"]["matchConditions"]
        assert rule["validate"]["cel"]["variables"] == policy["spec"]["variables"]
        assert rule["validate"]["cel"]["expressions"] == policy["spec"]["validations"]


def test_variables_stand_before_what_is_said_in_them() -> None:
    for policy in policies(EVERYTHING, "vap", USUAL)[::2]:
        spec = policy["spec"]
        known: list[str] = []
        for each in [*spec["variables"], {"name": "", "expression": spec["validations"][0]["expression"]}]:
            used = [name for name in VARIABLES if f"variables.{name}" in each["expression"]]
            assert set(used) <= set(known)
            known.append(each["name"])


def test_printed_policies_read_back_as_they_were() -> None:
    made = policies(EVERYTHING, "vap", USUAL)
    text = policies_text(made, [("selector-empty", "not quite")], [("group-differs", "no")])
    assert list(yaml.safe_load_all(text)) == made
    assert "#   group-differs: no\n" in text
    assert "#   selector-empty: not quite\n" in text


def test_settings_change_the_namespaces_and_the_spread_that_policies_want() -> None:
    settings = Settings(
        select=frozenset({"no-spread"}), exclude_namespaces=frozenset({"batch"}), spread_from=2, spread_over=ZONE
    )
    policy, _ = policies(exported(settings), "vap", settings)
    (kyverno,) = policies(exported(settings), "kyverno", settings)
    (namespaces,) = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    assert "batch" in namespaces["values"]
    assert kyverno["spec"]["rules"][0]["exclude"]["any"][0]["resources"]["namespaces"] == namespaces["values"]
    expression = policy["spec"]["validations"][0]["expression"]
    assert "variables.replicas >= 2" in expression
    assert f"c.topologyKey == '{ZONE}'" in expression
