"""A drill as a text: names that are longer than a table has room for, what is alike together, pools."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.plain_inventory import inventory
from tests.unit.drill.builders import ZONE, Json, at, budget, node, nodes, running, spread, told, workload
from topospread.answer import ExceededSkew, RemedyPart, Tried
from topospread.answers.drill import drill_answer
from topospread.answers.remedies import DrillRemedy
from topospread.api.pools import NodePool
from topospread.drill.each import drill_each
from topospread.drill.result import Drill
from topospread.drill.steps import Autoscale, Cordon, Drain, Fail, Recover, Rollout, Scale, Uncordon, Wait
from topospread.errors import UsageError
from topospread.render.svg import svg
from topospread.simulation.options import SimulationOptions

LONG = "a-deployment-whose-name-is-as-long-as-those-of-charts-are"
SCALER: Json = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "minReplicas": 1,
        "maxReplicas": 14,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
    },
}


def lines(drill: Drill) -> list[str]:
    return str(drill.answer().text()).splitlines()


def test_steps_with_long_names_are_told_apart_in_the_table() -> None:
    steps = [Scale(f"shop/deploy/{LONG}", number) for number in (2, 6)]
    shown = lines(told([*nodes("a", "b"), workload("Deployment", LONG)], *steps))
    assert f"shop/deploy/{LONG}=2" in "\n".join(shown)
    assert f"shop/deploy/{LONG}=6" in "\n".join(shown)
    assert not [line for line in shown if "…" in line]


def test_long_names_of_nodes_are_whole() -> None:
    name = "ip-10-0-0-1.a-region-with-a-long-name.compute.internal.example"
    found = drill_each(inventory(node(name, "a"), *nodes("b"), workload("Deployment")), "node", SimulationOptions(), 1)
    shown = found.answer().text().splitlines()
    assert [line for line in shown if line.startswith(name)]


def test_pods_that_were_pending_at_the_beginning_do_no_harm() -> None:
    waits = workload("Deployment", "waits", replicas=1, spec={"nodeSelector": {"disk": "none"}})
    found = told([*nodes("a", "b"), workload("Deployment"), waits], Cordon(at("zone=a")), Uncordon(at("zone=a")))
    assert found.verdict == "yes"
    text = found.answer().text()
    assert text.startswith("yes: ")
    assert "before: 1 pod was already pending; the verdict does not count it\n" in text
    lost = told(
        [node("a1", "a", cpu="1"), node("b1", "b"), workload("Deployment", replicas=2), waits], Fail(at("node=a1"))
    )
    assert "shop/waits" not in str(lost.harm)


def test_a_drill_of_pods_that_cannot_be_judged_is_unknown() -> None:
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
    infer = workload("Deployment", "infer", replicas=1, spec=claims)
    found = told([*nodes("a", "b"), infer], Fail(at("zone=a")))
    assert found.verdict == "unknown"
    answer = found.answer()
    assert answer.text().startswith("unknown: 1 pod is not judged\n")
    assert [each.what for each in answer.unjudged] == ["resourceClaims"]
    each = drill_each(inventory(*nodes("a", "b"), infer), "zone", SimulationOptions(), 1)
    assert [outcome.verdict for outcome in each.outcomes] == ["unknown", "unknown"]
    assert each.answer().verdict == "unknown"


def test_the_picture_has_bars_for_each_step() -> None:
    web = workload("Deployment", replicas=2, spec={"topologySpreadConstraints": [spread()]})
    drawn = svg(told([*nodes("a", "b"), web], Fail(at("zone=a"))).answer().page())
    assert drawn.startswith("<svg ")
    assert "pods by" not in drawn
    assert ">begin<" in drawn


def test_what_an_autoscaler_scales_is_one_line() -> None:
    found = told([*nodes("a", "b", "c"), workload("Deployment", replicas=1), SCALER], Autoscale("shop/hpa/web"))
    scaled = [line for line in lines(found) if "scaled" in line]
    assert [line.split("  ")[-1].strip() for line in scaled] == ["shop/deployment/web scaled to 14 in 13 steps"]


def test_pools_say_what_they_brought_and_what_is_only_on_paper() -> None:
    zones = {each: {"topology.kubernetes.io/zone": each, "pool": f"web-{each}"} for each in "ac"}
    pools = [NodePool(f"web-{each}", zones[each], {"cpu": "1", "pods": "9"}, most=1) for each in "ac"]
    objects = [node("a1", "a", cpu="1"), node("b1", "b", cpu="1")]
    objects.append(workload("Deployment", replicas=2, spec={"topologySpreadConstraints": [spread()]}))
    found = told(objects, Fail(at("node=a1")), pools=pools)
    assert [(each.name, each.added, each.may_grow) for each in found.pools] == [
        ("web-a", ("web-a-new-1",), False),
        ("web-c", (), True),
    ]
    text = "\n".join(lines(found))
    assert "1 node added by the autoscaler: web-a-new-1" in text
    assert "web-a      0      1        1  it has all the nodes it may have\n" in text
    assert "no node has topology.kubernetes.io/zone=c yet, so no constraint" in " ".join(text.split())
    assert found.to_dict()["pools"][1]["onPaper"] == {"topology.kubernetes.io/zone": "c"}
    assert not told(objects, Fail(at("node=a1"))).pools


def test_pods_of_another_scheduler_are_not_shown_as_not_ready() -> None:
    other = workload("Deployment", "other", 3, {"schedulerName": "volcano"})
    text = told([*nodes("a", "b"), other, workload("Deployment")], Fail(at("zone=a"))).answer().text()
    (row,) = [line.split() for line in text.splitlines() if line.startswith("shop/other")]
    assert row[1:6] == ["0–3/3", "0–3/3", "0–3/3", "?", "3"]
    assert "already pending" not in text


def test_the_evicted_pods_are_accounted_for() -> None:
    sts = workload("StatefulSet", "db", 2)
    web = workload("Deployment", "web", 4, {"topologySpreadConstraints": [spread()]})
    found = told([*nodes("a", "a", "b", "b"), web, sts], Fail(at("zone=a"))).answer()
    assert "evicted: 3 pods; 0 have a node again, 2 are pending, 1 is not replaced\n" in found.text()
    drained = told([*nodes("a", "a", "b", "b"), web], Cordon(at("node=a1")), Drain(at("node=b1"))).answer()
    assert "evicted: 1 pod; 1 has a node again, 0 are pending, 0 are not replaced\n" in drained.text()
    assert "evicted:" not in told([*nodes("a", "b"), web], Scale("deploy/web", 2)).answer().text()


def test_pods_that_are_not_judged_are_no_pending_pods() -> None:
    other = workload("ReplicaSet", "other", 3, {"schedulerName": "volcano"})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "other", "uid": "", "controller": True}
    metadata = {"name": "other-1", "namespace": "shop", "labels": {"app": "other"}, "ownerReferences": [owner]}
    spec = other["spec"]["template"]["spec"] | {"nodeName": "a1"}
    placed = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}
    text = told([*nodes("a", "b", "c"), other, placed], Fail(at("zone=a")), Fail(at("zone=b"))).answer().text()
    (row,) = [line.split() for line in text.splitlines() if line.startswith("shop/other")]
    assert row[1:4] == ["1–3/3", "0–2/3", "0–3/3"]
    assert "evicted: 1 pod; 0 have a node again, 0 are pending, 1 is not judged, 0 are not replaced" in " ".join(
        text.split()
    )
    (row,) = [line.split() for line in text.splitlines() if line.startswith("beginning")]
    assert row[5:8] == ["0", "?", "2"]
    waits = workload("Deployment", "waits", replicas=1, spec={"nodeSelector": {"disk": "none"}})
    both = told([*nodes("a", "b", "c"), other, waits], Fail(at("zone=a"))).answer()
    said = " ".join(both.text().split())
    assert f"{both.pending_before} pods were already pending; the verdict does not count them, except 3 " in said


def test_the_beginning_has_the_replicas_and_the_skew_of_the_beginning() -> None:
    web = workload("Deployment", "web", 3, {"topologySpreadConstraints": [spread()]})
    found = told([*nodes("a", "b"), web], Scale("deploy/web", 4), Scale("deploy/web", 5)).answer()
    (row,) = [line.split() for line in found.text().splitlines() if line.startswith("shop/web")]
    assert row[1] == "3/3"
    (row,) = [line.split() for line in found.text().splitlines() if line.startswith("beginning")]
    assert row[-1] == "1"
    assert [each.replicas for each in found.steps[0].workloads] == [3]


def test_the_skew_of_a_workload_that_a_step_leaves_alone_stays() -> None:
    web = workload("Deployment", "web", 3, {"topologySpreadConstraints": [spread()]})
    own = spread(9, nodeAffinityPolicy="Ignore", labelSelector={"matchLabels": {"app": "api"}})
    api = workload("Deployment", "api", 5, {"topologySpreadConstraints": [own], "nodeSelector": {ZONE: "a"}})
    steps = [Scale("deploy/api", 6), Scale("deploy/web", 4)]
    for runs in (1, 2):
        text = told([*nodes("a", "b"), web, api], *steps, runs=runs).answer().text()
        rows = [line.split() for line in text.splitlines() if " scale " in line and "=" not in line[-9:]]
        assert [row[-1] for row in rows if row[0] in ("1", "2")] == ["6", "6"]


def test_the_cause_is_not_that_of_pods_which_waited_before() -> None:
    waits = workload("Deployment", "waits", replicas=1, spec={"nodeSelector": {"disk": "none"}})
    bare = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bare", "namespace": "shop", "uid": "1"},
        "spec": {"nodeName": "a1", "containers": [{"name": "c", "image": "i"}]},
    }
    text = told([*nodes("a", "b"), waits, bare], Drain(at("node=a1"))).answer().text()
    assert text.startswith("no: 1 pod not evicted\n")
    assert "why:" not in text


def test_a_fix_that_gives_up_maxskew_has_the_next_best_beside_it() -> None:
    tried = Tried(verdict="yes", places=2, of=2, exceeds=(ExceededSkew(topology_key=ZONE, max_skew=1, skew=3),) * 2)
    soft = DrillRemedy(
        code="a",
        says="soft",
        tried=tried,
        object={"namespace": "x", "name": "web"},
        pending=0,
        pending_without=2,
        not_evicted=0,
    )
    lost = told([*nodes("a", "b"), workload("Deployment", spec={"nodeSelector": {ZONE: "a"}})], Fail(at("zone=a")))
    less = replace(soft, says="honor", pending=1, tried=replace(tried, exceeds=()))
    text = " ".join(replace(lost.answer(), remedies=(soft, replace(soft, says="same"), less)).text().split())
    assert "fix: soft (tried: 0 pods newly pending instead of 2; leaves skew up to 3 by zone (2 constraints)) " in text
    assert "fix: honor (tried: 1 pod newly pending instead of 2) " in text
    assert "same" not in text
    patch = ({"op": "remove", "path": "/spec"},)
    further = RemedyPart(says="soft", patch=patch, object={"namespace": "y", "kind": "Deployment", "name": "api"})
    wide = replace(lost.answer(), remedies=(replace(soft, patch=patch, further=(further,)),)).text(wide=True)
    (line,) = [at for at, each in enumerate(wide.splitlines()) if each == "simulated patch: y/Deployment/api"]
    assert "/spec" in wide.splitlines()[line + 1]


def test_a_drill_of_a_namespace_judges_its_pods_and_names_the_harm_elsewhere() -> None:
    pinned, free = {"nodeSelector": {ZONE: "a"}}, workload("Deployment", "free", 2, {"nodeSelector": {ZONE: "b"}})
    other = workload("Deployment", "other", 2, pinned)
    for each in (free, other):
        each["metadata"]["namespace"] = "infra" if each is other else "calm"
    lost = told([*nodes("a", "b"), workload("Deployment", spec=pinned), other, free], Fail(at("zone=a")))
    assert "elsewhere" not in lost.answer().text()
    infra, calm = drill_answer(lost, namespace="infra"), drill_answer(lost, namespace="calm")
    assert (infra.verdict, infra.says) == ("no", "2 pods of infra/other are pending at the end")
    assert infra.elsewhere == "3 pods of shop/web are newly pending at the end"
    assert {each.namespace for step in infra.steps for each in step.workloads} == {"infra"}
    assert {pods.namespace for step in infra.steps for each in step.events for pods in each.pods} == {"infra"}
    assert (calm.verdict, calm.says) == ("yes", "2 pods are ready after 1 step, and no pod is newly pending")
    assert calm.elsewhere == "5 pods of shop/web, infra/other are newly pending at the end"
    assert "elsewhere: 5 pods of" in calm.text()
    assert [step.ready for step in infra.steps] == [2, 0]


def test_newly_pending_pods_are_counted_apart_from_pods_that_were_pending() -> None:
    """Each count adds up to the first line, and the workload with the most newly pending pods comes first."""
    first = workload("Deployment", "first", 6, {"nodeSelector": {ZONE: "a"}})
    second = workload("Deployment", "second", 3, {"nodeSelector": {"kubernetes.io/hostname": "a2"}})
    objects = [node("a1", "a", cpu="3"), node("a2", "a", cpu="5"), node("b1", "b"), first, second]
    found = told(objects, Fail(at("node=a2"))).answer()
    assert found.newly_pending == {"shop/Deployment/first": 3, "shop/Deployment/second": 2}
    text = " ".join(found.text().split())
    assert text.startswith("no: 5 pods of shop/first, shop/second are newly pending at the end")
    assert "why: shop/first (3 pods): " in text
    assert "why: shop/second (2 pods; 1 more was already pending): " in text
    assert "before: 1 pod was already pending; the verdict does not count it" in text
    assert " 3/6 +3 " in text
    assert " 0/3 +2, 3 in all " in text


def test_before_says_what_happens_between_the_input_and_the_first_step() -> None:
    """A pod of a node that is unreachable in the input is evicted before the steps, so BEFORE is not the input."""
    taints = [
        {"key": "node.kubernetes.io/unreachable", "effect": each, "timeAdded": "2026-01-01T00:00:00Z"}
        for each in ("NoSchedule", "NoExecute")
    ]
    waits = workload("Deployment", "waits", replicas=1, spec={"nodeSelector": {"disk": "none"}})
    found = told(
        [node("a1", "a", taints=taints), *nodes("b", "c"), *running(True, True, True), waits], Cordon(at("node=b1"))
    )
    text = " ".join(found.answer().text().split())
    assert "before: 1 pod of a1 is evicted (unreachable) before the first step, which is at 5:0" in text
    assert "before: 1 pod was already pending; the verdict does not count it" in text
    shop = " ".join(drill_answer(found, namespace="shop").text().split())
    assert "before: 1 pod of a1 is evicted (unreachable) before the first step, which is at 5:0" in shop


def test_pods_evicted_before_the_first_step_without_a_new_node_are_not_filed_under_already_pending() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
    waits = workload("Deployment", "waits", replicas=1, spec={"nodeSelector": {"disk": "none"}})
    closed = [node(f"{zone}1", zone, unschedulable=True) for zone in "bc"]
    given = [node("a1", "a", taints=taints), *closed, *running(True, True, True), waits]
    found = told(given, Wait(600)).answer()
    assert (found.verdict, found.pending_before, found.newly_pending) == ("yes", 1, {})
    assert found.says.endswith("; 1 pod of shop/web, evicted before the first step, found no node")
    ((group,), text) = found.displaced, " ".join(found.text().split())
    assert (group.workloads, len(group.pods), group.remedies[0].code) == (("shop/Deployment/web",), 1, "uncordon")
    assert f"why: shop/web (1 evicted pod): {group.says} fix: kubectl uncordon b1 tried: all 3 pods of shop/web" in text
    assert "before: 1 pod was already pending; the verdict does not count it" in text
    assert "EVICTED BEFORE THE FIRST STEP PODS NEW NODES shop/web 1 none WORKLOAD" in text
    helped = told(given, Uncordon(at("node=b1"))).answer()
    assert helped.says.endswith("; 1 of 1 pod of shop/web, evicted before the first step, now has a node")
    assert "evicted pod)" not in helped.text()
    shop = drill_each(inventory(*given), "node", SimulationOptions(), 1)
    assert "1 pod of shop/web, evicted before each drill, finds no node" in shop.warnings


def test_wide_names_every_pod_of_an_event_and_the_default_the_new_nodes_of_those_evicted_before() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
    found = told([node("a1", "a", taints=taints), *nodes("b", "c"), *running(True, True, True)], Wait(600)).answer()
    table = " ".join(found.text().split())
    assert "EVICTED BEFORE THE FIRST STEP PODS NEW NODES shop/web 1 " in table
    assert "none" not in table
    many = told(
        [*(node(f"{each}1", each, cpu="16") for each in "ab"), workload("Deployment", replicas=12)], Fail(at("zone=a"))
    ).answer()
    names = [pod for step in many.steps[1:] for each in step.events for group in each.pods for pod in group.nodes]
    assert len(names) > 5
    wide = many.text(wide=True)
    assert all(name in wide for name in names)
    assert not all(name in many.text() for name in names)


def test_pods_that_are_not_judged_are_not_among_those_that_were_pending() -> None:
    foreign = workload("Deployment", "foreign", 2, {"schedulerName": "volcano"})
    closed = node("b1", "b", unschedulable=True)
    waits = workload("Deployment", "waits", replicas=1, spec={"nodeSelector": {ZONE: "b"}})
    says = told([*nodes("a"), closed, foreign, waits], Uncordon(at("node=b1"))).answer().says
    assert says == "1 of 1 pod that was pending now has a node; 2 pods are not judged"


def test_a_budget_that_was_too_low_before_is_no_new_harm() -> None:
    """A budget can be violated at the beginning without any loss: two of its pods are not ready in the input."""
    objects = [*nodes("a", "b", "c"), *running(False, True, True), budget(minAvailable=3)]
    found = told(objects, Fail(at("zone=b")))
    assert [(each.healthy, each.needed) for each in found.steps[0].breaches] == [(2, 3)]
    assert found.harm.breaches == ()
    text = " ".join(found.answer().text().split())
    assert "budget: shop/web had 1 healthy pod and needs 3, at 0:00; it had only 2 before, so it does not count" in text
    assert told(objects, Cordon(at("zone=b"))).breaches == ()


def test_a_node_may_be_named_by_the_first_label_of_its_dns_name() -> None:
    name = "ip-10-0-0-1.eu-west-1.compute.internal"
    objects = [node(name, "a"), *nodes("b"), workload("Deployment")]
    for choice in ("node=ip-10-0-0-1", "=ip-10-0-0-1"):
        (event,) = [each for each in told(objects, Cordon(at(choice))).steps[1].events if each.kind == "cordoned"]
        assert event.nodes == (name,)
    twins = [*objects, node("ip-10-0-0-1.eu-west-2.compute.internal", "c")]
    with pytest.raises(UsageError, match="ip-10-0-0-1 is short for "):
        told(twins, Cordon(at("node=ip-10-0-0-1")))


def test_domain_columns_are_explained_if_the_constraint_counts_fewer_pods_than_run() -> None:
    """Zone a has a node that counts, and a tainted node with a pod that does not count."""
    objects = running(True, True, True)
    for each in objects:
        own = each["spec"] if each["kind"] == "Pod" else each["spec"]["template"]["spec"]
        own["topologySpreadConstraints"] = [spread(2, nodeTaintsPolicy="Honor")]
    tainted = node("a1", "a", taints=[{"key": "closed", "effect": "NoSchedule"}])
    shown = told([tainted, node("a2", "a"), *nodes("b", "c"), *objects], Drain(at("node=c1"))).answer().text()
    (row,) = [" ".join(line.split()) for line in shown.splitlines() if line.startswith("shop/web")]
    assert row == "shop/web 3/3 2/3 3/3 1 1 0 2"
    assert "domains: pods that the constraint counts; more may run there" in shown


def test_a_failure_says_which_stateful_sets_keep_their_quorum() -> None:
    hosts = spread(topologyKey="kubernetes.io/hostname")
    sets = [
        workload("StatefulSet", name, 3, {"nodeSelector": {ZONE: zone}, "topologySpreadConstraints": [own]})
        for name, zone in (("ledger", "a"), ("index", "b"))
        for own in [hosts | {"labelSelector": {"matchLabels": {"app": name}}}]
    ]
    objects = [*nodes("a", "a", "a", "b", "b", "b"), *sets]
    text = " ".join(told(objects, Fail(at("node=a1"))).answer().text().split())
    assert "quorum: kept by shop/ledger (2 of 3 left) " in text
    text = " ".join(told(objects, Fail(at("node=a1")), Fail(at("zone=b"))).answer().text().split())
    assert "quorum: lost by shop/index (0 of 3 left) quorum: kept by shop/ledger (2 of 3 left) " in text


@pytest.mark.parametrize(("zones", "says"), [("ab", ""), ("abc", "most pods: lost by shop/db (2 of 6 left)")])
def test_a_stateful_set_of_even_size_has_no_quorum_and_may_lose_most_of_its_pods(zones: str, says: str) -> None:
    """As in `promise show` and `status`: half of the pods are not most of them."""
    objects = [*nodes(*zones), workload("StatefulSet", "db", 2 * len(zones))]
    answer = told(objects, *(Fail(at(f"node={zone}1")) for zone in zones[1:])).answer()
    text = " ".join(answer.text().split())
    assert "quorum" not in text
    assert says in text
    assert answer.verdict == ("no" if says else "yes")


def test_a_rollout_never_has_more_ready_pods_than_are_wanted() -> None:
    """One old pod runs, and three new ones are not judged: one to three of three, not four."""
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "", "controller": True}
    web = workload("Deployment", "web", 3, claims)
    template = web["spec"]["template"]
    labels = {"app": "web", "pod-template-hash": "1"}
    top = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "", "controller": True}
    hashed = {"metadata": {"labels": labels}, "spec": template["spec"]}
    made = {"name": "web-1", "namespace": "shop", "labels": labels, "ownerReferences": [top]}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": hashed}
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": made, "spec": spec}
    metadata = {"name": "web-1-a", "namespace": "shop", "labels": labels, "ownerReferences": [owner]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": "Running"}}
    pod["spec"] = template["spec"] | {"nodeName": "a1"}
    text = told([*nodes("a", "b"), web, replica_set, pod], Rollout("deploy/web")).answer().text()
    (row,) = [line.split() for line in text.splitlines() if line.startswith("shop/web")]
    assert row[1:4] == ["1–3/3", "1–3/3", "1–3/3"], text


def test_durations_of_drills_are_not_headed_as_times() -> None:
    found = drill_each(inventory(*nodes("a", "b"), workload("Deployment")), "node", SimulationOptions(), 1)
    assert "DONE AFTER" in found.answer().text()
    assert "ENDS" not in found.answer().text()


def test_skew_that_remains_names_the_command_that_lists_evictions() -> None:
    words = "next: evictions may remove the remaining skew: the steps with --save FILE, then topospread rebalance --on"
    for policy in ("Honor", "Ignore"):  # by Ignore, no pod moves to zone b, and pods return to zone a
        web = workload("Deployment", "web", 4, {"topologySpreadConstraints": [spread(nodeTaintsPolicy=policy)]})
        text = told([*nodes("a", "b"), web], Fail(at("zone=a")), Recover(at("zone=a"))).answer().text()
        assert (words in " ".join(text.split())) == (policy == "Honor"), text
