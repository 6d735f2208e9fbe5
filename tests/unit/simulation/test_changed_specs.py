"""Another spec reaches a workload's template, its ReplicaSets and its pods, and nothing else."""

from __future__ import annotations

from dataclasses import replace as with_fields

from msgspec.structs import replace

from tests.plain_inventory import inventory
from tests.unit.drill.builders import nodes, running, workload
from topospread.api.pod import Pod
from topospread.simulation.changed_specs import with_specs


def test_a_spec_reaches_template_replica_set_and_pods() -> None:
    given = inventory(*nodes("a", "b", "c"), *running(True, True, True), workload("Deployment", "other"))

    def named(pod: Pod) -> Pod:
        return replace(pod, spec=replace(pod.spec, scheduler_name="mine"))

    made = with_specs(given, [("Deployment", "shop", "web")], named)
    specs = {each.name: each.spec.template.spec.scheduler_name for each in (*made.deployments, *made.replica_sets)}
    assert specs == {"web": "mine", "web-1": "mine", "other": given.deployments[-1].spec.template.spec.scheduler_name}
    assert {each.spec.scheduler_name for each in made.pods} == {"mine"}
    assert made.nodes == given.nodes
    pod = given.pods[0]
    alone = with_specs(with_fields(given), [("Pod", "shop", pod.name)], named)
    assert [each.name for each in alone.pods if each.spec.scheduler_name == "mine"] == [pod.name]
