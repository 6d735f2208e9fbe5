"""Random MutatingAdmissionPolicies on a real API server: it stores the objects that topospread says it stores."""

from __future__ import annotations

from contextlib import closing
from random import Random

from tests.live.conftest import ControlPlane
from tests.live.mutating_policies import ask, difference, drawn, ours
from tests.live.policies import ApiServer


def test_policies_change_and_refuse_the_same_objects(own_plane: ControlPlane) -> None:
    objects, policies, pods = drawn(Random(32), 80, 250)
    with closing(ApiServer(own_plane.kubeconfig)) as server:
        taken, pods, said = ask(server, objects, policies, pods)
    found = list(ours(objects, taken, pods))
    differences = [difference(theirs, *one) for theirs, one in zip(said, found, strict=True)]
    assert [each for each in differences if each] == []
    assert sum(isinstance(each, str) for each in said) > len(said) / 5
    assert sum(bool(opened) for _, opened in found) < len(found) / 5
