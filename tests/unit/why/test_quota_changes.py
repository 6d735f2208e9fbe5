"""The least quota that lets in pods which the API server refuses, and no fix where a quota is not the only obstacle."""

from __future__ import annotations

from typing import Any

from tests.unit.drill.builders import nodes, workload
from topospread.session import Session

Json = dict[str, Any]


def quota(name: str, **hard: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"hard": {each.replace("_", "."): amount for each, amount in hard.items()}},
    }


def web(replicas: int, cpu: str = "200m", name: str = "web") -> Json:
    made = workload("Deployment", name=name, replicas=replicas)
    made["spec"]["template"]["spec"]["containers"] = [
        {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    ]
    return made


def test_the_least_limit_that_admits_every_pod_is_named_and_tried() -> None:
    given = [*nodes("a", "b"), quota("team", pods="3", requests_cpu="500m")]
    (fix,) = Session([*given, web(5)]).why("deploy/web").remedies
    assert fix.says == "hard pods 5 instead of 3 and requests.cpu 1 instead of 500m in ResourceQuota team"
    assert (fix.tried.places, fix.tried.of, fix.tried.verdict) == (5, 5, "yes")
    assert fix.command[:6] == ("kubectl", "-n", "shop", "patch", "resourcequota", "team")
    assert (
        Session([*nodes("a", "b"), quota("team", pods="5", requests_cpu="1"), web(5)]).why("deploy/web").verdict
        == "yes"
    )
    for less in ({"pods": "4", "requests_cpu": "1"}, {"pods": "5", "requests_cpu": "999m"}):
        assert Session([*nodes("a", "b"), quota("team", **less), web(5)]).why("deploy/web").remedies


def test_every_quota_that_refuses_the_pods_is_raised() -> None:
    given = [*nodes("a", "b"), quota("one", pods="1"), quota("two", requests_cpu="200m"), web(3)]
    (fix,) = Session(given).why("deploy/web").remedies
    assert [fix.says, *(each.says for each in fix.further)] == [
        "hard pods 3 instead of 1 in ResourceQuota one",
        "hard requests.cpu 600m instead of 200m in ResourceQuota two",
    ]


def test_pods_of_other_workloads_that_take_the_room_first_are_counted() -> None:
    given = [*nodes("a", "b"), quota("team", pods="2"), web(3, name="ahead"), web(2)]
    (fix,) = Session(given).why("deploy/web").remedies
    assert fix.says == "hard pods 5 instead of 2 in ResourceQuota team"
    assert fix.tried.verdict == "yes"


def test_a_quota_is_no_fix_where_nodes_take_no_more_pods() -> None:
    found = Session([*nodes("a"), quota("team", pods="1"), web(2, cpu="1000")]).why("deploy/web")
    assert not found.remedies
    assert "none tried" in found.text(width=120)


def test_status_names_the_quota_to_raise() -> None:
    (group,) = Session([*nodes("a", "b"), quota("team", pods="1"), web(3)]).status().pending
    assert [each.code for each in group.remedies] == ["quota"]
