"""What would be chosen without each constraint."""

from __future__ import annotations

from topospread.config.load import load_configuration
from topospread.why.placement_without_constraint import MOST

from .builders import HOST, ZONE, constraint, explained, pod, spec, zones

DEFAULTS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
                        ],
                    },
                }
            ]
        }
    ],
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {"app": "web"}},
}


def test_a_constraint_that_decides_is_told_by_another_choice() -> None:
    of = spec(constraint(ZONE), constraint(HOST, "ScheduleAnyway", app="other"))
    there = [pod("1", "a", of), pod("2", "b", of), pod("big", "c", spec(cpu="3"), labels={"app": "big"})]
    found = explained("web", *zones(), *there, pod("web", of=of))
    assert found.node == "c"
    hard, soft = found.without
    assert (hard.topology_key, hard.node, hard.equals, hard.instead) == (ZONE, "a", 2, None)
    assert (soft.topology_key, soft.node, soft.equals) == (HOST, "c", 1)


def test_who_loses_its_only_constraint_comes_under_the_default_ones() -> None:
    of = spec(constraint(ZONE))
    (found,) = explained("web", *zones(), SERVICE, pod("web", of=of)).without
    assert found.instead == "system"


def test_a_default_constraint_is_taken_out_of_the_profile() -> None:
    big = pod("filler", "b", spec(cpu="3"), labels={"app": "other"})
    objects = [*zones("ab"), SERVICE, big, pod("1", "a"), pod("web")]
    explanation = explained("web", *objects, config=load_configuration(DEFAULTS))
    (found,) = explanation.without
    assert (found.origin, explanation.node, found.node) == ("profile", "b", "a")


def test_of_many_constraints_the_first_are_left_out() -> None:
    of = spec(*(constraint(f"key-{number}", "ScheduleAnyway") for number in range(40)))
    found = explained("web", *zones(), pod("web", of=of))
    assert [each.topology_key for each in found.without] == [f"key-{number}" for number in range(MOST)]
