"""A change of the control plane alone is compared by what losses leave, as a change of manifests is."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import ZONE, inventory, nodes, spread, workload
from topospread.answers.plan import plan
from topospread.config.load import load_configuration
from topospread.simulation.options import SimulationOptions

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
