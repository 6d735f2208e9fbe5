"""Rules whose values depend on the version or on a gate."""

from __future__ import annotations

from dataclasses import dataclass

from topospread.config.gates import gates_for
from topospread.config.version_rules import by_version, changes, gated, minor_version, rules_for, since, until


@dataclass(frozen=True, slots=True)
class Rules:
    new: bool = since("1.30", "new")
    old: bool = until("1.29", "gone")
    word: str = by_version({"1.18": "a", "1.25": "b", "1.30": "c"}, {"1.30": "c, not b"})
    gate: bool = gated("MatchLabelKeysInPodTopologySpread")
    minor: int = minor_version()
    plain: int = 3


def test_rules_are_those_of_the_version_and_by_default_of_the_newest() -> None:
    found = [rules_for(Rules, gates_for(version)) for version in ("1.24", "1.29", "1.30")]
    assert found == [
        *(Rules(False, True, "a", False, 24), Rules(False, True, "b", True, 29), Rules(True, False, "c", True, 30))
    ]
    assert Rules() == rules_for(Rules, gates_for("1.37"))
    off = gates_for("1.30", {"MatchLabelKeysInPodTopologySpread": False})
    assert not rules_for(Rules, off).gate


def test_changes_name_the_first_version_with_the_new_behaviour() -> None:
    assert [(str(each.version), each.what) for each in changes(Rules)] == [
        *(("1.30", "new"), ("1.30", "gone"), ("1.30", "c, not b"))
    ]
