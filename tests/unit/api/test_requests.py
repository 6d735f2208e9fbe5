"""What pods request, in the words of their specs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from topospread.api.pod import Container, Pod, PodSpec
from topospread.api.requests import CURRENT_RULES, non_zero_requests


@pytest.mark.parametrize("of_sum", [True, False])
@pytest.mark.parametrize(("containers", "counted"), [(0, (0, 0)), (2, (200, 400 << 20))])
def test_each_container_counts_as_something_and_no_container_as_nothing(
    of_sum: bool, containers: int, counted: tuple[int, int]
) -> None:
    pod = Pod(spec=PodSpec(containers=[Container(name=f"c{i}") for i in range(containers)]))
    assert non_zero_requests(pod, replace(CURRENT_RULES, non_zero_of_sum=of_sum)) == counted
