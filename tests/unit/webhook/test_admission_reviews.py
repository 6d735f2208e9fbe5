"""What is answered to an API server."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pytest

from tests.unit.webhook.admission_requests import ZONE, Json, constraint, deployment, request
from topospread.config.gates import gates_for
from topospread.webhook.admission_reviews import AdmissionJudge, read_head, unjudged
from topospread.webhook.policy import AdmissionPolicy, WorkloadDefaults

WRONG = constraint("wbe")
SOFT = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
DENYING = AdmissionJudge(AdmissionPolicy(deny=frozenset({"selector-not-own"})))
TELLING = AdmissionJudge(AdmissionPolicy())
ADDING = AdmissionJudge(AdmissionPolicy(defaults=(WorkloadDefaults((SOFT,)),)))


def test_a_finding_is_told_as_a_warning() -> None:
    response = TELLING.validate(request(deployment(WRONG)))
    assert response["allowed"] is True
    (told,) = response["warnings"]
    assert told.startswith("selector-not-own: spec.template.spec.topologySpreadConstraints[0].labelSelector")


def test_an_answer_gives_no_command_to_the_pipeline_that_applies() -> None:
    """kubectl prints warnings and denials as they are."""
    made = deployment(constraint())
    made["spec"]["template"]["metadata"]["annotations"] = {"topospread.dev/shares": "##vso[task.setvariable a=b]x\x1b"}
    rule = "extender-annotation-malformed"
    denied = AdmissionJudge(AdmissionPolicy(deny=frozenset({rule}))).validate(request(made))
    for words in (*TELLING.validate(request(made))["warnings"], denied["status"]["message"]):
        assert "'#\\u0023vso[task.setvariable a=b]x\\" in words
        assert words.isprintable()


def test_what_is_right_is_allowed_without_a_word() -> None:
    assert TELLING.validate(request(deployment(constraint()))) == {"uid": "1", "allowed": True}


def test_a_rule_that_denies_denies() -> None:
    response = DENYING.validate(request(deployment(WRONG)))
    assert response["allowed"] is False
    assert response["status"]["code"] == 403
    assert "the constraint does not count the pod itself" in response["status"]["message"]


def test_what_was_so_before_is_only_told() -> None:
    old = deployment(WRONG)
    response = DENYING.validate(request(deployment(WRONG, replicas=5), old))
    assert response["allowed"] is True
    assert len(response["warnings"]) == 1


def test_an_update_that_makes_it_worse_is_denied() -> None:
    assert DENYING.validate(request(deployment(WRONG), deployment(constraint())))["allowed"] is False


def test_rules_that_are_ignored_and_findings_below_the_level_are_not_told() -> None:
    ignoring = AdmissionJudge(AdmissionPolicy(ignore=frozenset({"selector-not-own"})))
    assert "warnings" not in ignoring.validate(request(deployment(WRONG)))
    without_key = {key: value for key, value in constraint().items() if key != "matchLabelKeys"}
    assert "warnings" not in TELLING.validate(request(deployment(without_key)))
    hints = AdmissionJudge(AdmissionPolicy(level="hint"))
    assert "rollout-counts-old-pods" in hints.validate(request(deployment(without_key)))["warnings"][0]


def excluded() -> Json:
    return request(deployment(WRONG, namespace="kube-system"))


def of_a_controller(user: str = "system:serviceaccount:kube-system:deployment-controller") -> Json:
    """A ReplicaSet with a Deployment as its controller, sent by some user."""
    made = deployment(WRONG) | {"kind": "ReplicaSet"}
    made["metadata"]["ownerReferences"] = [{"kind": "Deployment", "name": "a", "controller": True}]
    return request(made, userInfo={"username": user})


def deleted() -> Json:
    old = deployment(constraint())
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return request(deployment(WRONG), old)


BOTH = AdmissionJudge(AdmissionPolicy(deny=frozenset({"selector-not-own"}), defaults=(WorkloadDefaults((SOFT,)),)))


@pytest.mark.parametrize("asked", [excluded, of_a_controller, deleted])
def test_exempt_objects_get_no_answer_but_allowed(asked: Any) -> None:
    assert BOTH.validate(asked()) == {"uid": "1", "allowed": True}
    assert BOTH.mutate(asked()) == {"uid": "1", "allowed": True}


def test_every_controller_of_a_controller_manager_without_own_accounts_is_exempt() -> None:
    assert BOTH.validate(of_a_controller("system:kube-controller-manager"))["allowed"] is True


def forged_owner_of_a_deployment() -> Json:
    made = deployment(WRONG)
    made["metadata"]["ownerReferences"] = [{"kind": "Shop", "name": "a", "controller": True}]
    return request(made, userInfo={"username": "system:serviceaccount:kube-system:deployment-controller"})


def forged_deletion() -> Json:
    made = deployment(WRONG)
    made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return request(made, deployment(constraint()))


def comment_in_a_key() -> Json:
    made = deployment(WRONG)
    made["metadata"]["annotations"] = {"a": " # topospread: ignore selector-not-own"}
    made[" # topospread: ignore selector-not-own"] = "b"
    return request(made)


@pytest.mark.parametrize(
    "asked",
    [
        of_a_controller("mallory"),
        of_a_controller("system:serviceaccount:kube-system:job-controller"),
        of_a_controller("system:serviceaccount:shop:deployment-controller"),
        forged_owner_of_a_deployment(),
        forged_deletion(),
        comment_in_a_key(),
    ],
    ids=["owner by a user", "another controller", "another namespace", "owner", "deletion", "comment"],
)
def test_forged_exemptions_are_denied(asked: Json) -> None:
    assert BOTH.validate(asked)["allowed"] is False


def with_ignore() -> Json:
    made = deployment(WRONG)
    made["metadata"]["annotations"] = {"topospread.dev/ignore": "selector-not-own: it is meant"}
    return made


def test_the_ignore_annotation_lifts_a_denial_only_where_the_policy_allows_it() -> None:
    rules = frozenset({"selector-not-own"})
    assert DENYING.validate(request(with_ignore()))["allowed"] is False
    lenient = AdmissionJudge(AdmissionPolicy(deny=rules, may_ignore=rules))
    assert lenient.validate(request(with_ignore())) == {"uid": "1", "allowed": True}
    assert TELLING.validate(request(with_ignore())) == {"uid": "1", "allowed": True}


def test_an_update_of_an_object_with_an_ignore_annotation_is_compared_without_it() -> None:
    assert DENYING.validate(request(with_ignore(), with_ignore()))["allowed"] is True
    assert DENYING.validate(request(with_ignore(), deployment(constraint())))["allowed"] is False


def added(response: Json) -> Any:
    assert response["patchType"] == "JSONPatch"
    (change,) = json.loads(base64.b64decode(response["patch"]))
    assert (change["op"], change["path"]) == ("add", "/spec/template/spec/topologySpreadConstraints")
    return change["value"]


def test_a_workload_without_constraints_gets_the_defaults_with_its_own_selector() -> None:
    own = {"labelSelector": {"matchLabels": {"app": "web"}}}
    of_revision = own | {"matchLabelKeys": ["pod-template-hash"]}
    assert added(ADDING.mutate(request(deployment()))) == [SOFT | of_revision]
    stateful = deployment() | {"kind": "StatefulSet"}
    assert added(ADDING.mutate(request(stateful))) == [SOFT | own]


def test_what_is_added_is_right_by_our_own_rules() -> None:
    made = deployment()
    made["spec"]["template"]["spec"]["topologySpreadConstraints"] = added(ADDING.mutate(request(made)))
    hints = AdmissionJudge(AdmissionPolicy(level="hint"))
    assert "warnings" not in hints.validate(request(made))
    assert "patch" not in ADDING.mutate(request(made))


@pytest.mark.parametrize(
    "asked",
    [
        request(deployment(constraint())),
        request(deployment(replicas=1)),
        request(deployment(replicas=None)),
        request(deployment(), deployment()),
        request(deployment() | {"kind": "DaemonSet"}),
    ],
    ids=["has constraints", "one replica", "one by default", "an update", "another kind"],
)
def test_others_get_none(asked: Json) -> None:
    assert "patch" not in ADDING.mutate(asked)


def test_defaults_may_be_for_some_namespaces_and_the_first_that_fits_is_taken() -> None:
    hard = SOFT | {"whenUnsatisfiable": "DoNotSchedule"}
    first = WorkloadDefaults((hard,), namespaces=frozenset({"shop"}))
    judge = AdmissionJudge(AdmissionPolicy(defaults=(first, WorkloadDefaults((SOFT,)))))
    assert added(judge.mutate(request(deployment())))[0]["whenUnsatisfiable"] == "DoNotSchedule"
    assert added(judge.mutate(request(deployment(namespace="a"))))[0]["whenUnsatisfiable"] == "ScheduleAnyway"


@pytest.mark.parametrize(("on_timeout", "allowed"), [("allow", True), ("deny", False)])
def test_an_object_that_nothing_judged_is_answered_by_the_policy(on_timeout: Any, allowed: bool) -> None:
    response = unjudged("7", "it was not judged in time", AdmissionPolicy(on_timeout=on_timeout))["response"]
    assert (response["uid"], response["allowed"]) == ("7", allowed)
    (said,) = response["warnings"] if allowed else [response["status"]["message"]]
    assert said == "topospread has not judged this object: it was not judged in time"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"apiVersion": "admission.k8s.io/v1", "request": {}}',
        b'{"apiVersion": "admission.k8s.io/v1", "request": {"uid": 3}}',
        b'{"apiVersion": "admission.k8s.io/v1beta1", "request": {"uid": "1"}}',
        b'{"apiVersion": "admission.k8s.io/v1", "request": {"uid": "1", "object": ' + b"[" * 100_000,
        b'{"apiVersion": "admission.k8s.io/v1", "request": {"uid": "1", "object": '
        + b"[" * 100_000
        + b"]" * 100_000
        + b"}}",
    ],
    ids=["empty", "list", "no request", "bytes", "no uid", "uid is a number", "v1beta1", "cut off", "deep"],
)
def test_what_is_no_review_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"not JSON|not an AdmissionReview|nested too deeply"):
        read_head(data)


@pytest.mark.parametrize("made", [{}, {"metadata": {}, "spec": {"template": 3, "selector": 3}}])
def test_objects_that_are_none_are_let_in(made: Json) -> None:
    asked = {"uid": "1", "kind": {"kind": "Deployment"}, "operation": "CREATE", "namespace": "a", "object": made}
    data = json.dumps({"apiVersion": "admission.k8s.io/v1", "request": asked}).encode()
    for judge, path in ((DENYING, "validate"), (ADDING, "mutate")):
        body, _ = judge.answer(path, data)
        assert json.loads(body)["response"]["allowed"] is True


def test_an_object_that_the_linter_cannot_read_is_not_let_in_as_judged() -> None:
    template = {"metadata": {"creationTimestamp": "10000-01-01T00:00:00Z"}, "spec": {"containers": []}}
    made = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    asked = {"uid": "1", "kind": {"kind": "Deployment"}, "operation": "CREATE", "namespace": "a", "object": made}
    with pytest.raises(ValueError, match="creationTimestamp"):
        DENYING.answer("validate", json.dumps({"apiVersion": "admission.k8s.io/v1", "request": asked}).encode())


def test_who_asks_first_waits_for_no_table() -> None:
    """After the warm-up nothing that judging needs is still to be imported or built."""
    judge = AdmissionJudge(AdmissionPolicy())
    judge.warm_up()
    known = set(sys.modules)
    gates = gates_for("1.37")
    assert judge.validate(request(deployment(constraint("other"))))["warnings"]
    assert judge.mutate(request(deployment()))["allowed"]
    assert set(sys.modules) == known
    assert gates_for("1.37") is gates


@pytest.mark.parametrize(("replicas", "allowed"), [(2, False), (1, True)])
def test_a_workload_that_nothing_spreads_is_denied_if_the_policy_denies_no_spread(
    replicas: int, *, allowed: bool
) -> None:
    judge = AdmissionJudge(AdmissionPolicy(deny=frozenset({"no-spread"}), spread_from=2))
    made = deployment(WRONG, replicas=replicas)
    del made["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert judge.validate(request(made))["allowed"] is allowed
