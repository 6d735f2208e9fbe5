"""Rules about API versions and fields that the target Kubernetes version does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from topospread.admission.dropped_fields import POD_FIELDS
from topospread.api.node_selection import PodAffinityTerm
from topospread.api.pod import PodSpec
from topospread.api.served import is_off, served
from topospread.api.spread import TopologySpreadConstraint
from topospread.config.gate_table import GATES
from topospread.config.gates import Gates
from topospread.lint.examples import constraint, deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.pod_source import PodSource
from topospread.lint.problem import FieldEdit, Problem
from topospread.lint.rule import Example, Rule
from topospread.sources.versions import VERSIONS

_GATES = "https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/"
_GATE_OF = {each.path: each.gate for each in POD_FIELDS}
_SPREAD_FIELDS = ("minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys")
_TERM_FIELDS = ("namespaceSelector", "matchLabelKeys", "mismatchLabelKeys")
_TERMS_AT = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[]."
_SPEC_FIELDS = ("schedulingGates", "preemptionPolicy", "resources")
_ATTRIBUTES = {
    each.encode_name: each.name
    for struct in (TopologySpreadConstraint, PodAffinityTerm, PodSpec)
    for each in msgspec.structs.fields(struct)
}
_TERMS = {
    "required_during_scheduling_ignored_during_execution": "requiredDuringSchedulingIgnoredDuringExecution",
    "preferred_during_scheduling_ignored_during_execution": "preferredDuringSchedulingIgnoredDuringExecution",
}


def _not_served(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    minor = given.version.minor
    for manifest in given.manifests:
        version = manifest.value.get("apiVersion")
        if not manifest.stored and "AdmissionPolicy" in manifest.kind and is_off(str(version), manifest.kind):
            words = f"Kubernetes {given.version} serves {version} {manifest.kind} only if enabled"
            yield manifest, Problem("apiVersion", f"{words}: write {VERSIONS[manifest.kind][0]}")
        when = served(str(version), manifest.kind)
        if when is None or manifest.stored or when.by(minor) or manifest.kind not in VERSIONS:
            continue
        current = VERSIONS[manifest.kind][0]
        later = minor < when.since
        message = f"Kubernetes {given.version} does not serve {version} {manifest.kind}"
        message += f" yet: it came with 1.{when.since}" if later else f" any more: it is {current} now"
        # Output of `helm template` has a comment with the chart's file; many charts set the label "managed-by".
        labels = manifest.item.metadata.labels or {}
        if (
            labels.get("app.kubernetes.io/managed-by") == "Helm"
            or b"\n# Source: " in b"\n" + manifest.location.text.data
        ):
            message += "; a chart may choose by --kube-version and --api-versions of `helm template`"
        fix = () if later or not _says_all(manifest) else (FieldEdit("replace", "apiVersion", current),)
        yield manifest, Problem("apiVersion", message, fix)


def _says_all(manifest: Manifest) -> bool:
    """Return whether the object means the same in the current API version, because no field depends on old defaults."""
    spec = manifest.value.get("spec")
    if manifest.kind in ("PriorityClass", "StorageClass"):
        return True
    if manifest.kind == "HorizontalPodAutoscaler":
        return manifest.value.get("apiVersion") == "autoscaling/v2beta2"
    selector = spec.get("selector") if isinstance(spec, Mapping) else None
    return manifest.kind == "CronJob" or (manifest.kind not in ("CSINode", "RuntimeClass") and bool(selector))


def _not_there(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for manifest, pods in given.sources:
        if manifest.stored:
            continue
        for path, gate in _gated_fields(pods):
            if not given.gates.enabled(gate):
                yield manifest, Problem(path, f"{path.rpartition('.')[2]} {_why_not(gate, given.gates)}")


def _gated_fields(pods: PodSource) -> Iterator[tuple[str, str]]:
    """Yield set fields that need a feature gate, with the gate."""
    for path, each in pods.constraints():
        yield from _set_fields(each, path, _SPREAD_FIELDS, "topologySpreadConstraints[].")
    yield from _set_fields(pods.spec, pods.path, _SPEC_FIELDS)
    for index, container in enumerate(pods.spec.init_containers or ()):
        if container.restart_policy:
            yield f"{pods.path}.initContainers[{index}].restartPolicy", _GATE_OF["initContainers[].restartPolicy"]
    for path, term in _affinity_terms(pods):
        yield from _set_fields(term, path, _TERM_FIELDS, _TERMS_AT)


def _set_fields(of: object, path: str, names: Iterable[str], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the set fields among `names`.

    Args:
        of: object with the fields.
        path: path of the object.
        names: field paths, relative to the pod's spec.
        prefix: path from the pod's spec to `of`.
    """
    for name in names:
        if getattr(of, _ATTRIBUTES[name]) is not None:
            yield f"{path}.{name}", _GATE_OF[prefix + name]


def _affinity_terms(pods: PodSource) -> Iterator[tuple[str, PodAffinityTerm]]:
    affinity = pods.spec.affinity
    kinds = (
        {}
        if affinity is None
        else {"podAffinity": affinity.pod_affinity, "podAntiAffinity": affinity.pod_anti_affinity}
    )
    for kind, given in kinds.items():
        for attribute, name in _TERMS.items():
            for index, each in enumerate(getattr(given, attribute, None) or ()):
                path = f"{pods.path}.affinity.{kind}.{name}[{index}]"
                if isinstance(each, PodAffinityTerm):
                    yield path, each
                elif each.pod_affinity_term is not None:
                    yield f"{path}.podAffinityTerm", each.pod_affinity_term


def _why_not(gate: str, gates: Gates) -> str:
    row = GATES[gate]
    first = row.spans[0].since
    on = next((span.since for span in row.spans if span.default), None)
    if gates.kube_version < first:
        what = f"does not exist in Kubernetes {gates.kube_version}: it came with {first}"
    else:
        what = f"is dropped by Kubernetes {gates.kube_version}: the feature gate {gate} is off"
    return what + (f", on by default since {on}" if on is not None and gates.kube_version < on else "")


_OWN = "labelSelector:\n  matchLabels: {app: web}\n"
_BUDGET = """\
apiVersion: policy/{version}
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{app: web}}
"""

RULES = (
    Rule(
        id="api-version-not-served",
        sentence="The Kubernetes version does not serve the object's apiVersion.",
        why='kubectl and all other clients reject it: no matches for kind "PodDisruptionBudget".',
        link="https://kubernetes.io/docs/reference/using-api/deprecation-guide/",
        severity="error",
        check=_not_served,
        wrong=Example(_BUDGET.format(version="v1beta1")),
        right=Example(_BUDGET.format(version="v1")),
        fix="Writes the current apiVersion if the object has the same meaning in it.",
    ),
    Rule(
        id="field-not-in-version",
        sentence="The Kubernetes version does not have a field that is set.",
        why="An API server silently drops a field whose feature gate is off, and the pod is placed without it.",
        link=_GATES,
        severity="warning",
        check=_not_there,
        wrong=Example(deployment(constraint(_OWN + "minDomains: 3")), kube_version="1.26"),
        right=Example(deployment(constraint(_OWN + "minDomains: 3")), kube_version="1.27"),
    ),
)
