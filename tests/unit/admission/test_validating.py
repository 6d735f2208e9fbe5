"""ValidatingAdmissionPolicies: what a real API server said of random pods, and what is left open."""

from __future__ import annotations

import gzip
import io
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.live.admission_policies import difference, ours
from topospread.admission.validating import Parameters
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.sources.anonymous import anonymous
from topospread.sources.load import load
from topospread.sources.snapshot_file import save

Json = dict[str, Any]
RECORDED = Path(__file__).parent / "validating_policies.json.gz"
PODS: Json = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
NODE: Json = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "99"}},
}


def test_recorded_answers() -> None:
    """Written by ``python -m tests.live.admission_policies --record``."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    objects, policies, pods, said = (recorded[key] for key in ("objects", "policies", "pods", "said"))
    found = ours(objects, policies, pods)
    differences = [
        f"{each['metadata']['name']}: {differs}, ours {one}"
        for each, theirs, one in zip(pods, said, found, strict=True)
        if (differs := difference(theirs, *one))
    ]
    assert differences == []
    assert sum(map(bool, said)) > len(said) / 4
    assert sum(bool(opened) for _, opened in found) < len(found) / 50


def policy(*validations: Json | str, **spec: Any) -> list[Json]:
    """A policy for new pods, and its binding; ``actions`` and ``param_ref`` are the binding's."""
    binding = {"policyName": "p", "validationActions": spec.pop("actions", ["Deny"])}
    if "param_ref" in spec:
        binding["paramRef"] = spec.pop("param_ref")
    written = [{"expression": each} if isinstance(each, str) else each for each in validations]
    version = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "p"}}
    spec = {"matchConstraints": {"resourceRules": [PODS]}, "validations": written, **spec}
    return [
        {**version, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": binding},
    ]


def deployment(image: str = "nginx", **spec: Any) -> Json:
    labels = {"app": "web"}
    spec = {"containers": [{"name": "c", "image": image}], **spec}
    template = {"metadata": {"labels": labels, "annotations": {"a": "b"}}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


def found_by(*objects: Json, options: SimulationOptions = PLAIN) -> tuple[str, str]:
    """The verdict, and the first reason."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}).encode()
    result = simulate(load(["-"], stdin=io.BytesIO(text)), options)
    if result.verdict == "unknown":
        return "unknown", result.unjudged[0].because
    return result.verdict, result.pending[0].message if result.pending else ""


def test_a_denied_pod_is_failed_create() -> None:
    no_latest = {
        "expression": "object.spec.containers.all(c, c.imagePullPolicy != 'Always')",
        "messageExpression": "'pulled always: ' + object.spec.containers.map(c, c.name).join(', ')",
    }
    verdict, message = found_by(*policy(no_latest), deployment())
    assert verdict == "no"
    assert message.startswith('FailedCreate: Error creating: pods "web-')
    denied = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: pulled always: c"
    assert message.endswith(f'…" is forbidden: {denied}')
    assert found_by(*policy(no_latest), deployment("nginx:1")) == ("yes", "")


@pytest.mark.parametrize(
    ("objects", "verdict"),
    [
        (policy("object.metadata.labels.app == 'web' && object.metadata.annotations.a == 'b'"), "yes"),
        (policy("object.spec.nosuch"), "no"),
        (policy("object.spec.nosuch", failurePolicy="Ignore"), "yes"),
        (policy("false", actions=["Warn", "Audit"]), "yes"),
        (policy("false", matchConditions=[{"name": "c", "expression": "false"}]), "yes"),
        (policy("true", matchConditions=[{"name": "c", "expression": "object.nosuch"}]), "no"),
        (policy("has(object.spec.tolerations) && object.spec.priority == 0"), "yes"),
        (policy("object.metadata.ownerReferences[0].kind == 'ReplicaSet'"), "yes"),
        (policy("object.spec.serviceAccountName == 'default'"), "yes"),
        (policy("namespaceObject.metadata.name == 'default'"), "yes"),
        (policy("true", auditAnnotations=[{"key": "k", "valueExpression": "object.nosuch"}], actions=["Warn"]), "no"),
        (policy("variables.n == 1", variables=[{"name": "n", "expression": "size(object.spec.containers)"}]), "yes"),
    ],
)
def test_verdicts(objects: list[Json], verdict: str) -> None:
    assert found_by(*objects, deployment())[0] == verdict


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        (policy("request.userInfo.username == 'me'"), "not known: the user that creates it"),
        (policy("object.metadata.name == 'web'"), "not known: the generated name"),
        (policy("authorizer.group('').resource('pods').check('get').allowed()"), "not known: the user's permissions"),
        (policy("format.dns1123Label().validate('a').hasValue()"), "format.dns1123Label() cannot be evaluated"),
        (policy("has(object.spec.volumes)"), "unknown whether the service account's token"),
        (policy("has(object.spec.imagePullSecrets)"), "not known: the service account's imagePullSecrets"),
        (policy("namespaceObject.metadata.labels.team == 'a'"), "not known: the namespace's labels"),
        (
            policy("false", matchConditions=[{"name": "c", "expression": "request.userInfo.username == 'a'"}]),
            "the user",
        ),
        (policy(f"[{', '.join('1' * 400)}].all(a, [{', '.join('1' * 400)}].all(b, a == b))"), "take too long"),
        (
            policy(
                "params.data.a == 'b'",
                paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
                param_ref={"name": "x", "parameterNotFoundAction": "Deny"},
            ),
            "its parameters ConfigMap default/x are not in the input",
        ),
    ],
)
def test_what_is_open(objects: list[Json], reason: str) -> None:
    verdict, because = found_by(*objects, deployment())
    assert verdict == "unknown"
    assert because.startswith("ValidatingAdmissionPolicy p (")
    assert reason in because


def test_what_is_open_does_not_matter_where_it_decides_nothing() -> None:
    users = {"name": "c", "expression": "!request.userInfo.username.startsWith('system:')"}
    assert found_by(*policy("has(object.spec.containers)", matchConditions=[users]), deployment()) == ("yes", "")
    mounted = policy("object.spec.volumes.all(v, !has(v.hostPath))", failurePolicy="Ignore")
    assert found_by(*mounted, deployment()) == ("yes", "")
    unmounted = deployment(automountServiceAccountToken=False)
    assert found_by(*policy("!has(object.spec.volumes)"), unmounted) == ("yes", "")
    host = {"name": "h", "hostPath": {"path": "/"}}
    verdict, message = found_by(*policy("object.spec.volumes.all(v, !has(v.hostPath))"), deployment(volumes=[host]))
    assert (verdict, "failed expression" in message) == ("no", True)


def test_parameters_are_found_in_the_input() -> None:
    kind, reference = {"apiVersion": "example.com/v1", "kind": "Limit"}, {"name": "x"}
    limit = {**kind, "metadata": {"name": "x"}, "spec": {"most": 1}}
    limits = policy("size(object.spec.containers) < params.spec.most", paramKind=kind, param_ref=reference)
    assert found_by(*limits, limit, deployment())[0] == "no"


def test_a_kind_of_parameters_that_may_not_be_served() -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Limit"}
    assert found_by(*policy("params == null", paramKind=kind), deployment())[0] == "unknown"
    assert (
        found_by(*policy("params == null", paramKind={"apiVersion": "v1", "kind": "ConfigMap"}), deployment())[0]
        == "yes"
    )


def test_versions_without_policies() -> None:
    assert found_by(*policy("false"), deployment(), options=SimulationOptions(kube_version="1.29"))[0] == "unknown"


def workloads(*resources: str) -> Json:
    rule = {**PODS, "apiGroups": ["apps"], "resources": list(resources)}
    return {"matchConstraints": {"resourceRules": [rule]}}


def test_a_workload_that_is_not_created_has_no_pods() -> None:
    many = policy("object.spec.replicas < 2", **workloads("deployments"))
    verdict, message = found_by(*many, deployment())
    denied = (
        "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: object.spec.replicas < 2"
    )
    assert (verdict, message) == ("no", f'deployments.apps "web" is forbidden: {denied}')
    images = policy("object.spec.template.spec.containers[0].image == 'nginx'", **workloads("*"))
    assert found_by(*images, deployment())[0] == "yes"
    user = policy("request.userInfo.username == 'me'", **workloads("deployments"))
    verdict, because = found_by(*user, deployment())
    assert (verdict, "(Deployment: not known: the user that creates it)" in because) == ("unknown", True)
    stored = deployment()
    stored["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert found_by(*many, stored)[0] == "yes"


def test_snapshots_keep_the_fields_that_policies_read(tmp_path: Path) -> None:
    items = [NODE, *policy("has(object.spec.containers[0].command)"), deployment()]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    (tmp_path / "app.json").write_text(text)
    read = load([str(tmp_path / "app.json")])
    for name, inventory, verdict in (("whole", read, "no"), ("hashed", anonymous(read), "unknown")):
        path = str(tmp_path / f"{name}.json")
        save(inventory, path, hashed=name == "hashed")
        assert simulate(load([path])).verdict == verdict
        assert ("nginx" in Path(path).read_text()) == (name == "whole")


def test_many_hostile_policies_end() -> None:
    many = []
    for index in range(200):
        policies = policy(f"[{', '.join('1' * 250)}].all(a, [{', '.join('1' * 250)}].all(b, a == b))")
        for each in policies:
            each["metadata"] = {"name": f"p{index}"}
        policies[1]["spec"]["policyName"] = f"p{index}"
        many += policies
    begun = time.process_time()
    assert found_by(*many, deployment())[0] == "unknown"
    assert time.process_time() - begun < 10


def test_an_open_condition_leaves_annotations_open_whatever_the_actions_are() -> None:
    open_condition = {"name": "c", "expression": "request.userInfo.username == 'a'"}
    failing = {"key": "k", "valueExpression": "object.spec.missing"}
    audited = policy("true", actions=["Audit"], matchConditions=[open_condition], auditAnnotations=[failing])
    assert found_by(*audited, deployment())[0] == "unknown"


def test_a_parameter_whose_name_is_no_text_is_none() -> None:
    given = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ["a"]}}
    assert Parameters([given]) is not None
