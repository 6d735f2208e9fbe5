"""Workloads: selectors and templates that belong together, counts, strategies, schedules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import pod, refusals, workload
from topospread.api.validation import validate_object
from topospread.api.validation.schema import STRUCT_OF

SELECTED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
KINDS = tuple(kind for kind in STRUCT_OF if kind != "Pod")
MISMATCH = "`selector` does not match template `labels`"


@pytest.mark.parametrize("kind", KINDS)
def test_good_workloads(kind):
    assert refusals(workload(kind)) == []


@pytest.mark.parametrize("kind", SELECTED)
def test_a_selector_selects_the_template(kind):
    made = workload(kind, selector={"matchLabels": {"app": "api"}})
    assert refusals(made) == [f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}']


@pytest.mark.parametrize("kind", SELECTED)
def test_a_selector_is_there_and_selects_something(kind):
    words = {"StatefulSet": "statefulset", "DaemonSet": "daemonset"}.get(kind, "deployment")
    assert refusals(workload(kind, selector={})) == [
        f"spec.selector: Invalid value: {{}}: empty selector is invalid for {words}"
    ]
    missing = refusals(workload(kind, selector=None))
    assert f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}' in missing
    assert ("spec.selector: Required value" in missing) == (kind != "DaemonSet")


def test_a_selector_that_cannot_be_compiled_hides_the_template():
    made = workload("Deployment", {"containers": []}, selector={"matchExpressions": [{"key": "a", "operator": "x"}]})
    assert refusals(made) == [
        'spec.selector.matchExpressions[0].operator: Invalid value: "x": not a valid selector operator',
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"x"}]}: invalid label selector',
    ]


@pytest.mark.parametrize(
    ("kind", "path"),
    [(kind, "spec.template") for kind in KINDS if kind != "CronJob"] + [("CronJob", "spec.jobTemplate.spec.template")],
)
def test_a_template_is_checked_as_a_pod_at_its_path(kind, path):
    made = workload(kind, {"nodeSelector": {"-": ""}, "topologySpreadConstraints": [{"topologyKey": "zone"}]})
    fields = {message.split(": ")[0] for message in refusals(made)}
    assert fields == {
        f"{path}.spec.nodeSelector",
        f"{path}.spec.topologySpreadConstraints[0].maxSkew",
        f"{path}.spec.topologySpreadConstraints[0].whenUnsatisfiable",
    }


@pytest.mark.parametrize("kind", [*SELECTED, "ReplicationController"])
def test_controllers_that_restart_their_pods_ask_for_it(kind):
    made = workload(kind, {"restartPolicy": "Never", "activeDeadlineSeconds": 5})
    named = "ReplicaSet" if kind == "Deployment" else kind
    assert refusals(made) == [
        f"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in {named} is not Supported",
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ]


OTHER_LABELS = f'template.metadata.labels: Invalid value: {{"app":"web"}}: {MISMATCH}'


@pytest.mark.parametrize(
    ("kind", "spec", "refused"),
    [
        ("Deployment", {"replicas": -1}, "replicas: Invalid value: -1: must be greater than or equal to 0"),
        (
            *("Deployment", {"minReadySeconds": 600}),
            "progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
        ),
        ("Deployment", {"strategy": {"type": "Recreate"}}, ""),
        (
            *("Deployment", {"strategy": {"type": "Recreate", "rollingUpdate": {}}}),
            "strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            *("Deployment", {"strategy": {"type": "x", "rollingUpdate": {"maxSurge": "1%"}}}),
            'strategy: Unsupported value: {"Type":"x","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"1%"}}: '
            'supported values: "Recreate", "RollingUpdate"',
        ),
        (
            *("Deployment", {"strategy": {"rollingUpdate": {"maxUnavailable": "0%", "maxSurge": 0}}}),
            'strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
        ),
        (
            *("Deployment", {"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}}),
            'strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        (
            *("DaemonSet", {"updateStrategy": {"type": "x"}}),
            'updateStrategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: '
            '"RollingUpdate", "OnDelete"',
        ),
        (
            *("DaemonSet", {"updateStrategy": {"rollingUpdate": {"maxSurge": 1}}}),
            "updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
        ),
        (
            *("DaemonSet", {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}}),
            "updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
        ),
        (
            *("StatefulSet", {"podManagementPolicy": "x", "serviceName": "a.b", "ordinals": {"start": -1}}),
            "ordinals.start: Invalid value: -1: must be greater than or equal to 0; podManagementPolicy: Invalid "
            "value: \"x\": must be 'OrderedReady' or 'Parallel'; serviceName: Invalid value: \"a.b\": must not "
            "contain dots",
        ),
        (
            *("StatefulSet", {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}}),
            'updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed '
            "for updateStrategy 'RollingUpdate'",
        ),
        (
            *("StatefulSet", {"updateStrategy": {"type": "x"}}),
            'updateStrategy: Invalid value: {"Type":"x","RollingUpdate":null}: must be \'RollingUpdate\' or '
            "'OnDelete'",
        ),
        (
            *("StatefulSet", {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "x"}}),
            'persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "x": supported values: '
            '"Retain", "Delete"',
        ),
        ("ReplicationController", {"selector": None}, ""),
        ("ReplicationController", {"selector": {"app": "api"}}, OTHER_LABELS),
    ],
)
def test_a_wrong_field_is_refused_at_its_place(kind, spec, refused):
    assert "; ".join(each.removeprefix("spec.") for each in refusals(workload(kind, **spec))) == refused


def test_a_stateful_sets_claims_are_volumes_of_its_pods():
    container = {"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/d"}]}
    claim: dict[str, Any] = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    made = workload("StatefulSet", {"containers": [container], "hostname": "A"}, volumeClaimTemplates=[claim])
    assert refusals(made) == []
    claim["spec"] = {}
    assert [message.split(": ")[0] for message in refusals(made)] == [
        "spec.volumeClaimTemplates[0].spec.accessModes",
        "spec.volumeClaimTemplates[0].spec.resources[storage]",
    ]


def test_a_replication_controller_without_template_is_told_so_and_others_lack_containers():
    made = workload("ReplicationController")
    del made["spec"]["template"]
    assert refusals(made) == ["spec.template: Required value"]
    made = workload("Deployment")
    del made["spec"]["template"]
    assert refusals(made) == [
        "spec.template.metadata.labels: Invalid value: null: " + MISMATCH,
        "spec.template.spec.containers: Required value",
    ]


def test_names_of_stateful_sets_are_labels():
    made = workload("StatefulSet")
    made["metadata"]["name"] = "a.b"
    assert refusals(made) == ['metadata.name: Invalid value: "a.b": must not contain dots']


def test_a_manifest_may_lack_a_namespace_and_have_a_generate_name():
    made = pod({"name": None, "namespace": None, "generateName": "p" * 70 + "-"})
    made["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    assert validate_object(made) == []
    assert [error.field for error in validate_object(made, namespace="A", allow_privileged=False)] == [
        "metadata.namespace",
        "spec.containers[0].securityContext.privileged",
    ]


def test_what_does_not_decode_is_one_refusal():
    (error,) = validate_object(workload("Deployment", replicas="3"))
    assert (error.type, error.field) == ("FieldValueTypeInvalid", "spec.replicas")
    assert error.message == 'spec.replicas: expected an integer, got the string "3"'


@pytest.mark.parametrize(
    "obj",
    [
        {"apiVersion": "v1", "kind": "ConfigMap"},
        {"apiVersion": "kubeflow.org/v1", "kind": "Job", "spec": 5},
        {"apiVersion": 5, "kind": "Pod"},
        {"kind": ["Pod"]},
        {},
    ],
)
def test_other_kinds_are_not_ours_to_judge(obj):
    assert validate_object(obj) == []


def test_old_versions_are_judged_by_todays_rules():
    made = workload("Deployment", selector=None)
    made["apiVersion"] = "extensions/v1beta1"
    assert "spec.selector: Required value" in refusals(made)
