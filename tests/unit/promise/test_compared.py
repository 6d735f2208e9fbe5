"""A change of the control plane alone is compared by what losses leave, as a change of manifests is."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from tests.unit.drill.builders import ZONE, inventory, node, nodes, spread, workload
from topospread.answers.plan import plan
from topospread.api.pod import Pod
from topospread.api.well_known_labels import HOSTNAME
from topospread.api.workload import ReplicaSet
from topospread.base import Bounds
from topospread.config.load import load_configuration
from topospread.promise.orders import SearchBudget
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

DEFAULT = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
ARGS = {"defaultingType": "List", "defaultConstraints": [DEFAULT]}
HARD = SimulationOptions(
    config=load_configuration(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": ARGS}]}],
        }
    )
)
SOFT = SimulationOptions()


@pytest.mark.parametrize("others", [0, 3])
def test_hard_default_constraints_that_go_are_worse_although_no_pod_is_pending(others: int) -> None:
    own = {"topologySpreadConstraints": [spread(labelSelector={"matchLabels": {"tier": "own"}})]}
    more = [workload("Deployment", f"own-{at}", 1, own) for at in range(others)]
    given = inventory(*nodes(*"aabbcc"), workload("Deployment", replicas=4), *more)
    answer = plan((given, given), (HARD, SOFT), rolled_out=True)
    assert (answer.verdict, answer.says) == ("no", "shop/web keeps less: losing a zone leaves at least 0 of 4, not 2")
    assert {each.name for each in answer.promises} == {"web"}, "others have constraints of their own"
    back = plan((given, given), (SOFT, HARD), rolled_out=True)
    assert (back.verdict, [each.better for each in back.promises]) == ("yes", [True, True])
    assert not plan((given, given), (SOFT, SOFT), rolled_out=True).promises


def test_pods_of_a_ReplicaSet_whose_hash_is_another_are_compared_too() -> None:  # noqa: N802 - a kind's name
    """The hash in a real cluster is of a template with fields that are not read."""
    given = simulate(inventory(*nodes(*"aabbcc"), workload("Deployment", replicas=6)), HARD, keep_after=True).after
    assert given is not None
    (made,) = given.replica_sets
    old = made.metadata.labels["pod-template-hash"]
    text = (
        b"[" + b",".join(msgspec.json.encode(each, enc_hook=str) for each in (*given.replica_sets, *given.pods)) + b"]"
    )
    sets, *pods = msgspec.json.decode(text.replace(old.encode(), b"59f8c7d6b4"))
    given = replace(
        given, replica_sets=[msgspec.convert(sets, ReplicaSet)], pods=[msgspec.convert(each, Pod) for each in pods]
    )
    answer = plan((given, given), (HARD, SOFT), rolled_out=True)
    assert (answer.verdict, answer.says) == ("no", "shop/web keeps less: losing a zone leaves at least 0 of 6, not 4")


def test_workloads_that_are_left_when_the_time_for_all_is_used_up_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchBudget, "seconds_of_all", 0.0)
    states = [inventory(*nodes(*"aabb"), workload("Deployment", replicas=number)) for number in (2, 3)]
    answer = plan((states[0], states[1]), (SOFT, SOFT), seconds=0)
    assert (answer.verdict, answer.promises) == ("unknown", ())
    (part,) = answer.unjudged
    assert part.what == "losses of shop/web"
    assert part.because == "the time for losses ended before shop/web (--seconds 0)"


def test_the_loss_of_a_node_is_simulated_where_the_pods_are() -> None:
    """Two pods are on the last two of eight nodes, and each needs a node of its own."""
    alone = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOSTNAME}
    own = {
        "nodeSelector": {ZONE: "c"},
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}},
    }
    states = [inventory(*nodes(*"aaabbbcc"), workload("Deployment", "web", number, own)) for number in (1, 2)]
    answer = plan((states[0], states[1]), (SOFT, SOFT))
    (found,) = [each for each in answer.promises if each.event == "node-after"]
    assert (found.before, found.after) == (Bounds.exactly(1), Bounds.exactly(1)), "one of two pods has no node then"


def test_a_bound_on_pods_that_are_not_judged_is_proved_and_workloads_with_own_constraints_are_named() -> None:
    """Zone c has no room, so hard defaults admit one pod to each of two zones; whether these two fit is not judged."""
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
    own = workload("Deployment", "own", 1, {"topologySpreadConstraints": [spread()]})
    given = inventory(*nodes("a", "b"), node("c1", "c", cpu="0"), workload("Deployment", "train", 3, claims), own)
    answer = plan((given, given), (SOFT, HARD), rolled_out=True)
    assert answer.verdict == "unknown"
    said = "it is proved that at most 2 pods of shop/train can find nodes, not 3, but not that fewer do; resourceClaims"
    assert answer.says.startswith(said), answer.says
    assert "default constraints do not affect 1 workload with own constraints: shop/own" in answer.notes
    assert not plan((given, given), (SOFT, SOFT), rolled_out=True).notes
