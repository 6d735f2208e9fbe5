"""Errors of a session name its parameters, not the command's options."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.drill.builders import nodes, workload
from topospread import Session
from topospread.errors import InputError, UsageError

GIVEN = [*nodes("a", "b"), workload("Deployment", replicas=3)]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: Session(GIVEN).simulate(scale={"deploy/no": 3}), "scale deploy/no: Deployment no not found"),
        (lambda: Session(GIVEN).after(scale={"deploy/no": 3}), "scale deploy/no: Deployment no not found"),
        (lambda: Session(GIVEN).capacity("deploy/web", more="x"), "more x: write a number"),
        (lambda: Session(GIVEN).capacity("deploy/web=0"), "targets deploy/web=0: write it as"),
        (lambda: Session(GIVEN).traffic(clients=["foo"]), "clients foo: write a workload"),
        (lambda: Session(GIVEN).promises.design("deploy/web", want="zone-loss>=0"), "want 0: with 3 replicas"),
        (lambda: Session(GIVEN).rebalance(selector="app=no"), "selector app=no selects no workload (allow_empty "),
        (lambda: Session(GIVEN, gates="Foo=true"), "gates: unrecognized feature gate: Foo"),
        (lambda: Session("zones=x"), "on: zones=x: expected"),
    ],
)
def test_errors_name_parameters(ask: Callable[[], object], says: str) -> None:
    with pytest.raises((UsageError, InputError)) as caught:
        ask()
    assert str(caught.value).startswith(says)
