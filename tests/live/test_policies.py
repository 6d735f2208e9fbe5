"""`topospread policies --for vap` in force on a real API server: each policy says what the linter says."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.drawn import LONG
from tests.live.conftest import ControlPlane
from tests.live.policies import ApiServer, ask, install, judge
from tests.live.processes import TOPOSPREAD
from tests.live.test_webhook import eventually
from topospread.lint.policies.cel import EXPRESSED

Json = dict[str, Any]
_OBJECTS, _SEED = 60 * LONG, 15
_ACCOUNT = "system:serviceaccount:kube-system:"


def _owner(kind: str) -> Json:
    return {"apiVersion": "apps/v1", "kind": kind, "name": "a", "uid": "1", "controller": True}


def _plain(name: str, **spec: object) -> Json:
    labels = {"app": "web"}
    container = {"name": "main", "image": "pause"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


_BETA = {
    "maxSkew": 1,
    "topologyKey": "failure-domain.beta.kubernetes.io/zone",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def test_policies_and_linter_find_the_same_in_random_objects(own_plane: ControlPlane) -> None:
    with closing(ApiServer(own_plane.kubeconfig)) as server:
        install(server)
        judged = judge(server, _OBJECTS, _SEED)
    assert judged.differences == []
    assert judged.asked > _OBJECTS // 2
    assert len(judged.found) > len(EXPRESSED) // 2, "most rules have to have found something"


@pytest.fixture
def denying(own_plane: ControlPlane, tmp_path: Path) -> Iterator[ApiServer]:
    """An API server with the printed policy of one rule, whose findings deny."""
    settings = tmp_path / ".topospread.yaml"
    settings.write_text("lint:\n  select: [beta-topology-key]\n  severity: {beta-topology-key: error}\n")
    words = [TOPOSPREAD, "policies", "--for", "vap", "--settings", settings]
    printed = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    policies = tmp_path / "policies.yaml"
    policies.write_text(printed)
    own_plane.kubectl("apply", "-f", str(policies))
    with closing(ApiServer(own_plane.kubeconfig)) as server:
        server.until_refused(_plain("web", topologySpreadConstraints=[_BETA]), "[beta-topology-key]")
        yield server


def test_an_error_denies_objects_with_the_finding_only(denying: ApiServer) -> None:
    assert ask(denying, _plain("web")) == frozenset()


def test_an_owner_reference_or_an_annotation_lifts_no_denial(denying: ApiServer) -> None:
    forged = _plain("forged", topologySpreadConstraints=[_BETA])
    forged["metadata"] |= {"ownerReferences": [_owner("ConfigMap")]}
    assert "[beta-topology-key]" in denying.refusal(forged)
    ignoring = _plain("ignoring", topologySpreadConstraints=[_BETA])
    ignoring["metadata"] |= {"annotations": {"topospread.dev/ignore": "beta-topology-key: we want it"}}
    assert "[beta-topology-key]" in denying.refusal(ignoring)


def test_only_a_controller_creates_objects_that_it_owns(denying: ApiServer) -> None:
    made = _plain("web", topologySpreadConstraints=[_BETA]) | {"kind": "ReplicaSet"}
    made["metadata"] |= {"ownerReferences": [_owner("Deployment")]}
    assert "[beta-topology-key]" in denying.refusal(made)

    def refusal_for(user: str) -> str:
        return denying.refusal(made, **{"Impersonate-User": user, "Impersonate-Group": "system:masters"})

    assert "[beta-topology-key]" in refusal_for(f"{_ACCOUNT}replicaset-controller")
    assert refusal_for(f"{_ACCOUNT}deployment-controller") == ""
    assert refusal_for("system:kube-controller-manager") == ""


def test_finalizers_of_a_deleted_object_can_be_removed(denying: ApiServer, own_plane: ControlPlane) -> None:
    """An object from before the policy waits for its finalizers."""
    binding = ("validatingadmissionpolicybinding", "topospread-beta-topology-key")
    kept = json.loads(own_plane.kubectl("get", *binding, "-o", "json"))
    own_plane.kubectl("delete", *binding)
    old = _plain("old", topologySpreadConstraints=[_BETA])
    eventually(lambda: not denying.refusal(old))
    old["metadata"] |= {"finalizers": ["example.com/wait"]}
    own_plane.kubectl("create", "-f", "-", given=old)
    del kept["metadata"]["resourceVersion"], kept["metadata"]["uid"]
    own_plane.kubectl("create", "-f", "-", given=kept)
    denying.until_refused(_plain("other", topologySpreadConstraints=[_BETA]), "[beta-topology-key]")
    own_plane.kubectl("delete", "deployment", "old", "--wait=false")
    own_plane.kubectl(
        "patch", "deployment", "old", "--type=json", "-p", '[{"op":"remove","path":"/metadata/finalizers"}]'
    )
    assert own_plane.kubectl("get", "deployments", "-o", "name") == ""
