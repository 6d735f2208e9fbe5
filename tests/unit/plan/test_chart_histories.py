"""Commits of public charts, read by hand: each kind of change in a few fields, with the verdict that a reader gave it.

Fifty-three commits of four repositories were rendered before and after, with the chart's values and with three
replicas, constraints and budgets. Both renderings were planned on ``zones=3,nodes=9``. A commit is named by its
repository, its chart and the beginning of its hash.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from click.testing import CliRunner

from topospread.cli.plan import plan as command
from topospread.errors import TopospreadError

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
LABELS = {"app": "web"}
SELECTOR = {"matchLabels": LABELS}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOST, "labelSelector": SELECTOR}],
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": SELECTOR}}
        ],
    }
}
HARD = [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}]


def web(replicas: int = 1, kind: str = "Deployment", name: str = "web", pod: Json | None = None, **spec: Any) -> Json:
    """A workload with one container, and fields of its pods and of itself."""
    container = {"name": "c", "image": "i", "args": spec.pop("args", [])}
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [container], **(pod or {})}}
    body = {"replicas": replicas, "selector": SELECTOR, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": body}


def budget(**spec: Any) -> Json:
    """A budget for the pods."""
    spec["selector"] = SELECTOR
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec}


class Kind(NamedTuple):
    """A kind of change.

    Attributes:
        says: part of the first line, or of the error.
        code: exit code.
        commits: the commits that were read.
    """

    name: str
    old: list[Json]
    new: list[Json]
    code: int
    says: str
    commits: str


KINDS = (
    Kind("other arguments, images, environment, mounts or security contexts", [web()], [web(args=["--more"])], 0,
         "nothing gets worse",
         "prometheus-community: modbus-exporter 017bf2d83c, consul-exporter 305b6eb4ee 319ea54849, nats-exporter "
         "2c9189bc85, snmp-notifier 4ad2516838 2fb09c984f; argoproj: argo-cd b53fcc68d7 34885f435a, argo-workflows "
         "7730b288c7; grafana: tempo-distributed fb7ded0530 07ede58557, rollout-operator 5abb14e148; kubernetes: "
         "ingress-nginx 8b026f42d5 638ace971e"),
    Kind("only comments, templates that render the same, or objects without pods", [web(3)], [web(3)], 0,
         "nothing gets worse",
         "prometheus-community: kube-state-metrics b3a05cc6c4, cloudwatch-exporter 15209eb0d8, prom-label-proxy "
         "f3cae3358d, admission-webhook 57e2cf0212 1b984696f9; argoproj: argo-cd b995e0e36b; grafana: "
         "rollout-operator 8e07565c2a, tempo-distributed 016840157f 2fb8ac1758; kubernetes: ingress-nginx 087041046a "
         "3819471b15 2a467c5419 b3fb2a6239 4869c8b462 6a4a5aaa04 243d7e30f0"),
    Kind("history limit, minReadySeconds", [web(3)], [web(3, minReadySeconds=0, revisionHistoryLimit=10)], 0,
         "nothing gets worse", "prometheus-community: json-exporter 4fdba7e344; kubernetes: ingress-nginx bbf7c79f96"),
    Kind("requests of an init container", [web()],
         [web(pod={"initContainers": [{"name": "copy", "image": "i",
                                       "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}]})], 0,
         "nothing gets worse", "argoproj: argo-cd 178a1fae55"),
    Kind("another name", [web(name="rel")], [web(name="rel-controller")], 0, "nothing gets worse",
         "argoproj: argocd-image-updater 9b2f20bbe5"),
    Kind("a hard constraint is added", [web(3)], [web(3, pod={"topologySpreadConstraints": HARD})], 0,
         "losses leave more pods, but fewer are ready afterwards",
         "prometheus-community: cloudwatch-exporter 82e249b075; kubernetes: ingress-nginx e9509e27aa"),
    Kind("anti-affinity of a single pod is added", [web()], [web(pod={"affinity": APART})], 0, "nothing gets worse",
         "grafana: tempo-distributed 96bfb1eed9"),
    Kind("a budget is added", [web(3)], [web(3), budget(minAvailable=2)], 0, "nothing gets worse",
         "prometheus-community: cloudwatch-exporter 84aace57b1 3cde2a241b"),
    Kind("a budget has a field of the chart's values", [web(3)], [web(3), budget(minAvailable=2, enabled=True)], 1,
         "1 new warning", "prometheus-community: prom-label-proxy dae5ce2eae ca505b8d24"),
    Kind("a budget has both limits", [web(3)], [web(3), budget(minAvailable=2, maxUnavailable=1)], 2, "Invalid value",
         "prometheus-community: cloudwatch-exporter c511b26db6"),
    Kind("a single pod is recreated", [web()], [web(strategy={"type": "Recreate"})], 1,
         "a rollout leaves at least 0 of 1",
         "argoproj: argo-events 4676fa5171; grafana: grafana 9e4ae44e01"),
    Kind("a single pod has no surge", [web()],
         [web(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})], 1, "a rollout leaves at least 0 of 1",
         "grafana: tempo-distributed ec935a0042"),
    Kind("the strategy of a single pod is the default, which surges as well",
         [web(strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})], [web()], 0, "nothing gets worse",
         "prometheus-community: nginx-exporter a8f764d0f2"),
    Kind("fewer replicas of which nothing was promised", [web(2)], [web(1)], 0, "nothing gets worse",
         "grafana: grafana b8b8340413 78519c2ab1"),
    Kind("more replicas", [web(1)], [web(2)], 0, "nothing gets worse", "grafana: grafana 3dc96f2690"),
    Kind("an update strategy that Kubernetes does not know", [web(kind="StatefulSet")],
         [web(kind="StatefulSet", updateStrategy={"type": "rollingUpdate", "rollingUpdate": {"partition": 0}})], 2,
         "Invalid value", "grafana: tempo-distributed 1f06212e11"),
    Kind("old labels that the selector does not match", [web(selector={"matchLabels": {"app": "other"}})], [web()], 2,
         "does not match", "grafana: tempo-distributed 5cc29fe6de"),
    Kind("the workload of a budget is gone", [web(kind="StatefulSet"), budget(maxUnavailable=1)],
         [web(name="other", selector={"matchLabels": {"a": "b"}},
              template={"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
          budget(maxUnavailable=1)], 1, "1 new warning", "grafana: tempo-distributed c253a3cca2"),
    Kind("one workload becomes one of each zone", [web(3, "StatefulSet")],
         [web(1, "StatefulSet", f"web-{zone}", {"nodeSelector": {ZONE: f"zone-{zone}"}}) for zone in "abc"], 0,
         "nothing gets worse", "grafana: tempo-distributed b9f76df607"),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=[each.name for each in KINDS])
def test_the_verdict_is_that_of_a_reader(tmp_path: Path, kind: Kind) -> None:
    for name, items in (("old", kind.old), ("new", kind.new)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump_all(items))
    files = [str(tmp_path / f"{name}.yaml") for name in ("old", "new")]
    done = CliRunner().invoke(command, [*files, "--on", "zones=3,nodes=9,cpu=4"], standalone_mode=False)
    refused = isinstance(done.exception, TopospreadError)
    assert kind.says in " ".join(str(done.exception if refused else done.stdout).split())
    assert kind.code == (2 if refused else done.return_value)


def test_forty_commits_were_read() -> None:
    commits = [word.strip(";,") for kind in KINDS for word in kind.commits.split()]
    hashes = [each for each in commits if len(each) == 10 and set(each) <= set("0123456789abcdef")]
    assert len(set(hashes)) == len(hashes) == 53
