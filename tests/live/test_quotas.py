"""Random namespaces with quotas and bounds: a real API server refuses the pods that topospread says it refuses."""

from __future__ import annotations

from tests.live.admitted import compare
from tests.live.conftest import ControlPlane


def test_the_same_pods_are_refused_with_the_same_words(own_plane: ControlPlane) -> None:
    found, differences = compare(own_plane.kubeconfig.parent, own_plane.programs, count=25, seed=3)
    assert not differences, "\n".join(differences[:3])
    assert found["created"] > 10
    assert found["exceeded"] > 10
    assert found["failed"] > 5
