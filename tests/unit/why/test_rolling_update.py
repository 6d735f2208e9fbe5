"""A Deployment's rolling update, played through with its strategy."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.answers.remedies import remedy_of, skew_words
from topospread.api.pod import Pod
from topospread.api.rollout import Strategy
from topospread.controllers.revisions import TEMPLATE_HASH_LABEL
from topospread.why.repeated_simulation import RepeatedSimulation
from topospread.why.rolling_update import RollingUpdate, _of_a_new_revision

from .builders import (
    GPU,
    HOST,
    by_kind,
    constraint,
    explained,
    node,
    prepared,
    replica_set,
    replicas,
    spec,
    workload,
    zones,
)

OF = spec(constraint(), cpu="1")
TAINTED = [node("a", "zone-a", cpu="1"), node("b", "zone-b", cpu="1", taints=[GPU])]


def strategy(surge: int | str, unavailable: int | str) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def played(*objects: dict[str, Any], by: Strategy) -> tuple[int | None, RollingUpdate]:
    """The Deployment web rolled out again as it is."""
    run = prepared(*objects)
    web = next(each for each in run.plan.workloads if each.name == "web")
    assert web.template is not None
    update = RollingUpdate(RepeatedSimulation(run), web, by, web.template)
    return update.play(), update


def rolled_out_on(hosts: str, nodes: list[dict[str, Any]], of: dict[str, Any], by: Strategy) -> int | None:
    objects = [workload("Deployment", len(hosts), of), replica_set("abc", len(hosts), of)]
    return played(*nodes, *objects, *replicas("abc", of, list(hosts)), by=by)[0]


def test_with_room_for_the_surge_it_comes_to_its_end() -> None:
    assert rolled_out_on("abc", zones(), spec(constraint()), Strategy(1, 0)) is None


def test_without_room_it_gets_stuck_where_nothing_may_be_unavailable() -> None:
    nodes = [node(name, f"zone-{name}", cpu="1") for name in "abc"]
    assert rolled_out_on("abc", nodes, OF, Strategy(1, 0)) == 0
    assert rolled_out_on("abc", nodes, OF, Strategy(0, 1)) is None


def test_old_pods_count_for_the_new_ones_unless_match_label_keys_tell_them_apart() -> None:
    nodes = [node(name, f"zone-{name}") for name in "ab"]
    strict = spec(constraint(HOST, minDomains=3))
    by_revision = spec(constraint(HOST, minDomains=3, matchLabelKeys=["pod-template-hash"]))
    assert rolled_out_on("ab", nodes, strict, Strategy(1, 0)) == 0, "one on each node is all that is allowed"
    assert rolled_out_on("ab", nodes, by_revision, Strategy(1, 0)) is None


def test_old_pods_that_wait_go_first() -> None:
    objects = [*zones("a"), workload("Deployment", 2, OF), replica_set("abc", 2, OF)]
    stuck_at, update = played(*objects, *replicas("abc", OF, ["a", ""]), by=Strategy(0, 1))
    assert (stuck_at, update.old_pending) == (None, [])


def test_everything_is_as_it_was_after_restoring() -> None:
    run = prepared(
        *zones(), workload("Deployment", 3, OF), replica_set("abc", 3, OF), *replicas("abc", OF, list("abc"))
    )
    web = next(each for each in run.plan.workloads if each.name == "web")
    assert web.template is not None
    simulation = RepeatedSimulation(run)
    before = [list(pods) for pods in run.cluster.on_node]
    assert RollingUpdate(simulation, web, Strategy(1, 1), web.template).play() is None
    simulation.restore()
    assert [list(pods) for pods in run.cluster.on_node] == before


def suggested(**more: Any) -> Any:
    """Zone b is tainted, and zone a has room for one."""
    objects = [workload("Deployment", 2, OF, **more), replica_set("abc", 2, OF), *replicas("abc", OF, ["a", ""])]
    return by_kind(explained("deploy/web", *TAINTED, *objects))["toleration"]


def test_a_change_whose_rollout_gets_stuck_comes_with_a_strategy_with_which_it_completes() -> None:
    found = suggested(strategy=strategy(1, 0))
    assert (found.placed, found.wanted) == (2, 2)
    assert found.title == "tolerate dedicated=gpu:NoSchedule, with maxSurge 0 and maxUnavailable 1"
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert found.patch[-1] == {"op": "add", "path": "/spec/strategy", "value": rolling}
    for given in (strategy(0, 1), {"type": "Recreate"}):
        assert suggested(strategy=given).title == "tolerate dedicated=gpu:NoSchedule"


def test_a_quota_refuses_the_surge_of_a_rollout() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "shop"},
        "spec": {"hard": {"pods": "3"}},
    }
    of = [*zones(), workload("Deployment", 3, OF), replica_set("abc", 3, OF), *replicas("abc", OF, list("abc")), quota]
    assert played(*of, by=Strategy(1, 0))[0] == 0
    assert played(*of, by=Strategy(1, 1))[0] is None
    assert played(*of, by=Strategy(0, 1))[0] is None


def test_a_rollout_that_is_stuck_completes_with_another_strategy() -> None:
    """Required anti-affinity of the old pods refuses the new one, so a new template would not help."""
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}}
    of = spec(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    new = of | spec(cpu="400m")
    objects = [
        workload("Deployment", 3, new, strategy=strategy(1, 0)),
        replica_set("old", 3, of),
        *replicas("old", of, "abc"),
    ]
    found = explained(
        "web-new-0", *zones(), *objects, replica_set("new", 1, new), *replicas("new", new, [""])
    ).suggestions
    assert [each.kind for each in found] == ["strategy", "deletePod", "deletePod", "newNode"]
    assert found[0].title == "maxSurge 0 and maxUnavailable 1, with which its rollout completes"
    assert (found[0].means, found[0].lets_in, len(found[0].patch)) == ("cluster", 1, 1)
    assert found[1].title == "delete web-old-0, a pod of the old ReplicaSet, on a; 2 more of them remain to be replaced"


def test_a_rollout_goes_on_where_a_change_of_the_cluster_that_comes_with_it_lets_it() -> None:
    closed = node("a", "zone-a", taints=[GPU], cordoned=True)
    found = by_kind(explained("deploy/web", closed, workload("Deployment", 2, OF)))["toleration+uncordon"]
    assert (found.placed, found.wanted) == (2, 2)


def test_a_rollout_may_leave_a_skew_that_placing_all_pods_anew_does_not() -> None:
    """New pods keep away from old ones. If those of one zone are deleted last, that zone ends with too few."""
    of = spec(constraint())
    hosts = [*"aaaaabbbbbcccc", "", "", "", ""]
    nodes = [node(name, f"zone-{name}", cpu="20", cordoned=name == "c") for name in "abc"]
    objects = [workload("Deployment", 18, of), replica_set("abc", 18, of), *replicas("abc", of, hosts)]
    honor = by_kind(explained("deploy/web", *nodes, *objects))["nodeTaintsPolicy"]
    assert honor.complete
    assert not honor.exceeds
    assert [(each.skew, each.max_skew) for each in honor.may_exceed] == [(4, 1)]
    assert "; its rollout may leave skew 4 by zone, over maxSkew 1" in skew_words(remedy_of(honor).tried)


def test_a_revision_that_is_a_number_changes_no_other_field() -> None:
    labels = {"app": "web", TEMPLATE_HASH_LABEL: "1"}
    resources = {"requests": {"cpu": "1"}}
    of = {"containers": [{"name": "c", "resources": resources}]}
    before = msgspec.convert({"metadata": {"name": "web", "labels": labels}, "spec": of}, Pod)
    after = _of_a_new_revision(before)
    assert after.labels == {"app": "web", TEMPLATE_HASH_LABEL: "1-new"}
    assert after.spec == before.spec
