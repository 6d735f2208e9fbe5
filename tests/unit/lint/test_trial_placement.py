"""First looks at templates: they leave the cluster as it was, and closer ones have an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from io import BytesIO

import pytest

from topospread.answers.lint import lint_answer
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput
from topospread.lint.reading import Question
from topospread.lint.run import run
from topospread.lint.settings import Settings
from topospread.lint.template_on_nodes import templates_on_nodes
from topospread.lint.trial_placement import TrialPlacements, simulated
from topospread.scheduling.node_local import Work
from topospread.sources.collection import Collection
from topospread.sources.load import load
from topospread.sources.objects import ReadObject

ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")


def given(manifests: str, cluster: str = "zones=3,nodes=3,pods=2") -> LintInput:
    return run(Question(paths=["-"], cluster=cluster), stdin=BytesIO(manifests.encode())).given


@pytest.mark.parametrize(("replicas", "fits"), [(6, True), (7, False)])
def test_a_look_tells_whether_all_pods_fit(replicas: int, fits: bool) -> None:
    everything = given(deployment(ZONES, replicas=replicas))
    (template,) = templates_on_nodes(everything)
    trials = TrialPlacements(everything)
    assert [trials.fit(template), trials.fit(template)] == [fits, fits]


def test_one_more_may_be_asked_for() -> None:
    everything = given(deployment(ZONES, replicas=6))
    (template,) = templates_on_nodes(everything)
    assert not TrialPlacements(everything).fit(template, more=1)


def test_pods_with_storage_take_a_closer_look() -> None:
    claim = "volumes:\n- {name: data, persistentVolumeClaim: {claimName: data}}\n"
    everything = given(deployment(claim + ZONES, replicas=1))
    (template,) = templates_on_nodes(everything)
    assert not TrialPlacements(everything).fit(template)


def test_thousands_of_terms_for_thousands_of_pods_are_left_out() -> None:
    term = "{topologyKey: none, labelSelector: {matchLabels: {app: web}}}"
    terms = f"[{', '.join([term] * 5000)}]"
    affinity = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}\n"
    everything = given(deployment(affinity + ZONES, replicas=15_000), "zones=3,nodes=12,pods=900,cpu=900")
    (template,) = templates_on_nodes(everything)
    trials = TrialPlacements(everything)
    assert not trials.fit(template)
    assert trials.work == Work()
    assert not trials.look_closer(template)
    assert [*everything.effort.left_out] == [template.manifest.label]


def test_closer_looks_have_an_end() -> None:
    everything = given(deployment(ZONES, replicas=6))
    (template,) = templates_on_nodes(everything)
    trials = TrialPlacements(everything)
    everything.effort.left = 600
    found = []
    for _ in range(3):
        found.append(trials.look_closer(template))
        simulated(everything, template.pods.item)
    assert found == [True, True, False]
    assert list(everything.effort.left_out) == ["Deployment default/web"]


def test_a_closer_look_costs_more_among_many_other_objects() -> None:
    budget = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: b{}}}\n"
    everything = given(deployment(ZONES, replicas=6) + "".join(map(budget.format, range(500))))
    (template,) = templates_on_nodes(everything)
    everything.effort.left = 2000
    assert not TrialPlacements(everything).look_closer(template)


def test_first_looks_have_an_end_and_are_not_repeated() -> None:
    everything = given(deployment(ZONES, replicas=6))
    (template,) = templates_on_nodes(everything)
    trials = TrialPlacements(everything)
    everything.effort.left = 1
    assert [trials.fit(template), trials.fit(template)] == [True, True]
    assert not trials.fit(template, more=1)
    assert trials.work.built == 1


def test_workloads_that_are_not_placed_are_named_and_never_clean() -> None:
    """Each of these is placed by a simulation of 19,000 pods, and together they would take seconds."""
    spec = ZONES + constraint("labelSelector:\n  matchLabels: {app: web}", key="kubernetes.io/hostname").removeprefix(
        "topologySpreadConstraints:\n"
    )
    manifests = "---\n".join(deployment(spec, name=f"web-{number}", replicas=19_000) for number in range(12))
    question = Question(
        paths=["-"], cluster="zones=3,nodes=3,pods=2", settings=Settings(select=frozenset({"constraints-deadlock"}))
    )
    answer = lint_answer(run(question, stdin=BytesIO(manifests.encode())))
    assert (answer.verdict, len(answer.findings)) == ("unknown", 0)
    assert [each.what for each in answer.unjudged] == ["placements"]
    assert "placing 3 workloads on the nodes would take too long" in answer.unjudged[0].because


def named(name: str, selects: str) -> str:
    """A Deployment whose constraint counts pods by their app."""
    return deployment(constraint(f"labelSelector:\n  matchLabels: {{app: {selects}}}"), name=name, replicas=2)


def views(*manifests: str) -> int:
    """How many views of templates' pods it took to try all of them, which fit."""
    everything = given("---\n".join(manifests))
    trials = TrialPlacements(everything)
    assert all(trials.fit(each) for each in templates_on_nodes(everything))
    return trials.work.built


def test_templates_that_are_alike_but_for_their_names_are_tried_once() -> None:
    assert views(*(named(f"app-{i}", f"app-{i}") for i in range(80))) == 1


def test_templates_that_count_otherwise_are_tried_each() -> None:
    assert views(named("own", "own"), named("others", "elsewhere"), named("another", "another")) == 2


def test_pods_there_that_a_template_counts_make_a_difference() -> None:
    there = "apiVersion: v1\nkind: Pod\nmetadata: {name: there, labels: {app: full}}\n"
    there += "spec: {nodeName: node-1, containers: [{name: c, image: i}]}\n"

    assert views(there, named("free", "free"), named("full", "full"), named("empty", "empty")) == 2


def test_rules_share_one_cluster_and_its_pods_are_not_collected_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}, namespace: default, uid: u{number}}}\n"
        "spec: {nodeName: node-1, containers: [{name: c, image: c}]}\n"
        for number in range(5)
    )
    there = load(["-"], cluster="zones=3,nodes=3", stdin=BytesIO(pods.encode()))
    counts: Counter[str] = Counter()
    add_pod, add_path = Cluster.add_pod, Collection.add_path

    def counted_pod(self: Cluster, pod: Pod, key: str = "") -> bool:
        counts["pods"] += 1
        return add_pod(self, pod, key)

    def counted_path(self: Collection, found: Iterable[ReadObject]) -> None:
        counts["collected"] += 1
        add_path(self, found)

    monkeypatch.setattr(Cluster, "add_pod", counted_pod)
    monkeypatch.setattr(Collection, "add_path", counted_path)
    manifest = deployment(ZONES + "nodeSelector: {topology.kubernetes.io/zone: zone-a}\n", replicas=2)
    found = run(Question(paths=["-"]), stdin=BytesIO(manifest.encode()), cluster=there)
    assert found.given.inventory.pods == there.pods
    assert found.given.inventory.places[("Pod", "default", "p0")] == there.places[("Pod", "default", "p0")]
    assert counts == {"pods": 5, "collected": len(list(there.objects())) - 5 + 1}
