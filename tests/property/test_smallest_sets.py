"""No smaller set of changes helps than the one suggested: an exhaustive search over sets up to three is the judge."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.plain_inventory import inventory
from topospread.api.inventory import Inventory
from topospread.controllers.planned import QueuedPod
from topospread.why import explain, suggest, what_if
from topospread.why.changes import Change, combined, go_together, max_skew_change
from topospread.why.correction_sets import smallest_sets
from topospread.why.owner import Owned, owned
from topospread.why.repeated_simulation import RepeatedSimulation
from topospread.why.result import Suggestion
from topospread.why.what_if import PendingPodFacts, WhatIf

from .explained import HOST, ZONE

MOST = 3
Json = dict[str, Any]
Sets = list[tuple[int, ...]]


@given(st.data(), st.integers(1, 7))
@drawn(60)
def test_the_sets_are_those_of_a_search_over_all(data: st.DataObject, number: int) -> None:
    smallest: Sets = data.draw(st.lists(st.lists(st.integers(0, number - 1), min_size=1, unique=True).map(tuple)))
    apart = data.draw(st.sets(st.sampled_from([*combinations(range(number), 2), (0, 0)]), max_size=4)) - {(0, 0)}

    def suffices(chosen: tuple[int, ...]) -> bool:
        return any(set(each) <= set(chosen) for each in smallest)

    def go_together(one: int, other: int) -> bool:
        return (min(one, other), max(one, other)) not in apart

    if any(suffices((each,)) for each in range(number)):
        return
    found = list(smallest_sets(list(range(number)), suffices, go_together, MOST))
    every = [
        chosen
        for size in range(2, MOST + 1)
        for chosen in combinations(range(number), size)
        if suffices(chosen) and all(go_together(*pair) for pair in combinations(chosen, 2))
    ]
    least = min(map(len, every), default=0)
    assert found == [each for each in every if len(each) == least]


@st.composite
def walled(draw: st.DrawFn) -> tuple[Inventory, str]:
    """Up to five nodes, of which most are closed for more than one reason, and a workload that finds no place."""
    nodes = [draw(_node(number)) for number in range(draw(st.integers(1, 5)))]
    names = [each["metadata"]["name"] for each in nodes]
    requests = {"cpu": draw(st.sampled_from(["400m", "1500m"])), "memory": draw(st.sampled_from(["64Mi", "2Gi"]))}
    spec: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    keys = draw(st.lists(st.sampled_from([ZONE, HOST]), max_size=2, unique=True))
    spec["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "a"}},
        }
        for key in keys
    ]
    if draw(st.integers(0, 2)) == 0:
        spec["nodeSelector"] = {ZONE: draw(st.sampled_from(["zone-aa", "zone-b"]))}
    others = [_pod(f"other-{i}", draw(st.sampled_from(names))) for i in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        metadata = {"name": "web", "namespace": "default", "uid": "web", "labels": {"app": "a"}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        return inventory(*nodes, *others, pod), "web"
    body = {
        "replicas": draw(st.integers(1, 3)),
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": spec},
    }
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
    return inventory(*nodes, *others, deployment | {"spec": body}), "deploy/web"


@st.composite
def _node(draw: st.DrawFn, number: int) -> Json:
    labels = {HOST: f"node-{number}", ZONE: draw(st.sampled_from(["zone-a", "zone-b", "zone-c"]))}
    spec: Json = {}
    if draw(st.integers(0, 2)):
        spec["taints"] = [{"key": "dedicated", "value": draw(st.sampled_from(["gpu", "db"])), "effect": "NoSchedule"}]
    if draw(st.integers(0, 2)) == 0:
        spec["unschedulable"] = True
    amounts = {"cpu": draw(st.sampled_from(["500m", "1", "2"])), "memory": draw(st.sampled_from(["1Gi", "4Gi"]))}
    metadata = {"name": f"node-{number}", "uid": f"uid-{number}", "labels": labels}
    status = {"allocatable": amounts | {"pods": "20"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def _pod(name: str, node: str) -> Json:
    requests = {"cpu": "300m", "memory": "64Mi"}
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    labels = {"app": "a" if name.endswith("0") else "b"}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Exhaustive:
    """What a search asks, asked of all sets."""

    def __init__(self, simulation: RepeatedSimulation, given: Inventory, subject: QueuedPod, found: PendingPodFacts):
        self.search = WhatIf(simulation, subject.workload, found.baseline, subject.pod, {})
        owner = owned(
            given, subject, found.constraints, has_pods=suggest._has_pods(subject.workload, simulation, given)
        )
        self.items = [*self._of_spec(owner, found), *found.cluster_changes]

    @staticmethod
    def _of_spec(owner: Owned | None, found: PendingPodFacts) -> Iterator[Change]:
        if owner is not None:
            yield from suggest.spec_changes(owner, found)
            for each in suggest.hard_constraints(owner, found):
                yield max_skew_change(owner, each, suggest._most(found, each))

    def least(self, does: Callable[[Suggestion], bool]) -> int:
        """The size of the smallest set that does, 0 where none does. A change of a node may have several parts."""
        least = 0
        for size in range(1, MOST + 1):
            for chosen in combinations(self.items, size) if not least or size < least else ():
                parts = sum(len(each.kind.split("+")) for each in chosen)
                if (not least or parts < least) and all(go_together(*pair) for pair in combinations(chosen, 2)):
                    tried = self.search.try_out(combined(chosen) if size > 1 else chosen[0])
                    if tried is not None and does(tried):
                        least = parts
        return least


@given(walled())
@drawn(30, suppress_health_check=[HealthCheck.too_slow])
def test_no_smaller_set_helps_than_the_one_that_is_suggested(case: tuple[Inventory, str]) -> None:
    inventory_, target = case
    least: list[tuple[int, int]] = []

    def with_all(*asked: Any) -> tuple[tuple[Suggestion, ...], int]:
        found = suggest.suggestions(*asked)
        every = Exhaustive(*asked)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(what_if, "EFFORT", 10**9)
            every.search.rolled_out = max((each.placed for each in found[0] if each.kind == "restart"), default=0)
            least.append((every.least(lambda each: each.complete), every.least(lambda each: True)))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explain, "suggestions", with_all)
        found = explain.explain(copy.deepcopy(inventory_), target)
    if not least or any(each.kind == "restart" and each.complete for each in found.suggestions):
        return
    (complete, any_), sizes = least[0], [len(each.kind.split("+")) for each in found.suggestions if each.complete]
    event(f"complete with {complete}, helps with {any_}")
    assert not found.untried
    # Smaller requests that several pods share are tried alone, and are not among the changes of the exhaustive search.
    assert min(sizes, default=MOST + 1) <= (complete or MOST + 1)
    if not sizes:
        assert min((len(each.kind.split("+")) for each in found.suggestions), default=MOST + 1) <= (any_ or MOST + 1)
