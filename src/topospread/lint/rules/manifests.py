"""Rules about single objects: the API server denies them, or they have unknown fields."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.served import similar_kind
from topospread.lint.examples import GOOD_CONSTRAINT, deployment
from topospread.lint.lint_input import LintInput, LintSubject, Manifest
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule
from topospread.sources.unknown_fields import fields_of_no_version, meant

_OBJECTS = "https://kubernetes.io/docs/concepts/overview/working-with-objects/"


def _refused(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    yield from given.refused


def _unknown_plugin(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    yield from given.unknown_plugins


def _unknown_field(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    yield from given.unknown_fields
    for manifest in given.manifests:
        if not manifest.stored:
            for path in fields_of_no_version(manifest.value, manifest.kind):
                yield manifest, Problem(path, f'unknown field "{path}"' + meant(manifest.kind, path))


def _unknown_kind(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    for subject in given.others:
        kind, version = str(subject.value.get("kind")), str(subject.value.get("apiVersion"))
        similar = similar_kind(kind, version)
        if similar is not None:
            yield subject, Problem("kind", f"unknown kind {kind}; did you mean {similar}?")


def _twice(given: LintInput) -> Iterator[tuple[LintSubject, Problem]]:
    seen: dict[tuple[str, str, str, str], Manifest] = {}
    for manifest in given.manifests:
        item = manifest.item
        if item.metadata.name:
            first = seen.setdefault((manifest.location.text.name, manifest.kind, item.namespace, item.name), manifest)
            if first is not manifest:
                yield manifest, Problem("metadata.name", "the file already has this object; this one replaces it")


_GOOD = Example(deployment(GOOD_CONSTRAINT))

VALIDATION = Rule(
    id="validation",
    sentence="The API server rejects the object, or kube-scheduler the configuration.",
    why="It cannot be applied, and many pipelines skip everything after it.",
    link=_OBJECTS,
    severity="error",
    check=_refused,
    wrong=Example(deployment(GOOD_CONSTRAINT.replace("maxSkew: 1", "maxSkew: 0"))),
    right=_GOOD,
)

_CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled:
      - name: {0}
        weight: 3
"""

UNKNOWN_PLUGIN = Rule(
    id="unknown-plugin",
    sentence="A configuration enables a plugin that kube-scheduler lacks.",
    why="kube-scheduler does not start with an unknown plugin, unless it was built with it.",
    link="https://kubernetes.io/docs/reference/scheduling/config/#scheduling-plugins",
    severity="warning",
    check=_unknown_plugin,
    wrong=Example(_CONFIGURATION.format("PodTopologySpreading")),
    right=Example(_CONFIGURATION.format("PodTopologySpread")),
)

RULES = (
    VALIDATION,
    UNKNOWN_PLUGIN,
    Rule(
        id="unknown-field",
        sentence="The object has a field that Kubernetes does not know.",
        why="The API server drops the field, or kubectl rejects the object.",
        link=_OBJECTS,
        severity="warning",
        check=_unknown_field,
        wrong=Example(deployment(GOOD_CONSTRAINT.replace("matchLabelKeys", "matchLabelsKeys"))),
        right=_GOOD,
    ),
    Rule(
        id="unknown-kind",
        sentence="The object's kind is not a kind of Kubernetes.",
        why="The API server rejects the object, so it has no effect.",
        link=_OBJECTS,
        severity="warning",
        check=_unknown_kind,
        wrong=Example(deployment(GOOD_CONSTRAINT).replace("Deployment", "Deploymnet")),
        right=_GOOD,
    ),
    Rule(
        id="object-twice",
        sentence="A file has an object twice.",
        why="When the file is applied, the later object replaces the earlier one.",
        link=_OBJECTS,
        severity="warning",
        check=_twice,
        wrong=Example(deployment(GOOD_CONSTRAINT) + "---\n" + deployment(GOOD_CONSTRAINT, replicas=3)),
        right=Example(
            deployment(GOOD_CONSTRAINT) + "---\n" + deployment(GOOD_CONSTRAINT.replace("web", "api"), name="api")
        ),
        needs="manifests",
    ),
)
