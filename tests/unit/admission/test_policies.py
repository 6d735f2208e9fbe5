"""New pods of whose admission a part is not evaluated: they are reported as not judged, never taken as admitted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.controllers.manifests import Json, container, inventory, pod
from topospread.admission.requests import Request, Requests
from topospread.api.pod import Pod
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.sources.admit import note_profiles

NODE: Json = {
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
}
PODS: Json = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def policy(*rules: Json, kind: str = "Validating", **constraints: object) -> Json:
    spec = {"matchConstraints": {"resourceRules": list(rules) or [PODS], **constraints}}
    return {"kind": f"{kind}AdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}


def binding(*actions: str, kind: str = "Validating", **more: object) -> Json:
    spec = {"policyName": "p", "validationActions": list(actions or ("Deny",)), **more}
    return {"kind": f"{kind}AdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": spec}


def namespace(**labels: str) -> Json:
    return {"kind": "Namespace", "metadata": {"name": "default", "labels": labels}}


def deployment(replicas: int = 1, **requests: str) -> Json:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container(requests=requests)]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": spec}


def verdict(*objects: Json, options: SimulationOptions = PLAIN) -> str:
    return simulate(inventory(NODE, *objects), options).verdict


def test_a_policy_that_may_refuse_a_pod():
    found = simulate(inventory(NODE, policy(), binding(), deployment(2)))
    assert found.verdict == "unknown"
    assert [each.because for each in found.unjudged] == [
        "ValidatingAdmissionPolicy p (topospread kept only some fields of the pod) cannot be evaluated: "
        "it may refuse the pod"
    ]
    assert [str(each) for each in found.bounds.values()] == ["0–2"]


def test_filters_refuse_what_a_policy_may_only_refuse_too():
    assert verdict(policy(), binding(), deployment(cpu="9")) == "no"


def test_a_policy_that_may_change_a_pod_may_also_make_it_fit():
    changing = policy(kind="Mutating"), binding(kind="Mutating")
    assert verdict(*changing, deployment(cpu="9")) == "unknown"
    assert verdict(*changing, deployment()) == "unknown"


@pytest.mark.parametrize(
    "objects",
    [
        (policy(),),
        (binding(),),
        (policy(), binding("Warn", "Audit")),
        (policy(PODS | {"operations": ["UPDATE"]}), binding()),
        (policy(PODS | {"resources": ["pods/eviction"]}), binding()),
        (policy(PODS | {"apiGroups": ["batch"], "resources": ["*"]}), binding()),
        (policy(PODS | {"scope": "Cluster"}), binding()),
        (policy(excludeResourceRules=[PODS]), binding()),
        (policy(namespaceSelector={"matchLabels": {"judged": "yes"}}), binding()),
        (policy(objectSelector={"matchLabels": {"app": "other"}}), binding()),
        (policy(), binding(matchResources={"namespaceSelector": {"matchLabels": {"judged": "yes"}}})),
    ],
)
def test_policies_that_do_not_concern_it(objects: tuple[Json, ...]) -> None:
    assert verdict(*objects, deployment()) == "yes"


@pytest.mark.parametrize(
    "objects",
    [
        (
            policy(PODS | {"resources": ["*/*"], "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"]}),
            binding(),
        ),
        (policy(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "default"}}), binding()),
        (policy(objectSelector={"matchLabels": {"a b": "no key"}}), binding()),
        (policy(excludeResourceRules=[PODS | {"resourceNames": ["one"]}]), binding()),
        (policy(), binding(matchResources={"objectSelector": {"matchLabels": {"app": "web"}}})),
    ],
)
def test_policies_that_do(objects: tuple[Json, ...]) -> None:
    assert verdict(*objects, deployment()) == "unknown"


@pytest.mark.parametrize(
    ("level", "expected"), [("restricted", "no"), ("baseline", "yes"), ("privileged", "yes"), ("strict", "unknown")]
)
def test_levels_of_pod_security(level: str, expected: str) -> None:
    labelled = namespace(**{"pod-security.kubernetes.io/enforce": level})
    assert verdict(labelled, deployment()) == expected
    assert verdict(labelled, deployment(), options=SimulationOptions(kube_version="1.22")) == "yes"
    older = "yes" if level == "privileged" else "unknown"
    assert verdict(labelled, deployment(), options=SimulationOptions(kube_version="1.35")) == older
    assert verdict(namespace(**{"pod-security.kubernetes.io/warn": level}), deployment()) == "yes"


def test_a_level_refuses_in_the_api_servers_words():
    level = {"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/enforce-version": "v1.30"}
    privileged = deployment()
    privileged["spec"]["template"]["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    found = simulate(inventory(NODE, namespace(**level), privileged))
    assert found.verdict == "no"
    assert [each.message.partition("…")[2] for each in found.pending] == [
        '" is forbidden: violates PodSecurity "baseline:v1.30": '
        'privileged (container "c" must not set securityContext.privileged=true)'
    ]


def test_a_level_says_nothing_of_a_pod_that_a_policy_may_change():
    level = namespace(**{"pod-security.kubernetes.io/enforce": "restricted"})
    assert verdict(level, policy(kind="Mutating"), binding(kind="Mutating"), deployment()) == "unknown"


def test_deprecated_annotations_count():
    level = namespace(**{"pod-security.kubernetes.io/enforce": "baseline"})
    unconfined = deployment()
    annotations = {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}
    unconfined["spec"]["template"]["metadata"]["annotations"] = annotations
    assert verdict(level, deployment()) == "yes"
    note_profiles(unconfined, "Deployment")
    assert verdict(level, unconfined) == "no"


def test_more_pods_like_those_that_an_api_server_stored_are_judged():
    there = pod("web-1", nodeName="n", schedulerName="default-scheduler")
    there["metadata"] |= {
        "uid": "1",
        "namespace": "default",
        "labels": {"app": "web", "pod-template-hash": "1"},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": True}
        ],
    }
    labels = {"app": "web", "pod-template-hash": "1"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    replica_set = {
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "default", "uid": "r"},
        "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template},
    }
    assert verdict(policy(), binding(), there, replica_set) == "yes"
    assert verdict(policy(), binding(), replica_set) == "unknown"


def test_a_pod_is_written_once_for_all_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def counted(self: Requests, pod: Pod, *, of_pod: Callable[[Requests, Pod], Request] = Requests.of_pod) -> Request:
        nonlocal calls
        calls += 1
        return of_pod(self, pod)

    monkeypatch.setattr(Requests, "of_pod", counted)
    found = []
    for count in (1, 20):
        calls = 0
        many = [binding() | {"metadata": {"name": f"b{number}"}} for number in range(count)]
        assert verdict(policy(), *many, deployment(2)) == "unknown"
        found.append(calls)
    assert found[0] == found[1] > 0


@pytest.mark.parametrize(("version", "expected"), [("1.35", "unknown"), ("1.36", "no"), ("1.37", "no")])
def test_levels_are_judged_since_1_36(version: str, expected: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    privileged = deployment()
    privileged["spec"]["template"]["spec"]["hostNetwork"] = True
    options = SimulationOptions(kube_version=version)
    assert verdict(namespace(**labels), privileged, options=options) == expected
