"""The page of ``topospread why`` without a target: a block for each workload with pending pods."""

from __future__ import annotations

from topospread.answers.why_pending import WhyPending
from topospread.answers.words import listed
from topospread.render.blocks import Fact, Page, Part, Section, Verdict

from .pending import unjudged_facts
from .why import page as page_of_pod


def page(answer: WhyPending) -> Page:
    """Return the page of all pending pods."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says)]
    for each in answer.unjudged:
        parts += unjudged_facts([each], rest=f" of {listed(each.pods, 2)}")
    parts += [Fact("warning", each) for each in answer.warnings]
    for pod in answer.pods:
        own = (each for each in page_of_pod(pod).parts[1:] if not (isinstance(each, Fact) and each.label == "warning"))
        parts.append(Section(pod.says, tuple(own)))
    return Page("pending pods", tuple(parts))
