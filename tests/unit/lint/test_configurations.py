"""Scheduler configurations among manifests: plugins that kube-scheduler does not have."""

from __future__ import annotations

import pytest

from topospread.config.gates import gates_for
from topospread.lint.configurations import load_judged


def configuration(*names: str) -> dict[str, object]:
    profiles = [
        {"schedulerName": f"s{at}", "plugins": {"filter": {"enabled": [{"name": name}]}}}
        for at, name in enumerate(names)
    ]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }


def test_plugins_of_a_custom_scheduler_are_left_out_of_every_profile() -> None:
    loaded = load_judged(configuration("X", "NodeName", "Y"), gates_for("1.34"))
    assert [each.field for each in loaded.unknown] == [f"profiles[{at}].plugins.filter.enabled[0]" for at in (0, 2)]
    assert loaded.refused == []
    assert loaded.configuration is not None
    assert [each.scheduler_name for each in loaded.configuration.profiles] == ["s0", "s1", "s2"]


def test_other_problems_do_not_hide_unknown_plugins() -> None:
    loaded = load_judged(configuration("X", "PrioritySort"), gates_for("1.34"))
    assert [each.field for each in loaded.unknown] == ["profiles[0].plugins.filter.enabled[0]"]
    (refused,) = loaded.refused
    assert refused.message == (
        'profiles[1].plugins.filter.enabled[0]: plugin "PrioritySort" does not extend FilterPlugin plugin'
    )


@pytest.mark.parametrize(
    "name", ['a" does not exist; profiles[9].x.enabled[0]: FilterPlugin "b', "a; profiles[0].b", "x: y", "\n"]
)
def test_a_name_is_not_read_as_another_problem(name: str) -> None:
    loaded = load_judged(configuration(name), gates_for("1.34"))
    (unknown,) = loaded.unknown
    assert unknown.field == "profiles[0].plugins.filter.enabled[0]"
    assert f'"{name}" does not exist' in unknown.message
    assert loaded.configuration is not None
