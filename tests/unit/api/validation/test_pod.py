"""Pods as a whole: policies, names, network, gates, annotations, what creating one adds."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.objects import judge_object, validate_pod
from tests.unit.api.validation.builders import CONTAINER, pod, pod_of, refusals
from topospread.api.quantity import NumberText
from topospread.api.validation import validate_pod_template
from topospread.api.validation.schema import WrongTypeError


@pytest.mark.parametrize(
    ("spec", "messages"),
    [
        (
            {"restartPolicy": "x"},
            ['restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"'],
        ),
        (
            {"dnsPolicy": "x"},
            [
                'dnsPolicy: Unsupported value: "x": supported values: '
                '"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'
            ],
        ),
        ({"preemptionPolicy": ""}, ["preemptionPolicy: Required value"]),
        (
            {"preemptionPolicy": "x"},
            ['preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'],
        ),
        (
            {"activeDeadlineSeconds": 0},
            ["activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
        ),
        ({"terminationGracePeriodSeconds": -5}, []),
        ({"hostname": "a.b"}, ['hostname: Invalid value: "a.b": must not contain dots']),
        ({"hostname": "", "nodeName": ""}, []),
        (
            {"nodeName": "n", "schedulingGates": [{"name": "g"}]},
            ["nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
        ),
        ({"schedulingGates": [{"name": "g"}, {"name": "g"}]}, ['schedulingGates[1]: Duplicate value: "g"']),
        ({"schedulingGroup": {"podGroupName": "-"}, "evictionResponders": [{}]}, []),
        (
            {"hostUsers": False, "hostPID": True, "hostNetwork": True},
            ["HostPID: Forbidden: when `hostUsers` is false", "hostNetwork: Forbidden: when `hostUsers` is false"],
        ),
        (
            {"shareProcessNamespace": True, "hostPID": True},
            ["shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"],
        ),
        (
            {"hostnameOverride": "h", "hostNetwork": True, "setHostnameAsFQDN": True},
            [
                "hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
                "hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
            ],
        ),
        ({"hostnameOverride": "h" * 65}, ["hostnameOverride: Too long: may not be more than 64 bytes"]),
        ({"dnsPolicy": "None"}, ["dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"]),
        (
            {"dnsPolicy": "None", "dnsConfig": {"searches": ["A"]}},
            [
                "dnsConfig.nameservers: Required value: "
                "must provide at least one DNS nameserver when `dnsPolicy` is None"
            ],
        ),
        ({"dnsConfig": {"options": [{}]}}, ["dnsConfig.options[0]: Required value: must not be empty"]),
        (
            {"resourceClaims": [{"name": "a"}]},
            [
                "resourceClaims[0]: Invalid value: "
                '{"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: '
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            ],
        ),
    ],
)
def test_a_wrong_field_is_refused_at_its_place(spec, messages):
    assert refusals(pod(**spec)) == [f"spec.{message}" for message in messages]


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (
            {"subdomain": "A", "priorityClassName": "A", "runtimeClassName": ""},
            ["priorityClassName", "runtimeClassName", "subdomain"],
        ),
        ({"serviceAccount": "A"}, ["serviceAccountName"]),
        ({"nodeSelector": {"-": "a", "b": "-"}}, ["nodeSelector", "nodeSelector"]),
        ({"readinessGates": [{}, {"conditionType": "a.b/c"}]}, ["readinessGates[0].conditionType"] * 2),
        ({"hostAliases": [{"ip": "x", "hostnames": ["a", "-"]}]}, ["hostAliases[0].hostnames[1]", "hostAliases[0].ip"]),
        (
            {"dnsConfig": {"nameservers": ["10.0.0.1"] * 4, "searches": ["a.b."] * 33 + ["A", "."]}},
            ["dnsConfig.nameservers", "dnsConfig.searches", "dnsConfig.searches[33]"],
        ),
        ({"dnsConfig": {"searches": ["a" * 253] * 9}}, ["dnsConfig.searches"]),
        (
            {
                "resourceClaims": [
                    {},
                    {"name": "A", "resourceClaimName": "-"},
                    {"name": "A", "resourceClaimTemplateName": "t"},
                ]
            },
            [
                "resourceClaims[0]",
                "resourceClaims[0].name",
                "resourceClaims[1].name",
                "resourceClaims[1].resourceClaimName",
                "resourceClaims[2].name",
            ],
        ),
    ],
)
def test_wrong_names_are_refused_at_their_place(spec, fields):
    assert sorted(message.split(": ")[0] for message in refusals(pod(**spec))) == [f"spec.{field}" for field in fields]


@pytest.mark.parametrize(
    ("address", "detail"),
    [
        ("10.0.0.1", None),
        ("FD00:0::1", None),
        ("::1.2.3.4", None),
        ("", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("10.0.0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("fe80::1%eth0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("1.2.3.0x4", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("256.1.1.01", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("010.0.0.1", "must not have leading 0s"),
        ("::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"),
    ],
)
def test_addresses(address, detail):
    messages = refusals(pod(dnsConfig={"nameservers": [address]}))
    assert messages == ([f'spec.dnsConfig.nameservers[0]: Invalid value: "{address}": {detail}'] if detail else [])


@pytest.mark.parametrize(
    ("annotations", "spec", "fields"),
    [
        ({"kubernetes.io/config.mirror": "x"}, {}, ["[kubernetes.io/config.mirror]"]),
        ({"kubernetes.io/config.mirror": "x"}, {"nodeName": "n"}, []),
        ({"controller.kubernetes.io/pod-deletion-cost": "-2147483648"}, {}, []),
        ({"controller.kubernetes.io/pod-deletion-cost": "+1"}, {}, ["[controller.kubernetes.io/pod-deletion-cost]"]),
        (
            {"controller.kubernetes.io/pod-deletion-cost": "2147483648"},
            {},
            ["[controller.kubernetes.io/pod-deletion-cost]"],
        ),
        ({"scheduler.alpha.kubernetes.io/tolerations": '[{"key":"a"}]'}, {}, []),
        ({"scheduler.alpha.kubernetes.io/tolerations": "[{"}, {}, [""]),
        (
            {"scheduler.alpha.kubernetes.io/tolerations": "[{}]"},
            {},
            [".scheduler.alpha.kubernetes.io/tolerations[0].operator"],
        ),
        ({"seccomp.security.alpha.kubernetes.io/pod": "x"}, {}, [".seccomp.security.alpha.kubernetes.io/pod"]),
        (
            {"container.seccomp.security.alpha.kubernetes.io/c": "localhost//x"},
            {},
            [".container.seccomp.security.alpha.kubernetes.io/c"],
        ),
        ({"container.apparmor.security.beta.kubernetes.io/c": "localhost/p"}, {}, []),
        (
            {"container.apparmor.security.beta.kubernetes.io/d": "x"},
            {},
            ["[container.apparmor.security.beta.kubernetes.io/d]"] * 2,
        ),
    ],
)
def test_annotations_that_mean_something(annotations, spec, fields):
    messages = refusals(pod({"annotations": annotations}, **spec))
    assert [message.split(": ")[0] for message in messages] == [f"metadata.annotations{field}" for field in fields]


def test_profiles_given_twice_must_agree():
    context = {
        "seccompProfile": {"type": "Unconfined"},
        "appArmorProfile": {"type": "Localhost", "localhostProfile": "p"},
    }
    annotations = {
        "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
        "container.seccomp.security.alpha.kubernetes.io/c": "localhost/p",
        "container.apparmor.security.beta.kubernetes.io/c": "localhost/q",
    }
    made = pod(
        {"annotations": annotations}, containers=[CONTAINER | {"securityContext": context}], securityContext=context
    )
    assert [error.field for error in validate_pod(made)] == [
        "spec.containers[0].securityContext.appArmorProfile.localhostProfile",
        "spec.containers[0].securityContext.seccompProfile.type",
    ]


def test_static_pods_have_no_claims():
    made = pod(
        {"annotations": {"kubernetes.io/config.mirror": "x"}},
        nodeName="n",
        resourceClaims=[{"name": "a", "resourceClaimName": "b"}],
    )
    assert refusals(made) == ["[]: Forbidden: static pods do not support resource claims"]


def test_a_template_stands_at_its_path_and_needs_neither_name_nor_namespace():
    template: dict[str, Any] = {
        "metadata": {"labels": {"-": ""}},
        "spec": {"containers": [{"name": "c", "image": " x"}]},
    }
    assert [error.field for error in validate_pod_template(template, "spec.template")] == ["spec.template.labels"]
    template["spec"]["ephemeralContainers"] = [dict(CONTAINER)]
    assert "spec.template.spec.ephemeralContainers" in [
        error.field for error in validate_pod_template(template, "spec.template")
    ]


def test_what_does_not_decode_is_raised():
    with pytest.raises(WrongTypeError, match="spec: expected an object, got a list"):
        validate_pod({"kind": "Pod", "spec": []})
    with pytest.raises(WrongTypeError, match="spec: expected an object, got a list"):
        validate_pod_template({"spec": []}, "spec.template")


def test_a_judgement_is_data_sorted_by_message():
    answer = judge_object(pod({"namespace": ""}, hostname="A"))
    assert [error["field"] for error in answer["errors"]] == ["metadata.namespace", "spec.hostname"]
    assert list(answer["errors"][0]) == ["type", "field", "message"]
    assert "decode" not in answer
    assert judge_object(pod()) == {"errors": []}


@pytest.mark.parametrize(
    ("obj", "decode"),
    [
        (None, "expected an object"),
        ([], "expected an object"),
        ({}, "kind: expected the kind of an object"),
        ({"kind": 5}, "kind: expected the kind of an object"),
        ({"kind": "Secret", "apiVersion": "v1"}, "kind: v1 Secret is not a v1 Pod"),
        ({"kind": "Pod", "apiVersion": "v2"}, "kind: v2 Pod is not a v1 Pod"),
        (pod(priority="high"), 'spec.priority: expected an integer, got the string "high"'),
        (
            pod_of(resources={"requests": {"cpu": "1 core"}}),
            'spec.containers[0].resources.requests[cpu]: the string "1 core" is',
        ),
    ],
)
def test_what_does_not_decode_is_answered_with_its_place(obj, decode):
    answer = judge_object(obj)
    assert answer["errors"] == []
    assert answer["decode"].startswith(decode)


def test_a_json_number_may_keep_its_text():
    assert judge_object(pod_of(resources={"requests": {"cpu": NumberText("1.500")}, "limits": {"cpu": 1}})) == {
        "errors": [
            {
                "type": "FieldValueInvalid",
                "field": "spec.containers[0].resources.requests",
                "message": "spec.containers[0].resources.requests: Invalid value: "
                '"1.500": must be less than or equal to cpu limit of 1',
            }
        ]
    }
