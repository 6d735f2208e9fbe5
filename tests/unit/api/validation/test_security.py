"""Security contexts, profiles, sysctls, and what Windows allows."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.objects import validate_pod
from tests.unit.api.validation.builders import CONTAINER, pod, pod_of, refusals

PATH = "spec.containers[0].securityContext"


def fields(obj: dict[str, Any]) -> list[str]:
    return [message.split(": ")[0] for message in refusals(obj)]


def test_privileged_containers_are_for_the_cluster_to_allow():
    made = pod_of(securityContext={"privileged": True})
    assert refusals(made) == [f"{PATH}.privileged: Forbidden: disallowed by cluster policy"]
    assert validate_pod(made, allow_privileged=True) == []


def test_a_whole_context_is_printed_with_gos_names():
    context = {
        "privileged": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"add": ["CAP_SYS_ADMIN"]},
        "seLinuxOptions": {"level": "s0"},
        "seccompProfile": {"type": "Unconfined"},
    }
    (first, second) = validate_pod(pod_of(securityContext=context), allow_privileged=True)
    shown = (
        '{"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,'
        '"SELinuxOptions":{"User":"","Role":"","Type":"","Level":"s0"},"WindowsOptions":null,"RunAsUser":null,'
        '"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,'
        '"ProcMount":null,"SeccompProfile":{"Type":"Unconfined","LocalhostProfile":null},"AppArmorProfile":null}'
    )
    assert first.message == (
        f"{PATH}: Invalid value: {shown}: "
        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
    )
    assert second.message.startswith(
        f"{PATH}: Invalid value: {shown}: cannot set `allowPrivilegeEscalation` to false and"
    )


@pytest.mark.parametrize(
    ("context", "found"),
    [
        ({"runAsUser": -1, "runAsGroup": 2**31}, ["runAsGroup", "runAsUser"]),
        ({"procMount": "Unmasked"}, ["procMount"]),
        ({"procMount": "x"}, ["procMount"]),
        ({"seccompProfile": {}}, ["seccompProfile.type"]),
        ({"seccompProfile": {"type": "x"}}, ["seccompProfile.type"]),
        ({"seccompProfile": {"type": "Localhost"}}, ["seccompProfile.localhostProfile"]),
        ({"seccompProfile": {"type": "Localhost", "localhostProfile": "/a"}}, ["seccompProfile.localhostProfile"]),
        ({"seccompProfile": {"type": "Unconfined", "localhostProfile": "a"}}, ["seccompProfile.localhostProfile"]),
        ({"appArmorProfile": {}}, ["appArmorProfile.type"]),
        ({"appArmorProfile": {"type": "x"}}, ["appArmorProfile.type"]),
        ({"appArmorProfile": {"type": "Localhost", "localhostProfile": ""}}, ["appArmorProfile.localhostProfile"]),
        ({"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}}, ["appArmorProfile.localhostProfile"]),
        (
            {"appArmorProfile": {"type": "Localhost", "localhostProfile": "a" * 4096}},
            ["appArmorProfile.localhostProfile"],
        ),
        ({"appArmorProfile": {"type": "Unconfined", "localhostProfile": "a"}}, ["appArmorProfile.localhostProfile"]),
        ({"windowsOptions": {"gmsaCredentialSpecName": "A"}}, ["windowsOptions.gmsaCredentialSpecName"]),
        ({"windowsOptions": {"gmsaCredentialSpec": ""}}, ["windowsOptions.gmsaCredentialSpec"]),
        ({"windowsOptions": {"gmsaCredentialSpec": "x" * 65537}}, ["windowsOptions.gmsaCredentialSpec"]),
        ({"windowsOptions": {"runAsUserName": "DOM\\user"}}, []),
    ],
)
def test_contexts_of_containers(context, found):
    assert fields(pod_of(securityContext=context)) == [f"{PATH}.{field}" for field in found]


@pytest.mark.parametrize(
    ("user", "reasons"),
    [
        ("", [" cannot be an empty string"]),
        ("a\tb", [" cannot contain control characters"]),
        ("a\\b\\c", [" cannot contain more than one backslash"]),
        (".\\u", ["'s Domain doesn't match the NetBios nor the DNS format"]),
        ("d" * 256 + "\\u", ["'s Domain doesn't match", "'s Domain length must be under 256 characters"]),
        ("DOM\\", ["'s User cannot be empty"]),
        ("u" * 105, ["'s User length must not be longer than 104 characters"]),
        (". .", ["'s User cannot contain only periods or spaces"]),
        ("a@b", ["'s User cannot contain the following characters"]),
    ],
)
def test_windows_users(user, reasons):
    messages = refusals(pod_of(securityContext={"windowsOptions": {"runAsUserName": user}}))
    assert len(messages) == len(reasons)
    for reason in reasons:
        assert any(f"runAsUserName{reason}" in message for message in messages)


@pytest.mark.parametrize(
    ("context", "found"),
    [
        ({"fsGroup": -1, "supplementalGroups": [0, -1]}, ["fsGroup", "supplementalGroups[1]"]),
        ({"sysctls": [{"name": "net.core.somaxconn"}, {"name": "net.core.somaxconn"}]}, ["sysctls[1].name"]),
        ({"sysctls": [{}, {"name": "A"}]}, ["sysctls[0].name", "sysctls[1].name"]),
        ({"fsGroupChangePolicy": "x"}, ["fsGroupChangePolicy"]),
        ({"supplementalGroupsPolicy": ""}, ["supplementalGroupsPolicy"]),
        ({"seLinuxChangePolicy": "x"}, ["seLinuxChangePolicy"]),
    ],
)
def test_contexts_of_pods(context, found):
    assert fields(pod(securityContext=context)) == [f"spec.securityContext.{field}" for field in found]


def test_sysctls_of_a_shared_namespace_are_the_hosts():
    sysctls = [{"name": name} for name in ("net/ipv4/x.y", "kernel.shm_rmid_forced", "fs.mqueue.msg_max", "vm.x")]
    made = pod(hostNetwork=True, hostIPC=True, securityContext={"sysctls": sysctls})
    assert [message.rpartition(": ")[2] for message in refusals(made)] == [
        "may not be specified when 'hostNetwork' is true",
        "may not be specified when 'hostIPC' is true",
        "may not be specified when 'hostIPC' is true",
    ]


def test_an_os_forbids_the_others_options():
    windows = {"windowsOptions": {"runAsUserName": "u"}}
    linux = {"runAsUser": 1, "capabilities": {}}
    made = pod(os={"name": "linux"}, securityContext=windows, containers=[CONTAINER | {"securityContext": windows}])
    assert fields(made) == [f"{PATH}.windowsOptions", "spec.securityContext.windowsOptions"]
    made = pod(
        os={"name": "windows"},
        securityContext={"runAsUser": 1, "sysctls": []},
        containers=[CONTAINER | {"securityContext": linux}],
        hostPID=True,
        hostUsers=True,
        shareProcessNamespace=False,
    )
    assert fields(made) == [
        f"{PATH}.capabilities",
        f"{PATH}.runAsUser",
        "spec.hostPID",
        "spec.hostUsers",
        "spec.securityContext.runAsUser",
        "spec.shareProcessNamespace",
    ]
    assert fields(pod(os={})) == ["spec.os.name"]
    assert fields(pod(os={"name": "mac"})) == ["spec.os"]


def test_host_process_containers_are_all_or_none_and_on_the_hosts_network():
    host = {"windowsOptions": {"hostProcess": True}}
    made = pod(containers=[CONTAINER | {"securityContext": host}, CONTAINER | {"name": "d"}])
    assert refusals(made) == [
        "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers",
        "spec: Forbidden: hostProcess containers are disallowed by cluster policy",
        'spec: Invalid value: "": '
        "If pod contains any hostProcess containers then all containers must be HostProcess containers",
    ]
    made = pod(hostNetwork=True, securityContext={"windowsOptions": {"hostProcess": False}})
    made["spec"]["containers"][0]["securityContext"] = host
    assert [error.field for error in validate_pod(made, allow_privileged=True)] == [
        f"{PATH}.windowsOptions.hostProcess"
    ]
