"""A field is known since the version that brought it, or what it is reached by, whichever came later."""

from __future__ import annotations

import pytest

from topospread.admission.dropped_fields import FIELDS
from topospread.api.new_fields import _printed, first_minor


@pytest.mark.parametrize(
    ("struct", "path", "minor"),
    [
        ("PodSpec", "topologySpreadConstraints", 18),
        ("PodSpec", "topologySpreadConstraints[].minDomains", 24),
        ("PodSpec", "resources", 32),
        ("PodSpec", "resources.limits", 32),
        ("PodSpec", "initContainers[].restartPolicy", 28),
        ("Node", "status.declaredFeatures", 35),
        ("StatefulSet", "spec.ordinals.start", 26),
        ("CronJob", "spec.jobTemplate.spec.template.spec.schedulingGates[].name", 26),
    ],
)
def test_since_when_a_field_is_known(struct: str, path: str, minor: int) -> None:
    assert first_minor(struct, path) == minor


def test_nothing_came_before_the_oldest_version_or_after_the_newest() -> None:
    assert all(18 < minor <= 37 for fields in _printed().values() for minor in fields.values())


def test_every_field_that_is_dropped_is_reached() -> None:
    assert all(each.since.major >= 1 and 18 <= each.since.minor <= 37 for fields in FIELDS.values() for each in fields)
