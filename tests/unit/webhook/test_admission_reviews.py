"""What is answered to an API server."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pytest

from tests.unit.webhook.admission_requests import ZONE, Json, constraint, deployment, request
from topospread.config.gates import gates_for
from topospread.webhook.admission_reviews import AdmissionJudge, review
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


def test_what_is_right_is_allowed_without_a_word() -> None:
    assert TELLING.validate(request(deployment(constraint()))) == {"uid": "1", "allowed": True}


def test_a_rule_that_denies_denies() -> None:
    response = DENYING.validate(request(deployment(WRONG)))
    assert response["allowed"] is False
    assert response["status"]["code"] == 403
    assert "the pod does not count itself" in response["status"]["message"]


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


def of_a_controller() -> Json:
    made = deployment(WRONG)
    made["metadata"]["ownerReferences"] = [{"kind": "Shop", "name": "a", "controller": True}]
    return request(made)


def going() -> Json:
    made = deployment(WRONG)
    made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return request(made, deployment(constraint()))


@pytest.mark.parametrize("asked", [excluded, of_a_controller, going])
def test_what_is_none_of_our_business_is_left_alone(asked: Any) -> None:
    both = AdmissionJudge(AdmissionPolicy(deny=frozenset({"selector-not-own"}), defaults=(WorkloadDefaults((SOFT,)),)))
    assert both.validate(asked()) == {"uid": "1", "allowed": True}
    assert both.mutate(asked()) == {"uid": "1", "allowed": True}


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


def test_what_cannot_be_judged_is_let_in(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: Json) -> Json:
        raise RuntimeError("a fault")

    asked = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "7"}})
    response = review(asked.encode(), fails)["response"]
    assert (response["uid"], response["allowed"]) == ("7", True)
    assert "let it in" in response["warnings"][0]
    assert "could not be answered" in caplog.text


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"apiVersion": "admission.k8s.io/v1", "request": {}}'])
def test_what_is_no_review_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"no (JSON|AdmissionReview)"):
        review(data, TELLING.validate)


@pytest.mark.parametrize("made", [{}, {"kind": "Deployment"}, {"metadata": {}, "spec": {"template": 3, "selector": 3}}])
def test_objects_that_are_none_are_let_in(made: Json) -> None:
    asked = {"uid": "1", "kind": {"kind": "Deployment"}, "operation": "CREATE", "namespace": "a", "object": made}
    data = json.dumps({"apiVersion": "admission.k8s.io/v1", "request": asked}).encode()
    for answer in (DENYING.validate, ADDING.mutate):
        assert review(data, answer)["response"]["allowed"] is True


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
