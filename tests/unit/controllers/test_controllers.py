"""Controllers of an inventory: their selectors, templates, and the labels of a Job's pods."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.controllers.manifests import inventory, workload
from topospread.controllers.controllers import Controller, controllers_of
from topospread.errors import InvalidError

UID = "batch.kubernetes.io/controller-uid"


def only(kind: str, **spec: Any) -> Controller:
    (found,) = controllers_of(inventory(workload(kind, "web", **spec)))
    return found


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"])
def test_a_controller_selects_the_pods_that_it_creates(kind: str) -> None:
    found = only(kind)
    made = found.new_pod({"added": "1"})
    assert made.labels == {"app": "web", "added": "1"}
    assert (found.selector.matches(made.labels), found.selector.matches({"added": "1"})) == (True, False)
    owner = made.metadata.controller
    assert owner is not None
    assert (owner.api_version, owner.kind, owner.name) == ("v1" if "ation" in kind else "apps/v1", kind, "web")
    assert (made.name, made.metadata.generate_name, found.key) == ("", "web-", (kind, "", "web"))


def test_a_job_selects_by_its_uid_unless_the_user_selects() -> None:
    found = only("Job")
    assert found.selector.matches({UID: found.template.metadata.labels[UID]})  # type: ignore[index]
    assert not found.selector.matches({"app": "web"})
    assert set(found.template.metadata.labels or ()) == {"app", "job-name", "controller-uid"} | {
        f"batch.kubernetes.io/{each}" for each in ("job-name", "controller-uid")
    }
    own = only("Job", manualSelector=True, selector={"matchLabels": {"app": "web"}})
    assert (own.template.metadata.labels, own.selector.matches({"app": "web"})) == ({"app": "web"}, True)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"selector": None}, "spec.selector: Required value"),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "spec.selector: Invalid value: invalid"),
    ],
)
def test_a_selector_that_is_missing_or_invalid_has_its_place(spec: Any, words: str) -> None:
    item = workload("ReplicaSet", "web")
    item["metadata"]["namespace"] = "default"
    item["spec"] |= spec
    with pytest.raises(InvalidError, match=words) as caught:
        list(controllers_of(inventory(item)))
    assert (caught.value.place.source, caught.value.place.field) == ("app.yaml", "spec.selector")
