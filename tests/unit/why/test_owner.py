"""Which object a person changes to change a pod's spec."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.pod import Pod
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import prepare
from topospread.why.owner import Owned, is_older, owned

from .builders import constraint, inventory, pod, replica_set, replicas, spec, workload, zones

SPEC = spec(constraint())


def owned_by(*objects: dict[str, Any], has_pods: bool = False) -> Owned:
    """The owner of the first pod that waits."""
    given = inventory(*zones(), *objects)
    found = owned(given, prepare(given, SimulationOptions()).queue[0], (), has_pods=has_pods)
    assert found is not None
    return found


def test_the_template_of_a_deployment_rolls_its_pods() -> None:
    found = owned_by(workload("Deployment", 1, SPEC))
    assert (found.reference["kind"], found.path, found.means) == ("Deployment", "/spec/template/spec", "rollout")


def test_a_manifest_of_what_does_not_exist_yet_is_changed_before_it_is_created() -> None:
    assert owned_by(workload("Deployment", 1, SPEC, uid=False)).means == "create"
    assert owned_by(pod("web", of=SPEC, uid=False)).means == "create"


def test_a_manifest_of_what_has_pods_is_one_of_an_object_that_exists() -> None:
    assert owned_by(workload("Deployment", 1, SPEC, uid=False), has_pods=True).means == "rollout"


def test_a_pod_and_a_job_are_created_anew() -> None:
    assert owned_by(pod("web", of=SPEC)).means == "recreate"
    assert owned_by(workload("Job", 1, SPEC)).means == "recreate"


def test_only_a_pod_that_exists_can_be_given_a_toleration_as_it_is() -> None:
    assert owned_by(pod("web", of=SPEC)).is_pod
    assert not owned_by(pod("web", of=SPEC, uid=False)).is_pod
    assert not owned_by(workload("Job", 1, SPEC)).is_pod


def test_a_replica_set_makes_new_pods_alone() -> None:
    assert owned_by(workload("ReplicaSet", 1, SPEC)).means == "new pods"


def test_a_replica_set_of_a_deployment_that_was_not_read_is_changed_there() -> None:
    found = owned_by(replica_set("abc", 1, SPEC))
    assert found.reference == {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
    assert found.means == "rollout"


def test_pods_alone_tell_of_the_deployment_that_they_are_of() -> None:
    found = owned_by(*replicas("abc", SPEC, [""]))
    assert (found.reference["kind"], found.reference["name"], found.path) == (
        "Deployment",
        "web",
        "/spec/template/spec",
    )
    assert found.means == "rollout"


def test_pods_alone_tell_of_other_controllers_by_their_reference() -> None:
    found = owned_by(pod("db-0", of=SPEC, owner=("StatefulSet", "db")))
    assert (found.reference["kind"], found.reference["name"], found.means) == ("StatefulSet", "db", "rollout")


def test_of_an_owner_of_an_unknown_kind_only_the_spec_of_the_pods_is_known() -> None:
    made = workload("ReplicaSet", 1, SPEC)
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web", "uid": "r", "controller": True}
    ]
    found = owned_by(made)
    assert found.reference["apiVersion"] == "argoproj.io/v1alpha1"
    assert (found.reference["kind"], found.path, found.means) == ("Rollout", "/spec", "template")


def test_tolerations_that_the_api_server_added_are_none_of_the_template() -> None:
    tolerations = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}]
    found = owned_by(pod("db-0", of=spec(tolerations=tolerations), owner=("StatefulSet", "db")))
    assert found.spec.tolerations is None


def test_a_pod_is_older_where_its_revision_is_another() -> None:
    def of(revision: str) -> Pod:
        return msgspec.convert(pod("web", labels={"pod-template-hash": revision} if revision else {}), Pod)

    assert is_older(of("a"), of("b"))
    assert not is_older(of("a"), of("a"))
    assert not is_older(of("a"), of("")), "nobody knows"
    assert not is_older(of(""), of("b"))
