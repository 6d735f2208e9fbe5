"""Designs: what is added for what is wanted, why each part is there, and what cannot be promised."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tests.parted import parted
from tests.unit.drill.builders import ZONE, inventory, node, nodes, rolling, spread, workload
from topospread.answers.promise_check import promise_check
from topospread.answers.promise_design import promise_design
from topospread.cli.main import topospread as command
from topospread.errors import Place, UsageError
from topospread.lint.settings import DeclaredPromise
from topospread.promise.design import Design, design
from topospread.promise.design_rules import DesignRules

Json = dict[str, Any]
ROOT = Path(__file__).parents[3]
WEB = str(ROOT / "docs/how-to/design/web.yaml")
HOSTNAME = "kubernetes.io/hostname"


def designed(*objects: Json, **wanted: Any) -> Design:
    return design(inventory(*objects), "deploy/web", states=500, tries=30, **parted(wanted))


def spreads(found: Design) -> dict[str, Json]:
    """Key → the constraint over it."""
    for each in yaml.safe_load_all(found.manifest):
        if each and each["kind"] == "Deployment":
            pod = each["spec"].get("template", {}).get("spec", {})
            return {each["topologyKey"]: each for each in pod.get("topologySpreadConstraints", [])}
    return {}


def test_a_zones_loss_asks_for_a_constraint_over_zones_and_says_what_fails_without() -> None:
    found = designed(*nodes("a", "b", "c"), workload("Deployment", replicas=3), survive=["zone"], left=[2])
    assert found.promises
    assert set(spreads(found)) == {ZONE}
    reason = next(each.reason for each in found.lines if ZONE in each.line)
    assert reason == "without it the loss of zone a can leave 0 of 3"
    assert all(each.reason for each in found.lines)


@pytest.mark.parametrize(
    ("own", "is_there"),
    [({}, True), ({"maxSkew": 2}, False), ({"labelSelector": {"matchLabels": {"app": "other"}}}, False)],
)
def test_a_constraint_that_the_workload_has_is_not_called_added(own: Json, is_there: bool) -> None:
    web = workload("Deployment", "web", 3, {"topologySpreadConstraints": [spread() | own]})
    found = designed(*nodes("a", "b", "c"), web, survive=["zone"], left=[2])
    lines = [each.line for each in found.lines]
    assert (f"topologySpreadConstraints: {ZONE}, maxSkew 1" not in lines) == is_there
    assert "matchLabelKeys: [pod-template-hash]" in lines
    assert spreads(found)[ZONE]["maxSkew"] == 1


def test_a_rollout_is_bounded_by_counting_each_revision_alone_and_no_promise_is_made_where_that_is_not_known() -> None:
    objects = [*nodes("d", "b", "a", "a", "a", "b"), workload("Deployment", replicas=4)]
    found = designed(*objects, survive=["zone"], left=[2])
    assert spreads(found)[ZONE]["matchLabelKeys"] == ["pod-template-hash"]
    counted = designed(*objects, survive=["zone"], left=[2], kube_version="1.24")
    assert counted.promises, "by counting, no zone holds more than two of four after any rollout"
    three = [*objects[:-1], workload("Deployment", replicas=3)]
    assert designed(*three, survive=["zone"], left=[2]).promises
    old = designed(*three, survive=["zone"], left=[2], kube_version="1.24")
    assert not old.promises
    assert any("after a rollout the loss of zone a can leave 1 of 3" in each for each in old.unmet)


def scaler(least: int) -> Json:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"minReplicas": least, "maxReplicas": 9, "scaleTargetRef": target}
    kind = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
    return kind | {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def test_an_autoscaled_workload_has_as_many_pods_as_it_is_simulated_with() -> None:
    """Its manifest may say nothing of replicas, and the autoscaler keeps six."""
    web = workload("Deployment", replicas=6)
    del web["spec"]["replicas"]
    found = designed(*nodes("a", "b", "c"), web, scaler(6), survive=["zone"], left=[3])
    assert (found.promises, found.replicas) == (True, 6)
    documents = list(yaml.safe_load_all(found.manifest))
    assert all("replicas" not in each["spec"] for each in documents)
    assert documents[-1]["spec"]["minAvailable"] == "50%", "a number may be more than the autoscaler's minimum"


def test_a_design_for_more_replicas_than_the_autoscalers_minimum_warns() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=6)]
    for least, warned in ((2, True), (6, False)):
        answer = promise_design(inventory(*objects, scaler(least)), ["deploy/web"], want="zone-loss>=50%")
        assert answer.verdict == "yes"
        assert any("HorizontalPodAutoscaler web allows 2" in each for each in answer.warnings) == warned


def test_workloads_of_one_pod_are_named_as_not_designed() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=3), workload("Deployment", "one", replicas=1)]
    answer = promise_design(inventory(*objects), want="zone-loss>=1")
    assert answer.warnings == ("1 workload of fewer than two pods has no design",)
    assert promise_design(inventory(*objects), ["deploy/web"], want="zone-loss>=1").warnings == ()


def test_the_loosest_that_does_is_taken() -> None:
    found = designed(*nodes("a", "b"), workload("Deployment", replicas=4), survive=["zone"], left=[1])
    assert found.promises
    assert spreads(found)[ZONE]["maxSkew"] > 1


def test_what_is_there_already_needs_a_budget_alone() -> None:
    own = spread(matchLabelKeys=["pod-template-hash"], nodeTaintsPolicy="Honor")
    web = workload("Deployment", replicas=3, spec={"topologySpreadConstraints": [own]}, strategy=rolling(1, 0))
    found = designed(*nodes("a", "b", "c"), web, survive=["zone"], left=[2])
    assert [each.line for each in found.lines] == ["PodDisruptionBudget: minAvailable 2"]


def test_a_smaller_min_domains_is_tried_where_it_keeps_pods_pending() -> None:
    many = spread(topologyKey=ZONE, minDomains=4)
    objects = [
        *nodes("a", "a", "b", "b"),
        workload("Deployment", replicas=4, spec={"topologySpreadConstraints": [many]}),
    ]
    found = designed(*objects, survive=["zone"], left=[2])
    assert found.promises
    assert spreads(found)[ZONE]["minDomains"] == 1  # 2 keeps pods pending after a zone's loss
    reason = next(each.reason for each in found.lines if each.line == "minDomains: 1")
    assert reason == "without it 2 of 4 pods find no node"


def test_too_few_zones_cannot_promise_it() -> None:
    found = designed(*nodes("a", "b"), workload("Deployment", replicas=4), survive=["zone"], left=[3])
    assert (found.promises, found.manifest, found.lines) == (False, "", ())
    assert found.unmet[0] == "2 zones: one of them always holds at least 2 of 4 pods, so its loss leaves at most 2"
    assert f"the loss of zone a can leave 2 of 4, with topologySpreadConstraints: {ZONE}, maxSkew 1" in found.unmet
    assert any(each.startswith("the loss of zone a can leave 0 of 4, with nothing added") for each in found.unmet)


def test_nothing_is_counted_out_where_pods_may_be_outside_of_every_zone() -> None:
    outside = node("x1", None)
    found = designed(*nodes("a", "b"), outside, workload("Deployment", replicas=4), survive=["zone"], left=[3])
    assert not any("one of them always holds" in each for each in found.unmet)


def test_a_cluster_without_room_cannot_promise_it() -> None:
    full = [node("a1", "a", cpu="1"), node("b1", "b", cpu="1")]
    found = designed(*full, workload("Deployment", replicas=4), survive=["zone"], left=[1])
    assert not found.promises
    assert "2 of 4 pods find no node, with nothing added" in found.unmet


def test_a_lost_node_is_unnoticed_when_no_two_pods_share_one() -> None:
    found = designed(*nodes("a", "a", "b", "b"), workload("Deployment", replicas=2), unnoticed=True)
    assert found.promises
    assert HOSTNAME in spreads(found) or "podAntiAffinity" in found.manifest


def test_an_unnoticed_node_needs_another_to_go_to() -> None:
    full = [node("a1", "a", cpu="1"), node("b1", "b", cpu="1")]
    found = designed(*full, workload("Deployment", replicas=2), unnoticed=True)
    assert not found.promises


def test_other_replicas_stand_in_the_manifest() -> None:
    found = designed(*nodes("a", "b", "c"), workload("Deployment", replicas=1), survive=["zone"], left=[2], replicas=3)
    assert next(yaml.safe_load_all(found.manifest))["spec"]["replicas"] == 3


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({}, "no promise given"),
        ({"survive": ["zone"]}, "each --survive needs one --left"),
        ({"survive": ["zone"], "left": [3]}, "with 3 replicas, a loss can leave 1 to 2"),
        ({"survive": ["zone", "zone"], "left": [1, 2]}, "twice"),
        ({"survive": ["rack"], "left": [1]}, 'no node has the label "rack"'),
        ({"survive": ["zone"], "left": [1], "replicas": 1}, "with 1 replica, a loss can leave nothing; ask for more"),
        ({"unnoticed": True, "replicas": 1}, "at least two replicas"),
    ],
)
def test_what_cannot_be_meant_is_refused(wanted: Json, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        designed(*nodes("a", "b", "c"), workload("Deployment", replicas=3), **wanted)


def test_the_smallest_set_of_wants_without_a_design_is_named() -> None:
    """Zone a may hold 2 of 4 on its three nodes; the one node of the other zone then has 2."""
    objects = [*nodes("a", "a", "a", "b"), workload("Deployment", replicas=4)]
    found = promise_design(inventory(*objects), want="zone-loss>=2 node-loss>=3", states=500, tries=30)
    assert found.verdict == "no"
    says = "with 2 pods a zone and 1 a node at most, the nodes have room for 3 of 4"
    assert (found.workloads[0].unmet[0], found.causes[0].says) == (says, says)
    wanted = {"want": "zone-loss>=2 skew<=0", "states": 500, "tries": 30}
    of_set = promise_design(inventory(*nodes("a", "b"), workload("StatefulSet", "db", 5)), **wanted)
    assert of_set.verdict == "unknown"
    assert of_set.workloads[0].conflict == ("the loss of any one zone leaves at least 2 of 5", "skew<=0")


def test_the_exit_code_is_1_when_no_design_keeps_it() -> None:
    words = ["promise", "design", "deploy/web", "-f", WEB, "--on", "zones=1,nodes=3", "--want", "zone-loss>=4"]
    done = CliRunner().invoke(command, words, standalone_mode=False)
    assert done.return_value == 1
    assert done.stdout.startswith("no: no design ")
    assert "why: 1 zone: one of them always holds at least 6 of 6" in done.stdout


def test_a_part_that_is_not_judged_is_left_out_of_the_design_and_the_verdict_is_unknown() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    web = workload("Deployment", replicas=3, spec={"resourceClaims": claims})
    found = promise_design(inventory(*nodes("a", "b", "c"), web), states=500, tries=30)
    assert (found.verdict, [each.what for each in found.unjudged]) == ("unknown", ["resourceClaims"])
    assert ZONE in found.workloads[0].manifest
    impossible = promise_design(inventory(*nodes("a", "b", "c"), web), want="zone-loss>=3", replicas=4, states=500)
    assert impossible.verdict == "no"


def test_all_workloads_are_designed_for_with_a_row_each() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=3), workload("StatefulSet", "db", 3)]
    found = promise_design(inventory(*objects), states=500, tries=30)
    assert (found.verdict, found.says) == ("yes", "2 of 2 workloads can keep the wanted promises")
    assert {each.asked for each in found.workloads} == {("the loss of any one zone leaves at least 2 of 3",)}
    assert [line.split()[0] for line in found.text().splitlines() if line.startswith("shop/")] == [
        "shop/web",
        "shop/db",
    ]


def test_more_than_any_loss_leaves_is_no_reason_to_leave_out_other_workloads() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=2), workload("StatefulSet", "db", 3)]
    found = promise_design(inventory(*objects), want="quorum", states=500, tries=30)
    assert {each.name: each.verdict for each in found.workloads} == {"web": "no", "db": "yes"}
    assert found.causes[0].says == "the loss of a domain with a pod leaves 1 of 2 at most"


@pytest.mark.parametrize(
    ("want", "added"),
    [
        ("drain>=2", ["PodDisruptionBudget: minAvailable 2"]),
        ("rollout>=3", ["strategy: maxSurge 1, maxUnavailable 0"]),
        ("skew<=1", [f"topologySpreadConstraints: {ZONE}, maxSkew 1", "matchLabelKeys: [pod-template-hash]"]),
        ("never-waits", []),
    ],
)
def test_other_promises_than_losses_are_designed_for(want: str, added: list[str]) -> None:
    own = {"topologySpreadConstraints": [spread(2)]} if want.startswith("skew") else {}
    web = workload("Deployment", "web", 3, own)
    web["spec"]["strategy"] = rolling(1, 1)
    found = promise_design(inventory(*nodes(*"abc"), web), want=want, states=500)
    assert found.verdict == "yes"
    assert sorted(each.line for each in found.workloads[0].lines) == sorted(added)


@pytest.mark.parametrize(
    ("annotations", "declare"),
    [
        ({}, "zone-loss>=2 rollout>=2"),
        ({"topospread.dev/promise": "rollout>=2 never-waits"}, "rollout>=2 never-waits zone-loss>=2"),
        ({"topospread.dev/promise": "zone-loss>=1 rollout>=2"}, "rollout>=2 zone-loss>=2"),
        ({"topospread.dev/promise": "node-loss>=50% rollout>=2"}, "node-loss>=50% rollout>=2 zone-loss>=2"),
        ({"topospread.dev/promise": "zone-loss>=50%"}, "zone-loss>=50% rollout>=2"),
        ({"topospread.dev/quorum": "2"}, "rollout>=2"),
        ({"topospread.dev/promise": "zone-loss>=2 rollout>=3"}, ""),
    ],
)
def test_the_manifest_declares_what_a_design_keeps(annotations: Json, declare: str) -> None:
    web = workload("Deployment", "web", 3, strategy=rolling(1, 0))
    web["metadata"]["annotations"] = annotations
    found = promise_design(inventory(*nodes(*"abc"), web), want="zone-loss>=2 rollout>=2", states=500)
    assert (found.verdict, found.workloads[0].declare) == ("yes", declare)
    (one,) = found.workloads
    assert ("declare: the annotation" in found.text()) == bool(declare)
    assert (f"topospread.dev/promise: {declare}\n" in one.manifest) == bool(declare)


@pytest.mark.parametrize("want", ["", "node-loss>=50%"])
def test_declared_promises_are_wanted_and_stay_as_they_are_written(want: str) -> None:
    declared = "zone-loss>=50% node-loss>=5"
    web = workload("Deployment", "web", 6, strategy=rolling(1, 0)) | {"apiVersion": "apps/v1"}
    web["metadata"]["annotations"] = {"topospread.dev/promise": declared}
    there = nodes(*"aabbcc")
    (one,) = promise_design(inventory(*there, web), want=want, states=500).workloads
    assert set(one.asked) == {
        "the loss of any one zone leaves at least 3 of 6",
        "the loss of any one node leaves at least 5 of 6",
    }
    assert (one.verdict, one.declare) == ("yes", "")
    web["spec"]["template"]["spec"] |= next(yaml.safe_load_all(one.manifest))["spec"]["template"]["spec"]
    assert promise_check(inventory(*there, web)).says == "all of 2 declared promises are kept"


def test_promises_of_the_project_are_designed_and_not_declared_again() -> None:
    web = workload("Deployment", "web", 3, strategy=rolling(1, 0))
    project = DeclaredPromise({"app": "web"}, "node-loss>=2", Place())
    (one,) = promise_design(inventory(*nodes(*"abc"), web), declared=[project], states=500).workloads
    assert (one.asked, one.declare) == (("the loss of any one node leaves at least 2 of 3",), "")


def test_a_design_refuses_a_misspelt_declaration() -> None:
    web = workload("Deployment", "web", 3, strategy=rolling(1, 0))
    web["metadata"]["annotations"] = {"topospread.dev/promise": "zone-los>=2"}
    with pytest.raises(UsageError, match="zone-loss"):
        promise_design(inventory(*nodes(*"abc"), web), want="zone-loss>=2")


def test_a_design_without_wants_declares_the_share_that_it_keeps_and_no_loss_of_other_domains() -> None:
    there = nodes(*"abc")
    for each in there:
        each["metadata"]["labels"]["rack"] = each["metadata"]["name"]
    web = workload("Deployment", "web", 3, strategy=rolling(1, 0))
    found = promise_design(inventory(*there, web), states=500)
    assert (found.workloads[0].declare, found.warnings) == ("zone-loss>=2", ())
    racks = promise_design(inventory(*there, web), survive=["rack"], left=[2], states=500)
    assert (racks.verdict, racks.workloads[0].declare) == ("yes", "")
    assert "promise check does not check the loss of rack" in racks.warnings[0]


@pytest.mark.parametrize("spec", [{"minAvailable": 3}, {"maxUnavailable": 0}])
def test_a_budget_that_lets_no_pod_be_evicted_is_relaxed_for_a_promise_on_drains(spec: Json) -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "shop"}}
    budget["spec"] = {**spec, "selector": {"matchLabels": {"app": "web"}}}
    found = promise_design(inventory(*nodes(*"abc"), workload("StatefulSet", "web", 3), budget), want="drain>=2")
    (line,) = found.workloads[0].lines
    assert (line.line, line.reason, line.wanted) == (
        "PodDisruptionBudget: minAvailable 2",
        "without it a drain does not end: budgets keep all 3 pods",
        False,
    )
    assert found.says == "shop/web keeps the wanted promises with 1 added line, by choice"


def test_a_promise_that_all_pods_stay_in_a_drain_is_kept_by_a_budget_that_blocks_drains() -> None:
    web = workload("StatefulSet", "web", 3)
    found = promise_design(inventory(*nodes(*"abc"), web), want="drain>=3")
    assert [(each.line, each.wanted) for each in found.workloads[0].lines] == [
        ("PodDisruptionBudget: minAvailable 3", True)
    ]
    assert (found.verdict, found.warnings) == ("yes", ())
    assert found.says.endswith("line, but budget shop/web blocks every drain of a node with its pods")


def test_a_constraint_on_zones_that_bounds_nodes_too_needs_none_on_nodes() -> None:
    own = spread(matchLabelKeys=["pod-template-hash"], nodeTaintsPolicy="Honor")
    objects = nodes(*"aabbcc")
    found = designed(*objects, workload("Deployment", replicas=5), survive=["zone", "node"], left=[3, 3])
    assert set(spreads(found)) == {ZONE}
    web = workload("Deployment", replicas=5, spec={"topologySpreadConstraints": [own]})
    found = designed(*objects, web, survive=["zone", "node"], left=[3, 3])
    assert [each.line for each in found.lines] == ["PodDisruptionBudget: minAvailable 3"]


def test_a_promise_that_nothing_keeps_has_a_reason() -> None:
    web = workload("Deployment", "web", 3)
    found = promise_design(inventory(node("a1", cpu="2"), web), want="never-waits", states=500)
    assert found.verdict == "no"
    assert "of 3 pods find no node" in found.causes[0].says


def test_the_fix_of_promise_check_is_a_design() -> None:
    """With two hard constraints, a rollout only ends if both count each revision alone."""
    own = {"topologySpreadConstraints": [spread(minDomains=3, nodeTaintsPolicy="Honor"), spread(topologyKey=HOSTNAME)]}
    web = workload("Deployment", "web", 6, own)
    found = promise_design(inventory(*nodes(*"aabbc"), web), want="zone-loss>=4", states=500)
    assert found.verdict == "yes"
    assert [each.line for each in found.workloads[0].lines].count("matchLabelKeys: [pod-template-hash]") == 2


def test_a_workload_equal_to_one_before_it_takes_that_design_if_its_own_checks_pass() -> None:
    objects = [*nodes("a", "b", "c"), *(workload("Deployment", name, 3) for name in ("web", "api"))]
    first, second = promise_design(inventory(*objects), states=500, tries=30).workloads
    assert (first.verdict, second.verdict, second.tried) == ("yes", "yes", 1)
    assert [each.line for each in first.lines] == [each.line for each in second.lines]
    assert second.lines[0].reason == f"{first.lines[0].reason} (found for shop/web, which is equal)"
    assert "app: api" in second.manifest


def test_the_design_of_an_equal_workload_is_not_taken_if_it_fails_here() -> None:
    given = inventory(*nodes("a", "b", "c"), workload("Deployment", "web", 3))
    wants: Json = {"survive": ["zone"], "left": [2], "states": 500}
    known: dict[Hashable, Design] = {}
    good = design(given, "deploy/web", known=known, **wants)
    broken = {each: replace(one, rules=DesignRules()) for each, one in known.items()}
    again = design(given, "deploy/web", known=broken, **wants)
    assert (again.rules, again.lines) == (good.rules, good.lines)


def test_no_second_search_is_made_for_an_equal_workload_without_a_design() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"tier": "front"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    objects = [workload("Deployment", name, 6, {"affinity": apart}) for name in ("web", "api")]
    for each in objects:
        each["spec"]["template"]["metadata"]["labels"]["tier"] = "front"
    first, second = promise_design(inventory(*nodes(*"aabbcc"), *objects), want="zone-loss>=4", states=500).workloads
    assert (first.verdict, second.verdict, second.tried) == ("unknown", "unknown", 0)
    assert second.unmet == tuple(f"{each} (found for shop/web, which is equal)" for each in first.unmet)


def test_with_files_and_a_cluster_the_workloads_of_the_files_are_designed(tmp_path: Path) -> None:
    old, new = (workload("Deployment", name, 2) for name in ("old", "web"))
    other = workload("Deployment", "web", 2) | {"metadata": {"name": "web", "namespace": "other"}}
    cluster, own = tmp_path / "cluster.json", tmp_path / "own.json"
    for path, items in ((cluster, [*nodes("a", "b", "c"), old, other]), (own, [new])):
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def names(*words: str) -> set[str]:
        files = ("--on", str(cluster), *(("-f", str(own)) if "-f" in words else ()))
        words = tuple(each for each in words if each != "-f")
        done = CliRunner().invoke(command, ["promise", "design", *files, *words, "-o", "json"])
        return {f"{each['namespace']}/{each['name']}" for each in json.loads(done.stdout)["workloads"]}

    space = new["metadata"]["namespace"]
    assert names("--all", "-f") == names("-f") == {f"{space}/web"}
    assert names("--all", "-f", "-A") == {f"{space}/web", f"{space}/old", "other/web"}
    assert names("--all") == {f"{space}/old", "other/web"}
    assert names("deploy/web", "-f") == {f"{space}/web"}
    assert names("deploy/old", "-f") == {f"{space}/old"}


def test_the_pods_that_must_remain_may_be_a_share() -> None:
    words = ("promise", "design", "deploy/web", "-f", WEB, "--on", "zones=3,nodes=6", "--survive", "zone", "-o", "json")
    share, number = (CliRunner().invoke(command, [*words, "--left", left]) for left in ("50%", "3"))
    assert share.exit_code == 0
    assert share.stdout == number.stdout
    refused = CliRunner().invoke(command, [*words, "--left", "half"])
    assert "'half' is not a valid integer" in refused.output


def budget(available: int) -> Json:
    spec = {"minAvailable": available, "selector": {"matchLabels": {"app": "web"}}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": spec,
    }


def test_a_budget_that_blocks_every_drain_is_told_with_the_promise_that_lowers_it() -> None:
    objects = [*nodes("a", "b", "c"), workload("Deployment", replicas=3)]
    (warning,) = promise_design(inventory(*objects, budget(3)), want="zone-loss>=1").warnings
    assert warning.startswith("PodDisruptionBudget shop/web blocks every drain of a node with a pod of shop/web")
    assert '--want "drain>=2" lowers it' in warning
    assert not promise_design(inventory(*objects, budget(3)), want="drain>=2").warnings
    assert not promise_design(inventory(*objects, budget(2)), want="zone-loss>=1").warnings


def test_no_second_budget_is_written_beside_one_in_a_file_that_was_not_read(tmp_path: Path) -> None:
    web, other = tmp_path / "web.yaml", tmp_path / "pdb.yaml"
    web.write_text(yaml.safe_dump(workload("Deployment", replicas=3)))
    words = ["promise", "design", "-f", str(web), "--on", "zones=3,nodes=6", "--want", "drain>=2", "--in-place"]
    other.write_text(yaml.safe_dump(budget(3)))
    before = web.read_text()
    done = CliRunner().invoke(command, words)
    assert web.read_text() == before
    assert f"shop/web: {other} has PodDisruptionBudget web; add -f {other}" in str(done.exception)
    other.write_text(yaml.safe_dump(budget(3) | {"metadata": {"name": "web", "namespace": "other"}}))
    assert CliRunner().invoke(command, words).exit_code == 0
    assert "PodDisruptionBudget" in web.read_text()
