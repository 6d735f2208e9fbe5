"""What is counted for a pod is counted on for the next one, which differs in its claims alone."""

from __future__ import annotations

from msgspec.structs import replace

from tests.unit.plugins.storage_builders import HOST, claim, claimed, cluster, node, place, pod, storage_class, zonal
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework

TERM = {"topologyKey": HOST, "labelSelector": {}}
APART = {
    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]}
}


def test_pods_that_come_later_count_for_a_pod_whose_claim_is_its_alone() -> None:
    made = cluster({}, storage_class(), claim("data"), claim("alone", accessModes=["ReadWriteOncePod"]))
    for name, labels in zonal(n0="a", n1="b").items():
        made.add_node(node(name, labels, allocatable={"pods": "9"}))
    scheduler = Scheduler(made, {"default-scheduler": Framework(default_profile(), gates_for())})
    there = pod(name="there")
    place(made, there, "n0")
    scheduler.verdict(pod(claimed("data"), affinity=APART))
    last = pod(claimed("alone"), affinity=APART)
    scheduler.verdict(last)
    for name in ("second", "third"):
        place(made, replace(there, metadata=replace(there.metadata, name=name)), "n1")

    scores = scheduler.verdict(last).scores

    assert {name: each["InterPodAffinity"] for name, each in scores.items()} == {"n0": 200, "n1": 0}
