"""A counterexample as a Drill file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.drill.builders import ZONE, inventory, nodes, spread
from tests.unit.promise.test_asking import SPLIT, asked, of, played_again, with_manifests
from topospread.api.promises import Want
from topospread.promise.kept import WorkloadPromises
from topospread.promise.orders import SearchBudget
from topospread.simulation.options import SimulationOptions


def test_an_order_plays_again_as_a_drill(tmp_path: Path) -> None:
    (said,) = played_again(tmp_path, SPLIT, asked(SPLIT, never_pending=True))
    assert said.startswith("1 pending at the end, at most 0 expected: shop/big")


@pytest.mark.parametrize("loss", ["zone", "node"])
def test_the_drill_of_a_loss_shows_the_break_and_passes_once_the_manifest_is_mended(tmp_path: Path, loss: str) -> None:
    key = ZONE if loss == "zone" else "kubernetes.io/hostname"
    hard = spread(topologyKey=key, whenUnsatisfiable="DoNotSchedule")
    there, other = nodes("a", "a", "b"), of("other", 2, "1")
    (kept,) = WorkloadPromises(
        inventory(*there, of("web", 2), other), SimulationOptions(), ("Deployment", "shop", "web"), SearchBudget(), {}
    ).kept([Want("zone-loss" if loss == "zone" else "node-loss", 1)])
    assert kept.part.answer is not None
    (said,) = with_manifests(tmp_path, [*there, of("web", 2), other], kept.part.answer.drill)
    assert said.startswith(f"Deployment shop/web had 0 ready (during fail {key}=")
    assert not with_manifests(tmp_path, [*there, of("web", 2, "1", hard), other], kept.part.answer.drill)
