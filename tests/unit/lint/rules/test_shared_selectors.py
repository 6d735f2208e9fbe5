"""Constraints that reach over several workloads: found where that is an accident, silent on groups that are meant."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment

BROAD = "labelSelector:\n  matchLabels: {part-of: shop}"
DEFAULTS = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
---
"""


def shop(name: str, spec: str, *, replicas: int = 6, namespace: str = "") -> str:
    text = deployment(spec, name=name, replicas=replicas)
    text = text.replace(f"labels: {{app: {name}}}", f"labels: {{part-of: shop, app: {name}}}")
    return "---\n" + (text.replace("metadata:\n", f"metadata:\n  namespace: {namespace}\n", 1) if namespace else text)


def pod(name: str, labels: str) -> str:
    head = f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n"
    return head + "spec:\n  containers: [{name: a, image: a}]\n"


def job(parallelism: int) -> str:
    head = f"---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: sums}}\nspec:\n  parallelism: {parallelism}\n"
    template = "  template:\n    metadata: {labels: {app: sums}}\n    spec:\n      restartPolicy: Never\n"
    return head + template + "      containers: [{name: a, image: a}]\n"


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (shop("batch", ""), True),
        (shop("batch", constraint(BROAD, key="kubernetes.io/hostname")), True),
        (shop("batch", constraint(BROAD)), False),
        (shop("batch", "", namespace="other"), False),
        (shop("batch", "", replicas=0), False),
        (shop("web", ""), False),
        (deployment("", name="batch"), False),
        (pod("batch", "part-of: shop"), False),
    ],
)
def test_a_selector_that_counts_another_workload_is_found(other: str, found: bool) -> None:
    manifests = other if "name: web" in other else shop("web", constraint(BROAD)) + "---\n" + other
    assert bool(messages(manifests, "selector-counts-others")) == found


@pytest.mark.parametrize(
    ("other", "replicas", "found"),
    [
        (shop("batch", constraint(BROAD)), 6, True),
        (shop("batch", constraint(BROAD)), 1, False),
        (shop("batch", constraint(BROAD, when="ScheduleAnyway")), 6, False),
        (shop("batch", ""), 6, False),
        (shop("batch", constraint(BROAD), namespace="other"), 6, False),
    ],
)
def test_workloads_that_count_each_other_alike_are_even_only_together(other: str, replicas: int, found: bool) -> None:
    said = messages(shop("web", constraint(BROAD), replicas=replicas) + other, "selector-shared")
    named = [each for each in said if each.startswith("it also counts pods of Deployment batch")]
    assert bool(named) == found


def test_two_gateways_of_one_chart_are_found() -> None:
    # As the chart of consul writes them: the selectors of both are those of the chart, and not of the gateway.
    def gateway(name: str) -> str:
        labels = "{app: consul, chart: consul-helm, component: mesh-gateway}"
        text = deployment(constraint(f"labelSelector:\n  matchLabels: {labels}"), name=name, replicas=2)
        own = labels.replace("}", f", gateway: {name}}}")
        return text.replace(f"labels: {{app: {name}}}", f"labels: {own}").replace(f"{{app: {name}}}", own)

    said = findings(gateway("east") + "---\n" + gateway("west"), "selector-shared")
    assert [(each.severity, "may be in one domain" in each.message) for each in said] == [("hint", True)] * 2


def test_the_other_workloads_are_named() -> None:
    others = "".join(shop(name, "") for name in ("a", "b", "c"))
    (said,) = messages(shop("web", constraint(BROAD)) + others, "selector-counts-others")
    assert said.startswith("it also counts pods of Deployment a, Deployment b and 1 more")


def test_a_hash_among_the_keys_tells_workloads_apart() -> None:
    own = constraint(BROAD + "\nmatchLabelKeys: [pod-template-hash]")
    assert messages(shop("web", own) + shop("batch", ""), "selector-counts-others") == []


def test_a_key_of_the_pods_tells_workloads_apart() -> None:
    own = constraint(BROAD + "\nmatchLabelKeys: [app]")
    assert messages(shop("web", own) + shop("batch", ""), "selector-counts-others") == []


@pytest.mark.parametrize(
    ("theirs", "what"),
    [
        (constraint(BROAD), ""),
        (constraint(BROAD, when="ScheduleAnyway"), "whenUnsatisfiable ScheduleAnyway here and DoNotSchedule there"),
        (constraint(BROAD).replace("maxSkew: 1", "maxSkew: 2"), "maxSkew 2 here and 1 there"),
        (constraint(BROAD + "\nnodeTaintsPolicy: Ignore"), ""),
        (constraint(BROAD, key="kubernetes.io/hostname"), ""),
        ("", ""),
    ],
)
def test_a_group_that_is_spread_by_different_constraints_is_found(theirs: str, what: str) -> None:
    found = findings(shop("web", constraint(BROAD)) + shop("batch", theirs), "group-differs")
    assert [each.message.partition(": ")[2] for each in found] == ([what] if what else [])
    assert all(each.place.object == "Deployment default/batch" for each in found)


def test_hard_and_soft_over_one_key_are_compared_each_with_its_like() -> None:
    soft = constraint(BROAD, when="ScheduleAnyway").removeprefix("topologySpreadConstraints:\n")
    both = constraint(BROAD) + soft
    assert messages(shop("web", both) + shop("batch", both), "group-differs") == []


def test_default_constraints_do_not_reach_a_job() -> None:
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: sums}\nspec:\n  selector: {app: sums}\n"
    assert messages(job(4), "defaults-never-apply")
    assert messages(job(1), "defaults-never-apply") == []
    assert messages(job(4) + service, "defaults-never-apply") == []


def test_a_bare_pod_is_looked_at_where_the_configuration_has_defaults_of_its_own() -> None:
    assert messages(pod("a", "app: a"), "defaults-never-apply") == []
    assert messages(DEFAULTS + pod("a", "app: a"), "defaults-never-apply")
    assert messages(DEFAULTS + deployment(""), "defaults-never-apply") == []


def test_a_constraint_of_the_pods_own_drops_hard_defaults() -> None:
    own = constraint("labelSelector:\n  matchLabels: {app: web}", key="kubernetes.io/hostname")
    (found,) = findings(DEFAULTS + deployment(own), "own-constraints-drop-defaults")
    assert found.severity == "hint"
    assert "topology.kubernetes.io/zone" in found.message
    assert messages(deployment(own), "own-constraints-drop-defaults") == []
    assert messages(DEFAULTS + deployment(""), "own-constraints-drop-defaults") == []


@pytest.mark.parametrize("key", ["job-name", "batch.kubernetes.io/job-name"])
def test_a_job_selects_itself_by_the_name_that_the_api_server_adds(key: str) -> None:
    def spread(name: str) -> str:
        own = constraint(f"labelSelector:\n  matchLabels: {{{key}: {name}}}")
        return job(3) + "".join(f"      {each}\n" for each in own.splitlines())

    assert messages(spread("sums"), "selector-not-own") == []
    assert messages(spread("other"), "selector-not-own") == [
        f"the constraint does not count the pod itself: it wants {key}=other, the pod has {key}=sums"
    ]
    nightly = spread("sums").replace("kind: Job", "kind: CronJob")
    head, _, inner = nightly.partition("spec:\n")
    head += "spec:\n  schedule: '0 0 * * *'\n  jobTemplate:\n    spec:\n    "
    assert messages(head + inner.replace("\n", "\n    "), "selector-not-own") == []
