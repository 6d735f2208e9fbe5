"""First looks at templates: they leave the cluster as it was, and closer ones have an end."""

from __future__ import annotations

from io import BytesIO

import pytest

from topospread.linting import trial_placement as module
from topospread.linting.examples import constraint, deployment
from topospread.linting.lint_input import LintInput
from topospread.linting.reading import Question
from topospread.linting.run import run
from topospread.linting.template_on_nodes import templates_on_nodes
from topospread.linting.trial_placement import TrialPlacements

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


def test_closer_looks_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EFFORT", 20)
    everything = given(deployment(ZONES, replicas=6))
    (template,) = templates_on_nodes(everything)
    trials = TrialPlacements(everything)
    assert [trials.look_closer(template) for _ in range(3)] == [True, True, False]


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
