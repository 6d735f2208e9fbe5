"""Too few replicas to be spread: found by what is given, silent where that may be elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.manifests import autoscaler, findings, messages
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.errors import InputError
from topospread.lint.examples import constraint, deployment
from topospread.lint.run import lint
from topospread.lint.settings import find_settings

ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        (deployment(ZONES, replicas=1), True),
        (deployment(ZONES, replicas=2), False),
        (deployment("", replicas=1), False),
        (deployment(ZONES, replicas=1) + autoscaler(""), False),
    ],
)
def test_one_replica_is_nothing_to_spread(manifests: str, found: bool) -> None:
    assert bool(messages(manifests, "one-replica-to-spread")) == found


def test_single_replicas_that_are_spread_together_are_several() -> None:
    broad = constraint("labelSelector:\n  matchLabels: {part-of: shop}")
    shards = [
        deployment(broad, name=name, replicas=1).replace(
            f"labels: {{app: {name}}}", f"labels: {{part-of: shop, app: {name}}}"
        )
        for name in ("one", "two")
    ]
    assert messages("---\n".join(shards), "one-replica-to-spread") == []


SCALED = deployment(ZONES).replace("  replicas: 6\n", "")


@pytest.mark.parametrize(
    ("manifests", "cluster", "said"),
    [
        (SCALED + autoscaler("minReplicas: 2, "), "zones=3,nodes=6", ["at 2 replicas some of the 3 domains"]),
        (SCALED + autoscaler(""), "zones=3,nodes=6", ["at 1 replica some of the 3 domains"]),
        (SCALED + autoscaler("minReplicas: 3, "), "zones=3,nodes=6", []),
        (SCALED + autoscaler("minReplicas: 2, "), "", []),
        (
            SCALED.replace("maxSkew: 1", "minDomains: 3\n        maxSkew: 1") + autoscaler("minReplicas: 2, "),
            "",
            ["at 2 replicas some of the 3 domains"],
        ),
        (SCALED.replace(ZONE, "kubernetes.io/hostname") + autoscaler("minReplicas: 2, "), "nodes=6", []),
    ],
)
def test_an_autoscaler_that_may_leave_domains_empty(manifests: str, cluster: str, said: list[str]) -> None:
    found = findings(manifests, "autoscaler-under-domains", cluster=cluster)
    assert [each.message[: len(text)] for each, text in zip(found, said, strict=True)] == said
    assert all((each.place.object or "").startswith("HorizontalPodAutoscaler") for each in found)


PREFERRED = """\
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}
"""


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        (deployment("", replicas=3), True),
        (deployment("", replicas=2), False),
        (deployment(ZONES, replicas=3), False),
        (deployment(ZONES.replace("DoNotSchedule", "ScheduleAnyway"), replicas=3), False),
        (deployment(PREFERRED, replicas=3), False),
        (deployment(PREFERRED.replace("{app: web}", "{app: other}"), replicas=3), True),
        (deployment(PREFERRED.replace("topologyKey", "namespaces: [other], topologyKey"), replicas=3), True),
        (deployment("", replicas=1) + autoscaler("minReplicas: 3, "), True),
        (deployment("", replicas=3).replace("kind: Deployment", "kind: StatefulSet"), True),
        (
            deployment("", replicas=3).replace("kind: Deployment", "kind: DaemonSet").replace("  replicas: 3\n", ""),
            False,
        ),
    ],
)
def test_three_replicas_that_nothing_spreads(manifests: str, found: bool) -> None:
    assert bool(messages(manifests, "no-spread")) == found


def test_default_constraints_of_a_configuration_spread() -> None:
    defaults = """\
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}]
"""
    assert messages(deployment("", replicas=3) + defaults, "no-spread") == []


@pytest.mark.parametrize(
    ("cluster", "when", "word", "why"),
    [
        ("", "ScheduleAnyway", "soft", "no nodes are given"),
        ("nodes=3", "ScheduleAnyway", "soft", "not every node is in one of several zones"),
        ("zones=3,nodes=3", "DoNotSchedule", "hard", "the nodes of --on are in 3 zones"),
    ],
)
def test_the_fix_is_hard_where_every_node_is_in_one_of_several_zones(
    cluster: str, when: str, word: str, why: str
) -> None:
    (found,) = findings(deployment("", replicas=3), "no-spread", cluster=cluster)
    ((made,),) = (each.value for each in found.fix)
    assert made["whenUnsatisfiable"] == when
    assert made.get("nodeTaintsPolicy") == ("Honor" if when == "DoNotSchedule" else None)
    assert f"; --fix adds a {word} constraint over zones, because {why}" in found.message
    assert made["labelSelector"] == {"matchLabels": {"app": "web"}}
    assert made["matchLabelKeys"] == ["pod-template-hash"]


def test_settings_say_how_many_replicas_are_to_be_spread(tmp_path: Path) -> None:
    (tmp_path / ".topospread.yaml").write_text("lint: {spread-from: 2}")
    (tmp_path / "web.yaml").write_text(deployment("", replicas=2))
    settings = find_settings(str(tmp_path))
    assert "no-spread" in {each.rule for each in lint([str(tmp_path / "web.yaml")], settings=settings)}
    (tmp_path / ".topospread.yaml").write_text("lint: {spread-from: 1}")
    with pytest.raises(InputError, match="at least 2"):
        find_settings(str(tmp_path))


def test_settings_name_the_key_over_which_workloads_are_to_be_spread_and_namespaces_that_need_not(
    tmp_path: Path,
) -> None:
    (tmp_path / ".topospread.yaml").write_text(
        f"lint: {{spread-over: {ZONE}, exclude-namespaces: [batch], select: [no-spread]}}"
    )
    apart = constraint("labelSelector: {matchLabels: {app: web}}", key=HOSTNAME)
    for name, text in {
        "hosts": deployment(apart, replicas=3),
        "zones": deployment(apart.replace(HOSTNAME, ZONE), replicas=3),
        "batch": deployment(apart, replicas=3).replace("metadata:\n", "metadata:\n  namespace: batch\n", 1),
    }.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    found = lint([str(tmp_path)], settings=find_settings(str(tmp_path)))
    told = f"3 replicas and nothing that spreads them over {ZONE}: one domain may hold all of them"
    assert [(Path(each.place.source).name, each.message) for each in found] == [("hosts.yaml", told)]
    (tmp_path / ".topospread.yaml").write_text("lint: {spread-over: a/b/c}")
    with pytest.raises(InputError, match="a valid label key"):
        find_settings(str(tmp_path))


def test_an_ignore_in_an_exempt_namespace_is_not_told_to_be_unused(tmp_path: Path) -> None:
    (tmp_path / ".topospread.yaml").write_text("lint: {exclude-namespaces: [batch]}")
    annotated = "metadata:\n  namespace: batch\n  annotations: {topospread.dev/ignore: no-spread}\n"
    (tmp_path / "a.yaml").write_text(deployment("", replicas=3).replace("metadata:\n", annotated, 1))
    assert [each.rule for each in lint([str(tmp_path)], settings=find_settings(str(tmp_path)))] == []
