"""New pods that are refused: a drill, a rebalancing and a promise never take them as admitted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.controllers.manifests import Json, container
from topospread import Session
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.drill.steps import Apply, Drain, Fail, NodeChoice, Rollout
from topospread.errors import UnknownVerdictError

RESTRICTED: Json = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "default", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
}
BOUNDED: Json = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "most", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "min": {"cpu": "2"}}]},
}
SMALL: Json = {**BOUNDED, "spec": {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]}}
"""Its largest amount is the default limit, too, and the pods request more."""
TWO_PODS: Json = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "default"},
    "spec": {"hard": {"pods": "2"}},
}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def nodes() -> list[Json]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{at}", "labels": {ZONE: f"z{at % 2}", HOSTNAME: f"n{at}"}},
            "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "9"}},
        }
        for at in range(4)
    ]


def web(replicas: int = 4) -> Json:
    labels = {"app": "web"}
    spec = {"containers": [container(requests={"cpu": "1"})], "topologySpreadConstraints": [SPREAD]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def session(*, running: bool) -> Session:
    """Return a session on the objects; ``running``: the pods have nodes before the rules come."""
    begun = Session([*nodes(), web()])
    return begun.after() if running else begun


def rules(folder: Path, *objects: Json) -> str:
    (folder / "rules.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(folder / "rules.json")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (BOUNDED, 'pods "web-5cbd8fdd8f-…" is forbidden: minimum cpu usage per Container is 2, but request is 1'),
        (SMALL, "is invalid: spec.containers[0].resources.requests: Invalid value: "),
    ],
)
def test_pods_outside_the_bounds_are_not_created(rule: Json, words: str) -> None:
    begun = Session([*nodes(), rule, web()])
    for found in (begun.simulate(), begun.why("deploy/web"), begun.status()):
        assert (found.verdict, [each.code for each in found.causes]) == ("no", ["refused"])
        assert "FailedCreate: Error creating: " in found.causes[0].says
        assert words.rsplit('"', maxsplit=1)[-1] in found.causes[0].says
        assert "kube-scheduler" not in found.text(wide=True)
    assert begun.why("deploy/web").text(wide=True, width=400).count("FailedCreate") == 1


def test_a_policy_that_may_change_the_pods_leaves_their_bounds_open() -> None:
    group, rule = "admissionregistration.k8s.io/v1", {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    meant = {"matchConstraints": {"resourceRules": [{**rule, "operations": ["CREATE"]}]}}
    meant["matchConditions"] = [{"name": "c", "expression": "request.userInfo.username == 'a'"}]
    policy: Json = {"apiVersion": group, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": meant}
    bound: Json = {**policy, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "p"}}
    little: Json = {**TWO_PODS, "spec": {"hard": {"requests.cpu": "2"}}}
    for refusing in (BOUNDED, SMALL, RESTRICTED, little):
        assert Session([*nodes(), refusing, policy, bound, web()]).simulate().verdict == "unknown", refusing
    assert Session([*nodes(), TWO_PODS, policy, bound, web()]).simulate().verdict == "no"


@pytest.mark.parametrize("rule", [RESTRICTED, BOUNDED], ids=["level", "bounds"])
@pytest.mark.parametrize("running", [False, True])
def test_pods_that_a_drill_creates_are_refused(rule: Json, running: bool, tmp_path: Path) -> None:
    """A Pod Security level is not certain for pods that an API server has admitted: it may be younger than they are."""
    before = session(running=running)
    for step in (Drain(NodeChoice("node", "n0")), Fail(NodeChoice("node", "n0")), Rollout("deploy/web")):
        if isinstance(step, Drain):
            assert before.drill(step).verdict == "yes"
        path = rules(tmp_path, rule)
        found = before.drill(Apply(path), step) if running else before.drill(step, manifests=[path])
        if running and rule is RESTRICTED:
            assert found.verdict == "unknown", step
            assert "namespace default cannot be evaluated" in found.unjudged[0].because
            continue
        assert found.verdict == ("no" if running or isinstance(step, Rollout) else "yes"), step
        assert "FailedCreate: Error creating: " in found.text(wide=True)


def test_pods_beyond_a_quota_are_pending_before_a_drill(tmp_path: Path) -> None:
    found = session(running=False).drill(Drain(NodeChoice("node", "n0")), manifests=[rules(tmp_path, TWO_PODS)])
    assert found.verdict == "yes"
    (pending,) = found.steps[0].pending
    assert "exceeded quota" in pending.causes[0].says


def test_a_pod_whose_successor_is_refused_is_not_evicted() -> None:
    labels = {"app": "web", "pod-template-hash": "1"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    replica_set = {**web(3), "kind": "ReplicaSet"}
    pods: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"web-{at}", "namespace": "default", "labels": labels, "ownerReferences": [owner]},
            "spec": {"nodeName": node, "containers": [container(requests={"cpu": "1"})]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        for at, node in enumerate(("n0", "n0", "n2"))
    ]
    assert len(Session([*nodes(), replica_set, *pods]).rebalance().evictions) == 1
    found = Session([*nodes(), RESTRICTED, replica_set, *pods]).rebalance()
    assert (found.verdict, found.evictions) == ("no", ())
    assert "is forbidden: violates PodSecurity" in found.causes[0].says


def test_a_promise_of_pods_that_are_refused_is_not_kept() -> None:
    kept = "zone-loss>=1"
    assert session(running=False).promises.check(want=kept).verdict == "yes"
    for rule in (RESTRICTED, BOUNDED):
        refused = Session([*nodes(), rule, web()]).promises
        assert (refused.check(want=kept).verdict, refused.show().verdict) == ("no", "no")
        for want in (kept, "never-waits", "drain>=1", "rollout>=1"):
            assert "FailedCreate: Error creating: " in refused.check(want=want).causes[0].says


def test_a_promise_of_pods_that_a_quota_may_refuse_is_unknown() -> None:
    refused = Session([*nodes(), TWO_PODS, web()]).promises
    assert (refused.check(want="zone-loss>=2").verdict, refused.show().verdict) == ("unknown", "unknown")
    with pytest.raises(UnknownVerdictError):
        Session([*nodes(), TWO_PODS, web()], unknown="raise").promises.show()


def test_policies_do_not_make_a_stored_replica_set_another_revision() -> None:
    """Policies read the whole text of a template, in which the hash and the API server's defaults differ."""
    deployment = web(2)
    deployment["metadata"]["uid"] = "d"
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    labels = {"app": "web", "pod-template-hash": "1"}
    template = {
        "metadata": {"labels": labels},
        "spec": {**deployment["spec"]["template"]["spec"], "dnsPolicy": "Default"},
    }
    replica_set: Json = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "default", "labels": labels, "ownerReferences": [owner], "uid": "r"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    group = "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}]}
    policy: Json = {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec}
    bound: Json = {**policy, "kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": "p"}}
    bound["spec"]["validationActions"] = ["Deny"]
    for rules_in_force in ([], [policy, bound]):
        found = Session([*nodes(), deployment, replica_set, *rules_in_force]).simulate()
        assert not [note for note in found.notes if "made up" in note]
