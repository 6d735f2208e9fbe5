"""VolumeBinding at only some of its extension points: why no pod is bound."""

from __future__ import annotations

import pytest

from topospread.config.profile import EnabledPlugin, Profile
from topospread.config.versions import KubeVersion
from topospread.plugins.without_reserve import without_reserve

RESERVE = 'running Reserve plugin "VolumeBinding": not found'
ALL = "pre_filter filter reserve pre_bind"


@pytest.mark.parametrize(
    ("points", "minor", "plain", "with_claims"),
    [
        (ALL, 37, None, None),
        ("pre_filter filter reserve", 37, None, None),
        ("", 37, None, None),
        ("filter reserve pre_bind", 37, RESERVE, RESERVE),
        ("reserve", 37, RESERVE, RESERVE),
        ("pre_bind", 34, 'running PreBindPreFlight "VolumeBinding": not found', None),
        ("pre_bind", 33, 'running PreBind plugin "VolumeBinding": not found', None),
        (
            *("pre_filter filter pre_bind", 33),
            'running PreBind plugin "VolumeBinding": no pod volumes found for node "n"',
            'running PreBind plugin "VolumeBinding": failed to get cached bindings',
        ),
        (
            *("pre_filter pre_bind", 34),
            'running PreBindPreFlight "VolumeBinding": no pod volume found for node "n"',
            'running PreBindPreFlight "VolumeBinding": no pod volume found for node "n"',
        ),
    ],
)
def test_pods_are_bound_unless_a_step_lacks_what_an_earlier_one_finds(
    points: str, minor: int, plain: str | None, with_claims: str | None
) -> None:
    profile = Profile("", "v1", {point: (EnabledPlugin("VolumeBinding"),) for point in points.split()})
    found = without_reserve(profile, KubeVersion(1, minor))
    assert bool(found) == (plain is not None)
    if plain is not None:
        assert found.refusal("n", has_claims=False).bind() == plain
        assert found.refusal("n", has_claims=True).assume() == (with_claims or plain)
