"""Answer AdmissionReviews: the linter's findings as warnings or a denial, and default constraints.

An answer depends on the request alone and has no side effects, so it is valid for dry runs.
Source: k8s.io/api/admission/v1/types.go.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from topospread.controllers.controller_accounts import CONTROLLER_MANAGER, CREATORS
from topospread.lint.ignores import ANNOTATION
from topospread.lint.reading import Question
from topospread.lint.rule import SEVERITIES, Finding
from topospread.lint.run import LintReport, run
from topospread.lint.settings import Settings
from topospread.sources.files import STANDARD_INPUT
from topospread.text import escape_all

from .policy import ASKED, AdmissionPolicy, Json, WorkloadDefaults

_LONGEST: Final = 256
"""Maximum characters of a warning (k8s.io/apiserver/pkg/warning truncates longer ones)."""
_MOST_DENIALS: Final = 20
_MOST_WARNINGS: Final = 50
_NO_CHANGE: Final[Json] = {}
API_VERSION: Final = "admission.k8s.io/v1"

_LEFT_OUT: Final = ("ownerReferences", "deletionTimestamp", "managedFields")
"""Metadata that no rule reads, or with which any user could make the linter skip an object."""


_SERVICE_ACCOUNT: Final = "system:serviceaccount:"


class _User(msgspec.Struct):
    username: str = ""


class ReviewHead(msgspec.Struct, rename="camel"):
    """The part of a request that the server reads itself.

    Attributes:
        namespace: the namespace of the object; "" without one.
    """

    uid: str
    namespace: str = ""
    user_info: _User = msgspec.field(default_factory=_User)


class _Review(msgspec.Struct, rename="camel"):
    api_version: str
    request: ReviewHead


_REVIEW: Final = msgspec.json.Decoder(_Review)
_BEGINNING: Final = re.compile(
    rb'\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io/v1","request":\{"uid":"([0-9a-f-]{1,64})"'
)
"""The first bytes of a review from an API server, up to the uid. Text of the object is always later."""


def tenant_of(head: ReviewHead) -> str:
    """Return the tenant of a request: a user, or the service accounts of a namespace.

    For components of Kubernetes, the tenant is the namespace of the object.
    """
    user = head.user_info.username
    if user.startswith(_SERVICE_ACCOUNT) and not user.startswith("system:serviceaccount:kube-system:"):
        return user.rpartition(":")[0]
    return f"{_SERVICE_ACCOUNT}{head.namespace}" if user.startswith("system:") else user


def read_head(data: bytes) -> ReviewHead:
    """Parse the head of an AdmissionReview.

    Raises:
        ValueError: if it is not JSON, is nested too deeply, or is not an admission.k8s.io/v1 review.
    """
    try:
        found = _REVIEW.decode(data)
    except msgspec.ValidationError as error:
        raise ValueError(f"not an AdmissionReview: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"not JSON: {error}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    if found.api_version != API_VERSION:
        raise ValueError(f"not an AdmissionReview of {API_VERSION}")
    return found.request


def uid_of(data: bytes) -> str | None:
    """Return the uid in the first bytes of an unreadable review; None if an API server did not write it."""
    found = _BEGINNING.match(data)
    return found and found[1].decode()


def unjudged(uid: str, why: str, policy: AdmissionPolicy) -> Json:
    """Return the AdmissionReview for an unjudged request: a warning or a denial, by the policy."""
    words = f"topospread has not judged this object: {why}"
    if policy.on_timeout == "allow":
        return _reviewed(_allowed({"uid": uid}, [words[:_LONGEST]]))
    status = {"code": 503, "reason": "ServiceUnavailable", "message": words}
    return _reviewed({"uid": uid, "allowed": False, "status": status})


class AdmissionJudge:
    """Answers requests by a policy."""

    def __init__(self, policy: AdmissionPolicy) -> None:
        self._policy = policy
        self._settings = Settings(
            select=ASKED - policy.ignore, spread_from=policy.spread_from, spread_over=policy.spread_over
        )
        worst = SEVERITIES[: SEVERITIES.index(policy.level) + 1]
        self._told = frozenset(worst)

    def warm_up(self) -> None:
        """Judge a valid and an invalid object, so that all tables are loaded before the first request."""
        for name in ("web", "other"):
            made = _warming(name)
            request = {"uid": "", "namespace": "default", "kind": {"kind": "Deployment"}, "object": made}
            self.validate(request)
            self.mutate(request | {"operation": "CREATE"})

    def answer(self, path: str, data: bytes) -> tuple[bytes, str]:
        """Return the AdmissionReview with the response, and its result.

        Args:
            path: "validate" or "mutate".
            data: an AdmissionReview that `read_head` accepts.

        Returns:
            (AdmissionReview as JSON, result); the result is "allowed", "warned", "changed" or "denied".
        """
        request = msgspec.json.decode(data)["request"]
        response = (self.validate if path == "validate" else self.mutate)(request)
        return msgspec.json.encode(_reviewed(response)), _result(response)

    def validate(self, request: Json) -> Json:
        """Return the response to a validating request: warnings, or a denial by a rule of the policy.

        An update is denied only for findings that the old object does not have. An object from before the policy can
        still be scaled, labelled and deleted.
        """
        if self._is_exempt(request):
            return _allowed(request)
        report = self._report(request["object"], request)
        findings = report.findings
        denied = self._denying(request["object"], request, findings)
        if self._policy.deny and not denied and (report.read.broken or (findings and not report.given.manifests)):
            # The API server accepts more objects than the linter can read. No rule has judged such an object.
            raise ValueError(_words(findings[0]) if findings else "the object cannot be read")
        if denied and request.get("oldObject"):
            before = {_sameness(each) for each in self._denying(request["oldObject"], request)}
            denied = [each for each in denied if _sameness(each) not in before]
        if denied:
            words = "; ".join(_words(each) for each in denied[:_MOST_DENIALS])
            more = len(denied) - _MOST_DENIALS
            words += f"; and {more} more" if more > 0 else ""
            status = {"code": 403, "reason": "Forbidden", "message": f"topospread: {words}"}
            return _allowed(request) | {"allowed": False, "status": status}
        told = [each for each in findings if each.severity in self._told or each.rule in self._policy.deny]
        return _allowed(request, [_words(each)[:_LONGEST] for each in told[:_MOST_WARNINGS]])

    def mutate(self, request: Json) -> Json:
        """Return the response to a mutating request: a JSON Patch that adds constraints to a workload without any.

        Only new objects are patched: a patched update could begin a rollout.
        """
        if self._is_exempt(request) or request.get("operation") != "CREATE":
            return _allowed(request)
        made = request["object"]
        spec = made.get("spec") or {}
        template = spec.get("template")
        pods = template.get("spec") if isinstance(template, dict) else None
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

    def _is_exempt(self, request: Json) -> bool:
        """Return whether the request is exempt: an excluded namespace, a controller's object or a deletion."""
        made = request.get("object")
        if not isinstance(made, dict) or request.get("namespace") in self._policy.exclude_namespaces:
            return True
        # The old object is from the API server; a user can write any deletionTimestamp into a new object.
        old = request.get("oldObject") or {}
        return bool((old.get("metadata") or {}).get("deletionTimestamp")) or _is_from_controller(request)

    def _report(self, made: Json, request: Json) -> LintReport:
        question = Question(
            paths=[STANDARD_INPUT],
            kube_version=self._policy.kube_version,
            namespace=request.get("namespace") or "default",
            settings=self._settings,
        )
        # The linter skips objects with an owner, but a user can write an owner into any object.
        metadata = {name: value for name, value in (made.get("metadata") or {}).items() if name not in _LEFT_OUT}
        made = made | {"metadata": metadata}
        # Escape # (the JSON stays the same), so that no text in the object looks like an ignore comment.
        text = msgspec.json.encode(made).replace(b"#", b"\\u0023")
        return run(question, io.BytesIO(text))

    def _denying(self, made: Json, request: Json, findings: Sequence[Finding] | None = None) -> list[Finding]:
        """Return the findings of denying rules, without those that the object's annotation may ignore."""
        findings = self._report(made, request).findings if findings is None else findings
        denying = [each for each in findings if each.rule in self._policy.deny]
        metadata = made.get("metadata") or {}
        annotations = metadata.get("annotations") or {}
        if ANNOTATION not in annotations:
            return denying
        plain = {name: value for name, value in annotations.items() if name != ANNOTATION}
        bare = made | {"metadata": metadata | {"annotations": plain}}
        firm = self._policy.deny - self._policy.may_ignore
        kept = [each for each in denying if each.rule not in firm]
        return kept + [each for each in self._report(bare, request).findings if each.rule in firm]


def _is_from_controller(request: Json) -> bool:
    """Return whether a built-in controller created the object, whose template was judged before.

    The owner reference alone is no proof, because anyone can write one.
    """
    user = (request.get("userInfo") or {}).get("username", "")
    kind = (request.get("kind") or {}).get("kind", "")
    for owner in (request["object"].get("metadata") or {}).get("ownerReferences") or ():
        creator = CREATORS.get((kind, owner.get("kind", "")))
        if creator and owner.get("controller"):
            return user in (creator, CONTROLLER_MANAGER)
    return False


def _warming(selected: str) -> Json:
    """Return a Deployment with pods labelled app=web, whose constraint selects ``selected``."""
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


def _reviewed(response: Json) -> Json:
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response}


def _result(response: Json) -> str:
    if not response["allowed"]:
        return "denied"
    if "patch" in response:
        return "changed"
    return "warned" if "warnings" in response else "allowed"


def _allowed(request: Json, warnings: Sequence[str] = ()) -> Json:
    return {"uid": request["uid"], "allowed": True} | ({"warnings": list(warnings)} if warnings else _NO_CHANGE)


def _words(finding: Finding) -> str:
    """Return a finding as text for kubectl's output, with commands to CI pipelines escaped."""
    field = finding.place.field
    return escape_all(f"{finding.rule}: {field}: {finding.message}" if field else f"{finding.rule}: {finding.message}")


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
    """Return a constraint that counts the workload's own pods; for a Deployment, the pods of one revision."""
    own = given | {"labelSelector": selector}
    return own | {"matchLabelKeys": ["pod-template-hash"]} if kind == "Deployment" else own
