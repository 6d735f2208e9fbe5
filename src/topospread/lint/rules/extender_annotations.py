"""Rules about the annotations of `topospread run extender`: valid values, in the right place."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.pod import Pod
from topospread.extender.declared import declared, texts_of
from topospread.lint.examples import deployment
from topospread.lint.pod_source import PodSource
from topospread.lint.problem import Problem
from topospread.lint.rule import Example, Rule, of_pods


def _malformed(pods: PodSource) -> Iterator[Problem]:
    if pods.metadata is None:
        return
    for problem in declared(texts_of(pods.metadata))[1]:
        path = f"{pods.metadata_path}.annotations[{problem.annotation}]"
        yield Problem(path, f"{problem.message}: the extender rejects every node for these pods")


def _misplaced(pods: PodSource) -> Iterator[Problem]:
    if not isinstance(pods.item, Pod):
        for name in texts_of(pods.item.metadata):
            message = f"the extender does not read annotations of the {type(pods.item).__name__}"
            yield Problem(f"metadata.annotations[{name}]", f"{message}; move it to {pods.metadata_path}")


_LABELS = "      labels: {app: web}\n"
_WITH = "      annotations:\n        topospread.dev/shares: 'topology.kubernetes.io/zone: zone-a={}, zone-b=40'\n"
_LINK = "https://kubernetes.io/docs/concepts/extend-kubernetes/#scheduling-extensions"
_ON_THE_OWNER = deployment("").replace(
    "  name: web\n", "  name: web\n  annotations:\n    topospread.dev/max-per-domain: 'kubernetes.io/hostname: 1'\n", 1
)


def _deployment(share: int) -> str:
    return deployment("").replace(_LABELS, _LABELS + _WITH.format(share))


RULES = (
    Rule(
        id="extender-annotation-malformed",
        sentence="An annotation for the extender cannot be read.",
        why="topospread run extender gives such a pod no node.",
        link=_LINK,
        severity="error",
        check=of_pods(_malformed),
        wrong=Example(_deployment(50)),
        right=Example(_deployment(60)),
    ),
    Rule(
        id="extender-annotation-misplaced",
        sentence="An annotation for the extender is on the workload instead of its pod template.",
        why="Controllers copy annotations from the pod template only, so the extender ignores it.",
        link=_LINK,
        severity="warning",
        check=of_pods(_misplaced),
        wrong=Example(_ON_THE_OWNER),
        right=Example(_deployment(60)),
    ),
)
