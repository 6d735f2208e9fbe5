"""First looks at templates: they leave the cluster as it was, and closer ones have an end."""

from __future__ import annotations

from io import BytesIO

import pytest

from topospread.linting import trials as module
from topospread.linting.examples import constraint, deployment
from topospread.linting.given import Given
from topospread.linting.reading import Question
from topospread.linting.run import run
from topospread.linting.standing import standings
from topospread.linting.trials import Trials

ZONES = constraint("labelSelector:\n  matchLabels: {app: web}")


def given(manifests: str, cluster: str = "zones=3,nodes=3,pods=2") -> Given:
    return run(Question(paths=["-"], cluster=cluster), stdin=BytesIO(manifests.encode())).given


@pytest.mark.parametrize(("replicas", "fits"), [(6, True), (7, False)])
def test_a_look_tells_whether_all_pods_fit(replicas: int, fits: bool) -> None:
    everything = given(deployment(ZONES, replicas=replicas))
    (standing,) = standings(everything)
    trials = Trials(everything)
    assert [trials.fit(standing), trials.fit(standing)] == [fits, fits]


def test_one_more_may_be_asked_for() -> None:
    everything = given(deployment(ZONES, replicas=6))
    (standing,) = standings(everything)
    assert not Trials(everything).fit(standing, more=1)


def test_pods_with_storage_take_a_closer_look() -> None:
    claim = "volumes:\n- {name: data, persistentVolumeClaim: {claimName: data}}\n"
    everything = given(deployment(claim + ZONES, replicas=1))
    (standing,) = standings(everything)
    assert not Trials(everything).fit(standing)


def test_closer_looks_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EFFORT", 20)
    everything = given(deployment(ZONES, replicas=6))
    (standing,) = standings(everything)
    trials = Trials(everything)
    assert [trials.look_closer(standing) for _ in range(3)] == [True, True, False]
