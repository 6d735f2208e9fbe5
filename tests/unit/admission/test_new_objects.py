"""The resource of a new object, as policies match it and messages name it."""

from __future__ import annotations

import pytest

from topospread.admission.new_objects import NewObject


@pytest.mark.parametrize(
    ("kind", "resource", "qualified"),
    [
        ("Pod", ("", "v1", "pods"), "pods"),
        ("Deployment", ("apps", "v1", "deployments"), "deployments.apps"),
        ("CronJob", ("batch", "v1", "cronjobs"), "cronjobs.batch"),
    ],
)
def test_a_resource_outside_of_the_core_group_is_qualified(
    kind: str, resource: tuple[str, str, str], qualified: str
) -> None:
    made = NewObject(kind, "d", "web", {})
    assert (made.resource, made.qualified) == (resource, qualified)
