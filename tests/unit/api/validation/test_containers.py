"""Containers of all kinds: names, images, ports, policies, variables, probes, mounts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import CONTAINER, pod, pod_of, refusals

PATH = "spec.containers[0]"


def fields(obj: dict[str, Any]) -> list[str]:
    return [message.split(": ")[0] for message in refusals(obj)]


@pytest.mark.parametrize(
    ("container", "messages"),
    [
        ({"name": None}, ["name: Required value"]),
        ({"image": ""}, ["image: Required value"]),
        ({"image": " x"}, ['image: Invalid value: " x": must not have leading or trailing whitespace']),
        (
            {"imagePullPolicy": "always"},
            ['imagePullPolicy: Unsupported value: "always": supported values: "Always", "IfNotPresent", "Never"'],
        ),
        (
            {"terminationMessagePolicy": "x"},
            ['terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"'],
        ),
        ({"ports": [{}]}, ["ports[0].containerPort: Required value"]),
        (
            {"ports": [{"containerPort": 70000, "hostPort": -1}]},
            [
                f"ports[0].{field}: Invalid value: {number}: must be between 1 and 65535, inclusive"
                for field, number in (("containerPort", 70000), ("hostPort", -1))
            ],
        ),
        (
            {"ports": [{"containerPort": 1, "protocol": "tcp"}]},
            ['ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'],
        ),
        (
            {"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]},
            ['ports[1].name: Duplicate value: "a"'],
        ),
        (
            {"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In"}}]},
            ["restartPolicy: Required value: must specify restartPolicy when restart rules are used"],
        ),
        (
            {"restartPolicy": "Never", "restartPolicyRules": [{"action": "x"}]},
            [
                "restartPolicyRules[0].action: Unsupported value: "
                '"x": supported values: "Restart", "RestartAllContainers"',
                "restartPolicyRules[0].exitCodes: Required value: must be specified",
            ],
        ),
        (
            {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2},
            ['resizePolicy[1]: Duplicate value: "cpu"'],
        ),
    ],
)
def test_a_wrong_field_is_refused_at_its_place(container, messages):
    assert refusals(pod_of(**container)) == [f"{PATH}.{message}" for message in messages]


def test_a_pod_has_a_container():
    assert refusals(pod(containers=[])) == ["spec.containers: Required value"]


def test_names_are_told_apart_across_all_kinds():
    same = dict(CONTAINER)
    made = pod(containers=[same, dict(same)], initContainers=[dict(same)], ephemeralContainers=[dict(same)])
    assert refusals(made) == [
        'spec.containers[1].name: Duplicate value: "c"',
        "spec.ephemeralContainers: Forbidden: cannot be set on create",
        'spec.ephemeralContainers[0].name: Duplicate value: "c"',
        'spec.initContainers[0].name: Duplicate value: "c"',
    ]


def test_host_ports_are_taken_once_by_protocol_and_address():
    port = {"containerPort": 80, "hostPort": 80}
    other = CONTAINER | {"name": "d", "ports": [{**port, "protocol": "UDP"}, {**port, "hostIP": "10.0.0.1"}, port]}
    assert refusals(pod(containers=[CONTAINER | {"ports": [port]}, other])) == [
        'spec.containers[1].ports[2].hostPort: Duplicate value: "TCP//80"'
    ]


def test_on_the_hosts_network_ports_are_host_ports():
    port = {"containerPort": 80}
    assert refusals(pod(hostNetwork=True, containers=[CONTAINER | {"ports": [port]}])) == []
    assert refusals(pod(hostNetwork=True, containers=[CONTAINER | {"ports": [port | {"hostPort": 81}]}])) == [
        f"{PATH}.ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"
    ]
    taken = pod(hostNetwork=True, containers=[CONTAINER | {"ports": [port, port]}])
    assert refusals(taken) == [f'{PATH}.ports[1].hostPort: Duplicate value: "TCP//80"']


def test_init_containers_have_probes_only_as_sidecars():
    probe = {"exec": {"command": ["true"]}}
    init = CONTAINER | {"name": "i", "livenessProbe": probe, "lifecycle": {"preStop": probe}}
    assert [message.split(": ")[0] for message in refusals(pod(initContainers=[init]))] == [
        "spec.initContainers[0].lifecycle",
        "spec.initContainers[0].livenessProbe",
    ]
    assert refusals(pod(initContainers=[init | {"restartPolicy": "Always"}])) == []


def test_ephemeral_containers_may_have_little():
    ephemeral = CONTAINER | {
        "name": "e",
        "ports": [{"containerPort": 1}],
        "resources": {"limits": {}},
        "targetContainerName": "gone",
        "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "s"}],
    }
    made = pod(ephemeralContainers=[ephemeral], volumes=[{"name": "v"}])
    assert sorted(fields(made)) == [
        "spec.ephemeralContainers",
        "spec.ephemeralContainers[0].ports",
        "spec.ephemeralContainers[0].resources",
        "spec.ephemeralContainers[0].targetContainerName",
        "spec.ephemeralContainers[0].volumeMounts[0].subPath",
    ]


@pytest.mark.parametrize(
    ("probe", "messages"),
    [
        ({"httpGet": {"port": "http"}}, []),
        ({}, ["Required value: must specify a handler type"]),
        ({"exec": {}}, ["exec.command: Required value"]),
        ({"tcpSocket": {"port": 0}}, ["tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive"]),
        (
            {"httpGet": {"port": 1, "scheme": "FTP"}},
            ['httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"'],
        ),
        (
            {"tcpSocket": {"port": 1}, "grpc": {"port": 0}},
            ["grpc: Forbidden: may not specify more than 1 handler type"],
        ),
        (
            {"tcpSocket": {"port": 1}, "periodSeconds": -1},
            ["periodSeconds: Invalid value: -1: must be greater than or equal to 0"],
        ),
        ({"tcpSocket": {"port": 1}, "successThreshold": 2}, ["successThreshold: Invalid value: 2: must be 1"]),
        (
            {"tcpSocket": {"port": 1}, "terminationGracePeriodSeconds": 0},
            ["terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"],
        ),
    ],
)
def test_probes(probe, messages):
    joints = [f"{PATH}.livenessProbe" + (": " if message[0].isupper() else ".") + message for message in messages]
    assert refusals(pod_of(livenessProbe=probe)) == joints


def test_a_readiness_probe_ends_nothing():
    probe = {"tcpSocket": {"port": 1}, "terminationGracePeriodSeconds": 5, "successThreshold": 2}
    assert refusals(pod_of(readinessProbe=probe)) == [
        f"{PATH}.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes"
    ]


def test_a_handler_does_not_sleep_longer_than_the_pod_may_take():
    made = pod_of(lifecycle={"preStop": {"sleep": {"seconds": 31}}, "postStart": {"sleep": {"seconds": 30}}})
    assert refusals(made) == [
        f"{PATH}.lifecycle.preStop.sleep: Invalid value: 31: "
        "must be non-negative and less than terminationGracePeriodSeconds (30)"
    ]


@pytest.mark.parametrize(
    ("mount", "found"),
    [
        ({"name": "v", "mountPath": "/v", "subPath": "a"}, []),
        ({"name": "gone", "mountPath": "/v"}, ["[0].name"]),
        ({"name": "v"}, ["[0].mountPath"]),
        ({"name": "v", "mountPath": "/v", "subPath": "/a"}, [".subPath"]),
        ({"name": "v", "mountPath": "/v", "subPath": "a", "subPathExpr": "../b"}, [".subPathExpr", "[0].subPathExpr"]),
        ({"name": "v", "mountPath": "/v", "mountPropagation": "Bidirectional"}, [".mountPropagation"]),
        ({"name": "v", "mountPath": "/v", "mountPropagation": "x"}, [".mountPropagation"]),
        ({"name": "v", "mountPath": "/v", "recursiveReadOnly": "Enabled"}, [".recursiveReadOnly"]),
        (
            {
                "name": "v",
                "mountPath": "/v",
                "readOnly": True,
                "recursiveReadOnly": "Enabled",
                "mountPropagation": "None",
            },
            [],
        ),
        ({"name": "v", "mountPath": "/v", "recursiveReadOnly": "x"}, [".recursiveReadOnly"]),
    ],
)
def test_mounts(mount, found):
    made = pod(containers=[CONTAINER | {"volumeMounts": [mount]}], volumes=[{"name": "v"}])
    assert fields(made) == [f"{PATH}.volumeMounts{field}" for field in found]


def test_mounts_and_devices_do_not_share_names_or_paths():
    container = CONTAINER | {
        "volumeMounts": [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/v"}],
        "volumeDevices": [{"name": "v", "devicePath": "/v"}, {"name": "w", "devicePath": "/dev/../x"}],
    }
    claim = {"persistentVolumeClaim": {"claimName": "c"}}
    made = pod(containers=[container], volumes=[{"name": "v", **claim}, {"name": "w"}])
    assert sorted(set(fields(made))) == [
        f"{PATH}.volumeDevices[0].devicePath",
        f"{PATH}.volumeDevices[0].name",
        f"{PATH}.volumeDevices[1].devicePath",
        f"{PATH}.volumeDevices[1].name",
        f"{PATH}.volumeMounts[0].mountPath",
        f"{PATH}.volumeMounts[0].name",
        f"{PATH}.volumeMounts[1].mountPath",
        f"{PATH}.volumeMounts[1].name",
    ]
