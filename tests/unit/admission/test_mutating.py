"""MutatingAdmissionPolicies: what a real API server made of random objects, and what is left open."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.mutating_policies import difference, ours
from tests.unit.admission.test_validating import NODE, PODS, deployment, found_by
from topospread.controllers.planner import plan
from topospread.simulation.options import SimulationOptions
from topospread.sources.load import load

Json = dict[str, Any]
RECORDED = Path(__file__).parent / "mutating_policies.json.gz"
WORKLOADS: Json = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}


def test_recorded_answers() -> None:
    """Written by ``python -m tests.live.mutating_policies --record``."""
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    objects, policies, pods, said = (recorded[key] for key in ("objects", "policies", "pods", "said"))
    found = list(ours(objects, policies, pods))
    differences = [
        f"{each['metadata']['name']}: {differs}"
        for each, theirs, one in zip(pods, said, found, strict=True)
        if (differs := difference(theirs, *one))
    ]
    assert differences == []
    assert sum(isinstance(each, str) for each in said) > len(said) / 5
    assert sum(bool(opened) for _, opened in found) < len(found) / 8


def policy(*expressions: str, name: str = "p", rule: Json = PODS, **spec: Any) -> list[Json]:
    """A policy and its binding; expressions that begin with ``[`` are JSON patches."""
    mutations = [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": each}}
        if each.startswith("[")
        else {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": each}}
        for each in expressions
    ]
    version = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    given: Json = {"reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": [rule]}, "mutations": mutations}
    return [
        {**version, "kind": "MutatingAdmissionPolicy", "spec": given | spec},
        {**version, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}},
    ]


ELSEWHERE = '[JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"zone": "z9"}}]'
IN_TEMPLATE = (
    "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{hostNetwork: true}}}}"
)


@pytest.mark.parametrize(
    ("objects", "verdict", "words"),
    [
        (policy(ELSEWHERE), "no", "node(s) didn't match Pod's node affinity/selector"),
        (policy("Object{}"), "yes", ""),
        (policy(ELSEWHERE, matchConditions=[{"name": "c", "expression": "false"}]), "yes", ""),
        (policy(ELSEWHERE, matchConstraints={"resourceRules": [PODS], "objectSelector": {"matchLabels": {"a": "b"}}}),
         "yes", ""),
        (policy(ELSEWHERE.replace("/spec/", "/spec/template/spec/"), rule={**WORKLOADS, "resources": ["deployments"]}),
         "no", "node(s) didn't match Pod's node affinity/selector"),
        (policy(IN_TEMPLATE.replace("true", "object.nosuch"), rule={**WORKLOADS, "resources": ["deployments"]}),
         "no", "policy 'p' with binding 'p' denied request: expression '"),
        (policy("Object{spec: Object.spec{nosuch: 1}}"), "no", ".spec.nosuch: field not declared in schema"),
        (policy("Object{spec: Object.spec{nosuch: 1}}", failurePolicy="Ignore"), "yes", ""),
        (policy('Object{spec: Object.spec{nodeSelector: {"a": "b"}}}'), "no",
         "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeSelector"),
        (policy('[JSONPatch{op: "add", path: "/spec/nosuch", value: 1}]', failurePolicy="Ignore"), "no",
         'Internal error occurred: strict decoding error: unknown field "spec.nosuch"'),
        (policy('Object{spec: Object.spec{restartPolicy: "Sometimes"}}'), "no",
         'is invalid: spec.restartPolicy: Unsupported value: "Sometimes"'),
    ],
)  # fmt: skip
def test_verdicts(objects: list[Json], verdict: str, words: str) -> None:
    found, message = found_by(*objects, deployment())
    assert (found, words in message) == (verdict, True), message


LAST = '[JSONPatch{op: "add", path: "/metadata/labels/last", value: "%s"}]'


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        (policy(ELSEWHERE, matchConditions=[{"name": "c", "expression": "request.userInfo.username == 'a'"}]), "user"),
        ([*policy(LAST % "a"), *policy(LAST % "b", name="q")], "depends on their order, which is unknown"),
        (policy("Object{metadata: Object.metadata{labels: {'a': object.metadata.name}}}", rule=WORKLOADS), "name"),
        (policy('[JSONPatch{op: "add", path: "/metadata/name", value: "a"}]'), "its patch changes metadata, which"),
        (policy(IN_TEMPLATE, rule={**WORKLOADS, "resources": ["replicasets"]}), "it changes the ReplicaSet"),
    ],
)
def test_what_is_not_known_leaves_the_pods_open(objects: list[Json], reason: str) -> None:
    verdict, because = found_by(*objects, deployment())
    assert (verdict, reason in because) == ("unknown", True), because


KEYED: Json = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": {"app": "web"}},
    "matchLabelKeys": ["pod-template-hash"],
}


@pytest.mark.parametrize("reinvocation", ["Never", "IfNeeded"])
def test_label_keys_are_merged_once_after_the_policies(reinvocation: str) -> None:
    hostname = '[JSONPatch{op: "add", path: "/spec/hostname", value: "h"}]'
    merged = "has(object.spec.topologySpreadConstraints[0].labelSelector.matchExpressions)"
    sees_keys = f"Object{{spec: Object.spec{{subdomain: {merged} ? object.nosuch : 's'}}}}"
    policies = policy(hostname, sees_keys, reinvocationPolicy=reinvocation)
    assert found_by(*policies, deployment(topologySpreadConstraints=[KEYED])) == ("yes", "")


def test_before_the_version_that_has_them_on_they_are_open() -> None:
    found = found_by(*policy("Object{}"), deployment(), options=SimulationOptions(kube_version="1.35"))
    assert found[0] == "unknown"
    assert "before Kubernetes 1.36" in found[1]


def test_a_policy_that_is_called_again_sees_what_others_changed() -> None:
    """It adds the second label only when the other policy's label is there."""
    copies = '[JSONPatch{op: "copy", from: "/metadata/labels/last", path: "/metadata/labels/copied"}]'
    again = policy(
        copies, name="a", reinvocationPolicy="IfNeeded", failurePolicy="Ignore",
        matchConditions=[{"name": "c", "expression": "true"}],
    )  # fmt: skip
    items = [NODE, *again, *policy(LAST % "x", name="b"), deployment()]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
    template = plan(load(["-"], stdin=io.BytesIO(text))).workloads[0].template
    assert template is not None
    assert template.spec.unjudged_admission is None
    assert (template.labels["last"], template.labels["copied"]) == ("x", "x")


DOUBLED = [{"name": "v0", "expression": "['a']"}] + [
    {"name": f"v{level}", "expression": f"[variables.v{level - 1}, variables.v{level - 1}]"} for level in range(1, 60)
]


@pytest.mark.parametrize(
    "expression",
    [
        '[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": variables.v59}}]',
        '[JSONPatch{op: "test", path: "/spec", value: variables.v59}]',
        "Object{spec: Object.spec{containers: variables.v59}}",
    ],
)
def test_a_value_of_more_parts_than_there_is_time_for_is_not_evaluated(expression: str) -> None:
    """Each variable holds the one before it twice: written out, the last one would fill any memory."""
    verdict, reason = found_by(*policy(expression, variables=DOUBLED), deployment())
    assert (verdict, "its expressions take too long" in reason) == ("unknown", True), reason


def test_each_mutation_takes_the_steps_of_its_copy_of_the_object() -> None:
    many = policy(*['[JSONPatch{op: "add", path: "/spec/nodeName", value: ""}]'] * 3_000)
    verdict, reason = found_by(*many, deployment())
    assert (verdict, "its expressions take too long" in reason) == ("unknown", True), reason


def test_a_change_of_a_replica_set_that_is_not_known_leaves_the_pods_open() -> None:
    labelled = "Object{metadata: Object.metadata{labels: {'by': request.userInfo.username}}}"
    rule = {**WORKLOADS, "resources": ["replicasets"]}
    selecting = [{"resourceRules": [rule], "objectSelector": {"matchLabels": {"app": app}}} for app in ("web", "db")]
    verdict, because = found_by(*policy(labelled, matchConstraints=selecting[0]), deployment())
    assert (verdict, "the user that creates it" in because) == ("unknown", True), because
    assert found_by(*policy(labelled, matchConstraints=selecting[1]), deployment())[0] == "yes"
    assert found_by(*policy("Object{}", matchConstraints=selecting[0]), deployment())[0] == "yes"
