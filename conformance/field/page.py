"""Writes `docs/reference/field.md` from what `python -m conformance.field` was answered; asks nobody.

python -m conformance.field.page
"""

from __future__ import annotations

from typing import Any

from conformance.field import stored
from conformance.field.case_text import case_lines
from conformance.field.causes import CAUSES, Cause, cause_of
from conformance.peers import PEERS
from conformance.programs import ROOT

Json = dict[str, Any]

PAGE = ROOT / "docs" / "reference" / "field.md"

HEAD = """\
# Where other programs answer otherwise than kube-scheduler

{count} cases were given to kube-scheduler {kube-scheduler} and to other programs that evaluate topology spread.
{traps} are written by hand and {drawn} are random, with up to eight nodes in two to four zones, one workload and node
pools. Each section has one difference, its place in the other program's source and its smallest case. The answer
`b1; new: one/a` means: the pod fits on node b1, and on a new node of pool one in zone a. topospread answers every case
like kube-scheduler.

A difference is not always a mistake. An autoscaler considers nodes that do not exist yet, and a descheduler must not
evict some pods.

Written by `python -m conformance.field.page`. `python -m conformance.field --check` runs all programs again.

## The programs

{asked}"""

ASKED = {
    "kube-scheduler": "its own plugins, framework and cache",
    "cluster-autoscaler": "its predicates and its binpacking estimator, for each pool and zone",
    "karpenter": "`Topology`, `NewScheduler` and `Solve`, 64 times, because it takes any of equal zones",
    "descheduler": "`RemovePodsViolatingTopologySpreadConstraint` with `nodeFit`, eight times, for equal pods",
    "kube-score": "its check `pod-topology-spread-constraints` on the Deployment",
    "kube-linter": "has no check of spread constraints: [what it does find](peers.md)",
    "polaris": "its check `topologySpreadConstraint` on the Deployment",
}

SOURCES = {
    "descheduler": "Files are in the module `sigs.k8s.io/descheduler`.",
    "karpenter": "Files are in the module `sigs.k8s.io/karpenter`. In a cluster Karpenter evaluates only pods that"
    " kube-scheduler rejected on every node, so differences about existing nodes matter only when it removes a node.",
    "cluster-autoscaler": "Files are in `cluster-autoscaler/` of `kubernetes/autoscaler`. It runs kube-scheduler's own"
    " plugins, so it agrees about spreading. The choice between several node groups was not compared.",
}

LINTERS = """
## Linters

A linter reads the Deployment and no node. In {pending} of the {count} cases no existing node takes the pod. There
kube-score's check fails for {score_pending} Deployments and Polaris's for {polaris_pending}. In the other {placed}
cases they fail for {score_placed} and {polaris_placed}. [Compared with other linters](peers.md) has all their checks.
"""


def asked_table(versions: Json, asked: set[str]) -> str:
    """Who was asked, of which version, what."""
    rows = [f"| {name} | {versions[name]} | {what} |" for name, what in ASKED.items() if name in asked]
    return "\n".join(["| program | version | how it was asked |", "|---|---|---|", *rows]) + "\n"


def section(peer: str, smallest: list[Json]) -> str:
    """A peer's causes, each with its smallest case."""
    of_peer = [each for each in smallest if each["peer"] == peer]
    text = f"\n## {peer}\n\n{SOURCES[peer]}\n"
    for cause in CAUSES:
        cases = [each for each in of_peer if cause_of(each) is cause]
        if cause.peer == peer and cases:
            text += cause_section(cause, cases)
    return text


def cause_section(cause: Cause, cases: list[Json]) -> str:
    """Return one cause: what, why, where in the source, and its smallest case."""
    case = min(cases, key=lambda each: (size(each), each["of"]))
    shown = "\n".join(case_lines(case["situation"]) + said(case))
    return f"\n### {cause.title}\n\n{cause.why} Source: `{cause.source}`.\n\n```text\n{shown}\n```\n"


def said(case: Json) -> list[str]:
    """What kube-scheduler and the peer answer, a line each."""
    truth, theirs = case["answers"]["kube-scheduler"], case["answers"][case["peer"]]
    if case["peer"] == "descheduler":
        again = [
            f"{words} {', '.join(truth[key])}"
            for key, words in (
                ("again", "takes the pod back on"),
                ("skewed", "not on"),
                ("elsewhere", "another node for the pod of"),
                ("stuck", "no node for the pod of"),
            )
            if truth[key]
        ]
        evicts = f"evicts from {', '.join(theirs)}" if theirs else "evicts nobody"
        return [f"kube-scheduler: {'; '.join(again)}", f"descheduler: {evicts}"]
    lines = [f"kube-scheduler: {taken(truth['nodes'], truth['new'])}"]
    if case["peer"] == "karpenter":
        words = [each.replace("node ", "").replace("new ", "new: ") for each in theirs]
        return [*lines, f"karpenter: {' or '.join(words)}"]
    return [*lines, f"{case['peer']}: {taken(theirs['nodes'], theirs['groups'])}"]


def taken(nodes: list[str], new: list[str]) -> str:
    """On which nodes the pod may be."""
    return f"{', '.join(nodes) or 'no node'}; new: {', '.join(new) or 'none'}"


def size(case: Json) -> int:
    """How much there is to read."""
    return sum(len(each) for each in case_lines(case["situation"]))


def linters(answers: Json) -> str:
    """What the linters said, beside what became of the pod."""
    counts = dict.fromkeys(("score_pending", "polaris_pending", "score_placed", "polaris_placed"), 0)
    pending = 0
    for each in answers.values():
        after = "placed" if each["kube-scheduler"]["nodes"] else "pending"
        pending += after == "pending"
        counts[f"score_{after}"] += each["linters"]["kube-score"]
        counts[f"polaris_{after}"] += each["linters"]["polaris"]
    return LINTERS.format(pending=pending, placed=len(answers) - pending, count=len(answers), **counts)


def page() -> str:
    """The whole page."""
    found = stored.read()
    answers, versions = found["answers"], found["versions"]
    drawn = sum(name.startswith("drawn-") for name in answers)
    asked = {*next(iter(answers.values())), *(peer.name for peer in PEERS)}
    text = HEAD
    values = {"count": len(answers), "drawn": drawn, "traps": len(answers) - drawn, **versions}
    values |= {"asked": asked_table(versions, asked)}
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    for peer in ("descheduler", "karpenter", "cluster-autoscaler"):
        if any(each["peer"] == peer for each in found["smallest"]):
            text += section(peer, found["smallest"])
    return text + linters(answers)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
