"""How many pods become ready at the same time in a run of a drill."""

from __future__ import annotations

import pytest

from tests.plain_inventory import inventory
from tests.unit.controllers.manifests import pod
from topospread.drill.pods import FollowedPod
from topospread.drill.random_choices import RandomChoices


@pytest.mark.parametrize(("waiting", "started"), [(1, 1), (31, 1), (32, 2), (1_000, 32)])
def test_few_pods_start_one_after_another_and_many_in_parts(waiting: int, started: int) -> None:
    (web,) = inventory(pod("web")).pods
    pods = [FollowedPod(web, "shop", f"web-{number}", None) for number in range(waiting)]
    assert len(RandomChoices(1).started(pods)) == started
    assert len(RandomChoices(0).started(pods)) == waiting
