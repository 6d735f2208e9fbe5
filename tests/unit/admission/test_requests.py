"""New objects as policies receive them: the full text, known labels, and what is unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.admission.test_validating import NODE, PODS, deployment, found_by, policy, workloads
from topospread.simulation.simulate import simulate
from topospread.sources.load import load
from topospread.sources.snapshot_facts import FIELD, FORMAT


def test_a_deployment_without_its_replica_set() -> None:
    for expression, verdict in (
        (
            "object.metadata.ownerReferences[0].name == 'web' && object.spec.template.metadata.labels.app == 'web'",
            "yes",
        ),
        ("object.spec.replicas == 2 && 'pod-template-hash' in object.spec.selector.matchLabels", "yes"),
        ("object.metadata.name == 'web-1'", "unknown"),
        ("object.spec.replicas < 2", "no"),
    ):
        found, message = found_by(*policy(expression, **workloads("replicasets")), deployment())
        assert found == verdict, expression
    assert message.startswith(
        'ReplicaSetCreateError: Failed to create new replica set "web-…": replicasets.apps "web-…" is'
    )


@pytest.mark.parametrize("kept", [None, "", "[1]", "{", '{"spec": 1}', '{"spec": {"containers": 7}}', "[" * 100_000])
def test_a_snapshot_that_kept_no_text_or_a_wrong_one(kept: str | None, tmp_path: Path) -> None:
    item = deployment()
    if kept is not None:
        item["spec"]["template"]["metadata"]["annotations"] = {"topospread.dev/whole": kept}
    item["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    items = [NODE, *policy("has(object.spec.containers[0].command)"), item]
    snapshot = {"apiVersion": "v1", "kind": "List", FIELD: {"format": FORMAT}, "items": items}
    (tmp_path / "cluster.json").write_text(json.dumps(snapshot))
    assert simulate(load([str(tmp_path / "cluster.json")])).verdict == "unknown"


def test_a_stateful_set_and_a_daemon_set() -> None:
    stateful = deployment() | {"kind": "StatefulSet"}
    stateful["spec"] |= {"serviceName": "web", "podManagementPolicy": "Parallel"}
    named = policy("object.metadata.name == 'web-0' && object.spec.hostname == object.metadata.name")
    verdict, message = found_by(*named, stateful)
    assert (verdict, "Create Pod web-1 in StatefulSet web failed" in message) == ("no", True)
    daemon = deployment() | {"kind": "DaemonSet"}
    del daemon["spec"]["replicas"]
    tolerant = policy("object.spec.tolerations.exists(t, t.key == 'node.kubernetes.io/disk-pressure')")
    assert found_by(*tolerant, daemon)[0] == "yes"


def test_labels_of_a_namespace_outside_the_input_are_unknown() -> None:
    selecting = {"resourceRules": [PODS], "namespaceSelector": {"matchLabels": {"env": "prod"}}}
    denying, web = policy("false", matchConstraints=selecting), deployment()
    web["metadata"]["namespace"] = "shop"
    said = "ValidatingAdmissionPolicy p (the labels of namespace shop are not in the input)"
    verdict, because = found_by(*denying, web)
    assert verdict == "unknown"
    assert said in because
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"env": "test"}}}
    assert found_by(*denying, namespace, web)[0] == "yes"
    by_name = {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}
    assert found_by(*policy("false", matchConstraints={**selecting, "namespaceSelector": by_name}), web)[0] == "no"


def test_the_owner_of_a_pod_is_its_controller() -> None:
    owner = "object.metadata.ownerReferences[0]"
    assert found_by(*policy(f"{owner}.controller && {owner}.blockOwnerDeletion"), deployment())[0] == "yes"
    assert found_by(*policy(f"{owner}.kind != 'ReplicaSet'"), deployment())[0] == "no"
