"""Declared promises: proved, broken with a counterexample, or not decided where something is not judged."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parted import parted
from tests.unit.drill.builders import inventory, node, nodes, rolling, running, spread, told, workload
from topospread.answer import Answer
from topospread.answers.promise_check import PromiseCheck, promise_check
from topospread.answers.promise_show import promise_show
from topospread.api.inventory import Inventory
from topospread.base import Bounds
from topospread.drill.steps import Wait
from topospread.errors import InputError, InvalidError, UsageError
from topospread.lint.settings import read_settings
from topospread.sources.load import load
from topospread.status.status import status as status_of

Json = dict[str, Any]
THREE = nodes("a", "a", "b", "b", "c", "c")


def checked(objects: list[Json], want: str = "", **options: Any) -> PromiseCheck:
    return promise_check(inventory(*objects), want=want, states=3000, **parted(options))


def verdicts(objects: list[Json], want: str) -> dict[str, str]:
    return {each.want: each.verdict for each in checked(objects, want).promises}


def web(*constraints: Json, replicas: int = 6, spec: Json | None = None, **more: Any) -> Json:
    pod = {"topologySpreadConstraints": list(constraints)} | (spec or {})
    return workload("Deployment", "web", replicas, pod, **more)


def of_pod(requests: Json, **spec: Any) -> Json:
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]} | spec


def claiming(cpu: str) -> Json:
    """Pods with a resource claim, which topospread does not model."""
    return of_pod({"cpu": cpu}, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])


def test_promises_rest_on_filters_and_not_on_scores() -> None:
    """Scores spread the pods evenly, but nothing forces them to: by filters alone maxSkew 5 leaves 1 of 6."""
    tight = verdicts([*THREE, web(spread(matchLabelKeys=["pod-template-hash"]))], "zone-loss>=4 node-loss>=4")
    assert tight == {"zone-loss>=4": "yes", "node-loss>=4": "yes"}
    loose = checked([*THREE, web(spread(5))], "zone-loss>=2")
    assert (loose.verdict, loose.promises[0].says) == ("no", "losing a leaves 1 of 6")
    assert loose.promises[0].order


def test_a_proof_for_zones_is_a_proof_for_nodes_if_each_node_is_in_one_zone() -> None:
    """A constraint on zones bounds the pods of a node after a rollout, without a search."""
    spec = of_pod({"cpu": "2"})
    app = web(spread(matchLabelKeys=["pod-template-hash"]), spec=spec, strategy=rolling(2, 0))
    there = [node(f"n{at}", "abc"[at % 3], cpu="4") for at in range(9)]

    def said(*objects: Json) -> tuple[str, bool]:
        (found,) = promise_check(inventory(*objects, app), want="node-loss>=4", states=1, seconds=1).promises
        (shown,) = promise_show(inventory(*objects, app), states=1, seconds=0.5).workloads
        (lost,) = (each for each in shown.events if each.when == "node-loss")
        assert (found.verdict == "yes") == found.says.endswith("; every node is in one zone")
        return found.verdict, lost.rolled is None or lost.rolled.known

    assert said(*there) == ("yes", True)
    assert said(*there, node("elsewhere", cpu="4"))[0] == "unknown"
    there[-1]["metadata"]["labels"]["kubernetes.io/hostname"] = "n0"
    assert said(*there)[0] != "yes"


def scaler(least: int, most: int) -> Json:
    """Return the HorizontalPodAutoscaler of Deployment web."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most}
    kind = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
    return {**kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


@pytest.mark.parametrize(
    ("least", "most", "want", "verdict", "says"),
    [
        (6, 6, "zone-loss>=4", "yes", "at least 4 are left"),
        (3, 6, "zone-loss>=4", "no", "leaves 2 of 3 (HorizontalPodAutoscaler web allows 3 replicas)"),
        (3, 12, "zone-loss>=2", "yes", "HorizontalPodAutoscaler web allows 3 to 12, and all are judged"),
        # 66 % of 3 and of 6 pods are left, but of 4 pods only 2.
        (3, 6, "zone-loss>=66%", "no", "leaves 2 of 4 (HorizontalPodAutoscaler web allows 4 replicas)"),
        (6, 25, "never-waits", "no", "pending (HorizontalPodAutoscaler web allows 25 replicas)"),
        (3, 6, "never-waits", "yes", "HorizontalPodAutoscaler web allows 3 to 6, and all are judged"),
        (0, 6, "zone-loss>=1", "no", "leaves 0 of 1 (HorizontalPodAutoscaler web allows 1 replica)"),
    ],
)
def test_a_promise_holds_for_each_number_of_replicas_that_an_autoscaler_allows(
    least: int, most: int, want: str, verdict: str, says: str
) -> None:
    on = [each | {"status": {"allocatable": {"cpu": "4", "pods": "110"}}} for each in THREE]
    own = web(spread(matchLabelKeys=["pod-template-hash"]), spec=of_pod({"cpu": "1"}), strategy=rolling(0, 1))
    (found,) = checked([*on, own, scaler(least, most)], want).promises
    assert (found.verdict, found.says.endswith(says), found.drill) == (verdict, True, ""), found.says


def test_sizes_between_that_the_time_does_not_suffice_for_are_not_decided() -> None:
    given = inventory(*THREE, web(spread(matchLabelKeys=["pod-template-hash"])), scaler(3, 6))
    answer = promise_check(given, want="zone-loss>=50%", states=3000, seconds=0.0)
    assert answer.verdict == "unknown"
    assert "HorizontalPodAutoscaler web allows 3 to 6 replicas, too many to judge in 0 s" in answer.unjudged[0].because


def test_an_autoscaler_may_allow_two_thousand_million_replicas() -> None:
    given = inventory(*THREE, web(spread(matchLabelKeys=["pod-template-hash"])), scaler(3, 2**31 - 1))
    with pytest.raises(InvalidError, match="2147483647 pods are more than can be simulated"):
        promise_check(given, want="zone-loss>=1%", states=100, seconds=0.0)


def test_promises_are_shown_with_one_number_of_replicas() -> None:
    own = web(spread(matchLabelKeys=["pod-template-hash"]))
    shown = promise_show(inventory(*THREE, own, scaler(3, 6)), ["deploy/web"])
    assert shown.says == "no single loss takes all pods of shop/web with 6 replicas"
    assert "HorizontalPodAutoscaler web allows 3 to 6: topospread promise check judges all" in shown.warnings[-1]
    assert f"kept with {shown.workloads[0].replicas} replicas, proved" in " ".join(shown.text().split())
    assert shown.workloads[0].sizes == Bounds(least=3, most=6)
    assert "with 6" not in promise_show(inventory(*THREE, own, scaler(6, 6)), ["deploy/web"]).says


def test_a_rollout_is_part_of_a_promise() -> None:
    found = checked([*THREE, web(spread(), strategy=rolling(2, 1))], "zone-loss>=3 zone-loss>=4")
    assert [(each.verdict, each.when) for each in found.promises] == [
        ("yes", "after every rollout"),
        ("no", "after some rollout"),
    ]


def test_the_courses_of_a_rollout_are_shown_step_by_step() -> None:
    text = checked([*nodes("a", "b", "c"), web(spread(), strategy=rolling(2, 1))], "skew<=2").text(wide=True)
    assert text.startswith("no: 1 of 1 promise is not kept\nwhy: shop/web skew<=2: after one possible rollout,")
    assert "an old pod of shop/web on " in text
    assert "a new pod of shop/web is ready" in text


def test_a_pod_that_names_a_node_that_does_not_exist_waits() -> None:
    required = {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["ghost"]}]}]
    }
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    assert verdicts([*THREE, web(spec={"affinity": affinity})], "never-waits") == {"never-waits": "no"}


def test_pods_that_are_not_ready_yet_are_named_if_the_present_placement_breaks_a_promise() -> None:
    given = [*nodes("a", "b", "c"), *running(True, True, False)]
    wait = "wait for: kubectl rollout status -n shop deployment/web"
    assert checked(given, "zone-loss>=2").warnings == (f"1 pod of shop/web is not ready yet and not counted; {wait}",)
    assert checked(given, "zone-loss>=1").warnings == ()


def test_what_runs_now_is_part_of_a_promise() -> None:
    spec = of_pod({"cpu": "1"}, topologySpreadConstraints=[spread()])
    replicas = workload("ReplicaSet", "web", 3, spec)
    replicas["metadata"]["uid"] = "u"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"web-{at}",
                "namespace": "shop",
                "labels": {"app": "web"},
                "ownerReferences": [owner],
            },
            "spec": spec | {"nodeName": "a1"},
        }
        for at in range(3)
    ]
    (each,) = checked([*nodes("a", "b", "c"), replicas, *pods], "zone-loss>=2").promises
    assert (each.verdict, each.when, each.ground, each.says) == ("no", "now", "seen", "losing a leaves 0 of 3")


@pytest.mark.parametrize(
    "status",
    [
        {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]},
        {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}]},
        {"phase": "Running", "conditions": [{"type": "Initialized", "status": "True"}]},
    ],
)
def test_a_pod_that_starts_is_ready_for_no_command(status: Json) -> None:
    """Like budgets and Services, they count a pod once its condition Ready is true."""
    objects = [*nodes("a", "b", "c"), *running(True, True, False, **status)]
    (each,) = checked(objects, "zone-loss>=2").promises
    assert (each.verdict, each.when, each.says) == ("no", "now", "losing a leaves 1 of 3 (only 2 ready before)")
    (web_now,) = status_of(inventory(*objects)).workloads
    assert (web_now.ready, web_now.existing) == (2, 3)
    (found,) = told(objects, Wait(0)).workloads
    assert found.ready == 2


def test_a_strategy_bounds_a_rollout() -> None:
    objects = [*THREE, web(spread(), strategy=rolling(1, 2))]
    assert verdicts(objects, "rollout>=4 rollout>=5 rollout>=60%") == {
        "rollout>=4": "yes",
        "rollout>=5": "no",
        "rollout>=60%": "yes",
    }
    assert verdicts([*THREE, web(spread(), strategy={"type": "Recreate"})], "rollout>=1") == {"rollout>=1": "no"}
    assert verdicts([*THREE, workload("StatefulSet", "db", 3)], "rollout>=2") == {"rollout>=2": "yes"}


def annotated(promise: str, key: str = "topospread.dev/promise") -> Json:
    made = web(spread(matchLabelKeys=["pod-template-hash"]))
    made["metadata"]["annotations"] = {key: promise}
    return made


def test_an_annotation_declares_promises_and_workloads_without_one_are_left_out() -> None:
    found = checked([*THREE, annotated("zone-loss>=4 rollout>=6"), workload("ReplicaSet", "other", 2)])
    assert [(each.want, each.verdict) for each in found.promises] == [("zone-loss>=4", "yes"), ("rollout>=6", "no")]
    assert found.says == "1 of 2 declared promises is not kept"
    assert {each.workload for each in found.promises} == {"shop/Deployment/web"}
    assert verdicts([*THREE, annotated("4", "topospread.dev/quorum")], "") == {
        "zone-loss>=4": "yes",
        "node-loss>=4": "yes",
    }


def test_what_is_asked_wins_over_the_annotation_and_a_mistake_in_it_names_the_workload() -> None:
    assert verdicts([*THREE, annotated("zone-loss>=6")], "rollout>=1") == {"rollout>=1": "yes"}
    with pytest.raises(UsageError, match='shop/web: promise "zone-loss": write zone-loss>=N'):
        checked([*THREE, annotated("zone-loss")])


@pytest.mark.parametrize("ask", [promise_check, promise_show])
@pytest.mark.parametrize(
    ("of_workload", "of_pods", "said"),
    [
        ("promises: quorum", "", "unknown annotation topospread.dev/promises; did you mean topospread.dev/promise?"),
        ("qourum: '2'", "", "unknown annotation topospread.dev/qourum; did you mean topospread.dev/quorum?"),
        ("promise: zone-los>=1", "", 'promise "zone-los>=1" is unknown; did you mean zone-loss>=1?'),
        ("", "promise: quorum", "topospread.dev/promise belongs to the Deployment, not to its pod template"),
        ("promise: quorum", "promise: quorum", ""),
        ("ignore: no-budget", "", ""),
    ],
)
def test_an_annotation_that_declares_nothing_is_an_error_with_its_line(
    tmp_path: Path, ask: Callable[[Inventory], Answer], of_workload: str, of_pods: str, said: str
) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    a: b
    {of_workload and f"topospread.dev/{of_workload}"}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata:
      labels: {{app: web}}
      annotations: {{ {of_pods and f"topospread.dev/{of_pods}"} }}
    spec: {{containers: [{{name: c, image: i}}]}}
""")
    given = load([str(path)], cluster="zones=3,nodes=3")
    if not said:
        assert ask(given).verdict != "unknown"
        return
    line = 7 if of_workload else 1
    with pytest.raises(UsageError, match=re.escape(f"{path}:{line}: default/web: {said}")):
        ask(given)


def test_settings_declare_promises_by_labels(tmp_path: Path) -> None:
    path = tmp_path / ".topospread.yaml"
    path.write_text('promises: [{select: "app=web", want: "zone-loss>=4"}]')
    settings = read_settings(str(path))
    assert settings is not None
    objects = [*THREE, web(spread(matchLabelKeys=["pod-template-hash"])), workload("ReplicaSet", "other", 2)]
    (each,) = checked(objects, declared=settings.promises).promises
    assert (each.workload, each.verdict, each.declared) == ("shop/Deployment/web", "yes", f"{path}:1")
    for text, said in (("[{select: web}]", "labels such as"), ("[{wants: x}]", "unknown field"), ("x", "a list")):
        path.write_text(f"promises: {text}")
        with pytest.raises(InputError, match=said):
            read_settings(str(path))


def test_a_pod_that_is_not_judged_is_never_promised_a_node() -> None:
    found = checked([*THREE, web(spread(), spec=claiming("1"), replicas=3)], "never-waits zone-loss>=1")
    assert [each.verdict for each in found.promises] == ["unknown", "unknown"]
    assert found.verdict == "unknown"
    assert [each.what for each in found.unjudged] == ["resourceClaims"]
    assert found.assumed


def test_judged_filters_alone_break_a_promise() -> None:
    found = checked([*THREE, web(spread(), spec=claiming("16"), replicas=3)], "never-waits zone-loss>=1")
    assert [each.verdict for each in found.promises] == ["no", "no"]


def test_pods_that_are_not_judged_are_adversaries_of_others() -> None:
    """They may take the room of web's last pod, or none of it."""
    infer = workload("ReplicaSet", "infer", 1, claiming("1"))
    other = workload("ReplicaSet", "other", 2, of_pod({"cpu": "1"}))
    tight = [node("a1", "a", cpu="1"), node("b1", "b", cpu="1")]
    (each,) = checked([*tight, infer, other], "never-waits", targets=["rs/other"]).promises
    assert each.verdict == "unknown"
    (ample,) = checked([*nodes("a", "b"), infer, other], "never-waits", targets=["rs/other"]).promises
    assert ample.verdict == "yes"


def test_a_search_that_ends_early_decides_nothing() -> None:
    """Whether a zone has room for all six is not counted, only searched."""
    objects = inventory(*(node(f"{zone}1", zone, cpu="4") for zone in "abc"), workload("ReplicaSet", "web", 6))
    found = promise_check(objects, ["rs/web"], want="zone-loss>=1", states=1)
    assert (found.verdict, found.unjudged[0].what) == ("unknown", "budget")
    assert found.unjudged[0].because.startswith("not decided within 1 states (raise --states)")
    assert not found.unjudged[0].to_know, "no number of states is sure to be enough"
    assert "exit code: 4; --allow-unknown makes it 0" in found.text()
    assert promise_check(objects, ["rs/web"], want="zone-loss>=1").verdict == "yes"


def test_targets_that_promise_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="a DaemonSet cannot have promises"):
        checked([*THREE, workload("DaemonSet", "agent")], targets=["ds/agent"])
    with pytest.raises(UsageError, match="no workload with replicas"):
        checked([*THREE])


def test_jobs_and_bare_pods_promise_that_they_never_wait() -> None:
    objects = [*nodes("a"), workload("Job", "batch", 2)]
    assert verdicts(objects, "never-waits") == {"never-waits": "yes"}
    with pytest.raises(UsageError, match="no workload with replicas"):
        checked(objects, "zone-loss>=1")


def test_a_quorum_is_told_of_the_replicas_although_fewer_have_a_node() -> None:
    """Three of five find a node: two are left, which is a quorum of three pods and not of five."""
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    db = workload("StatefulSet", "db", 5, {"affinity": anti})
    (found,) = promise_check(inventory(*nodes("a", "b", "c"), db), ["sts/db"]).promises
    assert (found.want, found.verdict, found.when) == ("quorum", "no", "in some order")
    assert found.says == "losing a leaves 2 of 5 (only 3 had a node)"


def test_pods_that_are_not_ready_now_are_not_left() -> None:
    found = checked([*nodes("a", "b", "c"), *running(False, False, True)], "zone-loss>=1")
    assert (found.verdict, found.promises[0].says) == ("no", "losing c leaves 0 of 3 (only 1 ready before)")
    assert found.promises[0].when == "now"
    lost = checked([*nodes("a", "b", "c"), *running(True, True, True)], "zone-loss>=2")
    assert lost.promises[0].when != "now"


def test_a_budget_that_lets_no_pod_be_evicted_keeps_a_drain_promise_with_a_word_on_drains_that_do_not_end() -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "shop"}}
    for least, said in ((6, "budgets keep 6 of 6 ready, so a drain does not end"), (5, "budgets keep 5 of 6 ready")):
        spec = {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}}
        found = checked([*THREE, web(spread()), budget | {"spec": spec}], "drain>=4")
        (each,) = found.promises
        assert (each.verdict, each.says) == ("yes", said)
        blocked = ", but budget shop/b blocks every drain of a node with its pods" if least == 6 else ""
        assert found.says == f"the promise is kept{blocked}"


def test_an_entry_of_the_settings_that_selects_no_workload_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / ".topospread.yaml"
    path.write_text(
        'promises:\n- {select: "app=web", want: "zone-loss>=4"}\n- {select: "app=wbe,tier=a", want: quorum}\n'
    )
    settings = read_settings(str(path))
    assert settings is not None
    found = checked([*THREE, web(spread())], declared=settings.promises)
    assert found.warnings == (f"{path}:3: no workload has the labels app=wbe,tier=a, so quorum is not checked",)
    assert checked([*THREE, web(spread())], "zone-loss>=1", declared=settings.promises).warnings == ()
    assert checked([*THREE, web(spread())], declared=settings.promises, targets=["deploy/web"]).warnings == ()
