"""Which victims break a budget, and that a budget is compiled once for a spec."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.labels import LabelSelector
from topospread.api.pod import Pod
from topospread.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from topospread.cluster import Cluster
from topospread.scheduling import disruption_budgets
from topospread.scheduling.disruption_budgets import DisruptionBudgets


def budget(name: str, app: str, allowed: int, **status: Any) -> PodDisruptionBudget:
    spec = {"selector": {"matchLabels": {"app": app}}}
    said = {"disruptionsAllowed": allowed, **status}
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": "default"}, "spec": spec, "status": said}, PodDisruptionBudget
    )


def violating(*budgets: PodDisruptionBudget, apps: str, counts_on: bool = False) -> tuple[bool, ...]:
    cluster = Cluster()
    for each in budgets:
        cluster.objects.put(each)
    pods = []
    for number, app in enumerate(apps):
        labels = {} if app == "-" else {"app": app}
        metadata = {"name": f"pod-{number}", "namespace": "default", "labels": labels}
        pods.append((f"default/pod-{number}", cluster.pod_class(msgspec.convert({"metadata": metadata}, Pod))))
    found = DisruptionBudgets(cluster.objects).allowed(counts_on=counts_on)
    first = found.violating(pods)
    assert found.violating(pods) == first
    return first


def test_a_budget_is_broken_once_it_allows_no_more() -> None:
    assert violating(budget("one", "a", 1), apps="aba-a") == (False, False, True, False, True)


@pytest.mark.parametrize("counts_on", [True, False])
def test_a_budget_after_the_first_broken_one_counts_a_victim_only_with_counts_on(counts_on: bool) -> None:
    none, one = budget("a-none", "a", 0), budget("b-one", "a", 1)
    one.spec.selector = msgspec.convert(
        {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, LabelSelector
    )
    assert violating(none, one, apps="ab", counts_on=counts_on) == (True, counts_on)


def test_a_pod_that_is_being_disrupted_already_is_not_counted() -> None:
    assert violating(budget("none", "a", 0, disruptedPods={"pod-0": None}), apps="aa") == (False, True)


def test_a_changed_status_compiles_no_selector_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    selector_of = disruption_budgets.budget_selector

    def noted(given: PodDisruptionBudget) -> Any:
        compiled.append(given.name)
        return selector_of(given)

    monkeypatch.setattr(disruption_budgets, "budget_selector", noted)
    objects = Cluster().objects
    one = budget("one", "a", 1)
    objects.put(one)
    known = DisruptionBudgets(objects)
    known.allowed(counts_on=False)
    objects.put(msgspec.structs.replace(one, status=PodDisruptionBudgetStatus(disruptions_allowed=0)))
    known.allowed(counts_on=False)
    objects.put(budget("two", "b", 1))
    known.allowed(counts_on=False)
    assert compiled == ["one", "two"]


def test_budgets_are_read_again_only_after_one_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster()
    cluster.objects.put(budget("one", "a", 1))
    known = DisruptionBudgets(cluster.objects)
    updates: list[None] = []
    update = known._update

    def noted() -> None:
        updates.append(None)
        update()

    monkeypatch.setattr(known, "_update", noted)
    pod = msgspec.convert({"metadata": {"name": "p", "namespace": "default", "labels": {"app": "a"}}}, Pod)
    victims = [("default/p", cluster.pod_class(pod))]

    def breaks() -> bool:
        return known.allowed(counts_on=False).violating(victims)[0]

    assert not any(breaks() for _ in range(3))
    assert len(updates) == 1
    with cluster.savepoint():
        cluster.objects.put(budget("one", "a", 0))
        assert breaks()
    assert not breaks()
    cluster.objects.delete(budget("one", "a", 0))
    cluster.objects.put(budget("two", "a", 0))
    assert breaks()
