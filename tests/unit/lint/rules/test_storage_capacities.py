"""When a CSIStorageCapacity without capacity is told of."""

from __future__ import annotations

from io import BytesIO

import pytest

from topospread.lint.rules import BY_ID
from topospread.lint.run import lint

RULE = BY_ID["storage-capacity-missing"]


@pytest.mark.parametrize(("version", "found"), [("1.36", []), ("1.37", [RULE.id])])
def test_pools_are_scored_since_1_37(version: str, found: list[str]) -> None:
    report = lint(["-"], stdin=BytesIO(RULE.wrong.manifests.encode()), kube_version=version)
    assert [each.rule for each in report] == found


def test_a_pool_that_says_nothing_fits_no_volume_and_is_not_told_of() -> None:
    manifests = RULE.wrong.manifests.replace("maximumVolumeSize: 100Gi\n", "")
    assert not list(lint(["-"], stdin=BytesIO(manifests.encode())))
