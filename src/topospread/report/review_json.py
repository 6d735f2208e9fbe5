"""A change of manifests as plain data: documented in ``docs/reference/plan.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.answers.lint import lint_finding
from topospread.base import API_VERSION

from .comparison_json import comparison_json

if TYPE_CHECKING:
    from topospread.review.review import Review

Json = dict[str, Any]


def review_json(review: Review, namespace: str | None = None) -> Json:
    """What ``topospread plan -o json`` writes; ``namespace`` restricts the comparison.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    exceeded = review.exceeded
    grown = [*review.grown, *(each for each in exceeded if each not in review.grown)]
    return {
        "apiVersion": API_VERSION,
        "kind": "Plan",
        "names": list(review.comparison.names),
        "worse": review.worse,
        "reasons": review.reasons,
        "grownSkews": [
            {
                "kind": each.workload.kind,
                "namespace": each.workload.namespace,
                "name": each.workload.name,
                "topologyKey": each.spread.topology_key,
                "maxSkew": each.spread.max_skew,
                "skew": [each.before.skew if each.before else None, each.after.skew if each.after else None],
                "exceeded": each in exceeded,
            }
            for each in grown
        ],
        "findings": {
            "new": [lint_finding(each).to_dict() for each in review.new],
            "gone": [lint_finding(each).to_dict() for each in review.gone],
        },
        "comparison": comparison_json(review.comparison, namespace),
    }
