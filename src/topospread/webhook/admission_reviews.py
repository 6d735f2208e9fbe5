"""AdmissionReviews answered: what the linter says of an object, and the constraints it lacks; it serves nothing.

Source: k8s.io/api/admission/v1/types.go; an answer depends on the request alone and has no side effects, so that it
holds for dry runs. What goes wrong here never denies: the object is let in with a warning that says so.
"""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from topospread.linting.reading import Question
from topospread.linting.rule import SEVERITIES, Finding
from topospread.linting.run import run
from topospread.linting.settings import Settings
from topospread.sources.files import STANDARD_INPUT

from .policy import ASKED, AdmissionPolicy, Json, WorkloadDefaults

log = logging.getLogger(__name__)

_LONGEST: Final = 256
"""Characters of a warning that clients show (k8s.io/apiserver/pkg/warning cuts what is longer where there is much)."""
_FORBIDDEN: Final = 403
_NO_CHANGE: Final[Json] = {}


class AdmissionJudge:
    """Answers requests by a policy.

    Args:
        policy: what is told, denied and added.
    """

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        self._settings = Settings(select=ASKED - policy.ignore)
        worst = SEVERITIES[: SEVERITIES.index(policy.level) + 1]
        self._told = frozenset(worst)

    def warm_up(self) -> None:
        """Judge one object that is right and one that is wrong, so that whoever asks first waits for no table."""
        for name in ("web", "other"):
            made = _warming(name)
            request = {"uid": "", "namespace": "default", "kind": {"kind": "Deployment"}, "object": made}
            self.validate(request)
            self.mutate(request | {"operation": "CREATE"})

    def validate(self, request: Json) -> Json:
        """The response to a validating request: warnings, or a denial by a rule that the policy names.

        On updates a finding denies only where the object did not have it before: what is there can still be scaled,
        labelled and deleted.
        """
        if self._is_left_alone(request):
            return _allowed(request)
        findings = self._findings(request["object"], request)
        denied = [each for each in findings if each.rule in self._policy.deny]
        if denied and request.get("oldObject"):
            before = {_sameness(each) for each in self._findings(request["oldObject"], request)}
            denied = [each for each in denied if _sameness(each) not in before]
        if denied:
            words = "; ".join(_words(each) for each in denied)
            status = {"code": _FORBIDDEN, "reason": "Forbidden", "message": f"topospread: {words}"}
            return _allowed(request) | {"allowed": False, "status": status}
        told = [each for each in findings if each.severity in self._told or each.rule in self._policy.deny]
        return _allowed(request, [_words(each)[:_LONGEST] for each in told])

    def mutate(self, request: Json) -> Json:
        """The response to a mutating request: a JSON Patch that adds constraints to a workload without any.

        Only of what is created: an update never begins a rollout because of this.
        """
        if self._is_left_alone(request) or request.get("operation") != "CREATE":
            return _allowed(request)
        made = request["object"]
        spec = made.get("spec") or {}
        pods = (spec.get("template") or {}).get("spec")
        selector = spec.get("selector")
        if not isinstance(pods, dict) or pods.get("topologySpreadConstraints") or not selector:
            return _allowed(request)
        chosen = next((each for each in self._policy.defaults if _fits(each, request, spec)), None)
        if chosen is None:
            return _allowed(request)
        added = [_constraint(each, request["kind"]["kind"], selector) for each in chosen.constraints]
        patch = [{"op": "add", "path": "/spec/template/spec/topologySpreadConstraints", "value": added}]
        encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
        return _allowed(request) | {"patchType": "JSONPatch", "patch": encoded}

    def _is_left_alone(self, request: Json) -> bool:
        """Whether it is none of our business: a namespace that is excluded, what a controller made, what goes."""
        made = request.get("object")
        if not isinstance(made, dict) or request.get("namespace") in self._policy.exclude_namespaces:
            return True
        metadata = made.get("metadata") or {}
        owners = metadata.get("ownerReferences") or []
        return bool(metadata.get("deletionTimestamp")) or any(each.get("controller") for each in owners)

    def _findings(self, made: Json, request: Json) -> Sequence[Finding]:
        question = Question(
            paths=[STANDARD_INPUT],
            kube_version=self._policy.kube_version,
            namespace=request.get("namespace") or "default",
            settings=self._settings,
        )
        return run(question, io.BytesIO(msgspec.json.encode(made))).findings


def _warming(selected: str) -> Json:
    """A Deployment of pods with the label app=web, spread among those with ``selected``."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": selected}},
    }
    pods = {"containers": [{"name": "web", "image": "web"}], "topologySpreadConstraints": [constraint]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pods}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def review(data: bytes, answer: Any) -> Json:
    """An AdmissionReview with the response to the one that was sent.

    Args:
        data: the AdmissionReview, as JSON.
        answer: from its request to the response.

    Raises:
        ValueError: it is no AdmissionReview of admission.k8s.io/v1.
    """
    try:
        given = msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise ValueError(f"no JSON: {error}") from None
    request = given.get("request") if isinstance(given, dict) else None
    if not isinstance(request, dict) or given.get("apiVersion") != "admission.k8s.io/v1" or "uid" not in request:
        raise ValueError("no AdmissionReview of admission.k8s.io/v1 with a request")
    try:
        response = answer(request)
    except Exception:
        # Whatever is wrong with us must not keep anything out of a cluster.
        log.exception("a request could not be answered: the object is let in")
        response = _allowed(request, ["topospread could not judge this object, and let it in"])
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def _allowed(request: Json, warnings: Sequence[str] = ()) -> Json:
    return {"uid": request["uid"], "allowed": True} | ({"warnings": list(warnings)} if warnings else _NO_CHANGE)


def _words(finding: Finding) -> str:
    field = finding.place.field
    return f"{finding.rule}: {field}: {finding.message}" if field else f"{finding.rule}: {finding.message}"


def _sameness(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.place.field, finding.message


def _fits(defaults: WorkloadDefaults, request: Json, spec: Json) -> bool:
    replicas = spec.get("replicas")
    return (
        request["kind"]["kind"] in defaults.kinds
        and (defaults.namespaces is None or request.get("namespace") in defaults.namespaces)
        and (1 if replicas is None else replicas) >= defaults.min_replicas
    )


def _constraint(given: Json, kind: str, selector: Json) -> Json:
    """A constraint that counts the workload's own pods; of a Deployment those of one revision."""
    own = given | {"labelSelector": selector}
    return own | {"matchLabelKeys": ["pod-template-hash"]} if kind == "Deployment" else own
