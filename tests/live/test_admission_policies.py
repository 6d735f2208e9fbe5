"""Random ValidatingAdmissionPolicies on a real API server: it refuses the pods that topospread says it refuses."""

from __future__ import annotations

from contextlib import closing
from random import Random

from tests.live.admission_policies import ask, difference, drawn, ours
from tests.live.conftest import ControlPlane
from tests.live.policies import ApiServer


def test_policies_refuse_the_same_pods_in_the_same_words(own_plane: ControlPlane) -> None:
    objects, policies, pods = drawn(Random(32), 80, 300)
    with closing(ApiServer(own_plane.kubeconfig)) as server:
        taken, said = ask(server, objects, policies, pods)
    valid = [(each, theirs) for each, theirs in zip(pods, said, strict=True) if theirs != "invalid"]
    found = ours(objects, taken, [each for each, _ in valid])
    differences = [difference(theirs, *one) for (_, theirs), one in zip(valid, found, strict=True)]
    assert [each for each in differences if each] == []
    assert sum(bool(theirs) for _, theirs in valid) > len(valid) / 5
