"""Writes `docs/reference/field.md` from what `python -m conformance.field` was answered; asks nobody.

python -m conformance.field.page
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.field import stored
from conformance.field.case_text import case_lines
from conformance.field.causes import CAUSES, Cause, cause_of
from conformance.field.findings import KINDS
from conformance.peers import PEERS
from conformance.programs import ROOT

Json = dict[str, Any]

PAGE = ROOT / "docs" / "reference" / "field.md"

HEAD = """\
# The field: who judges topology spread otherwise

The same {count} situations, put to kube-scheduler {kube-scheduler} and to the programs that judge topology spread
beside it: where one of them answers otherwise than kube-scheduler, a small case that shows it, and the place in
its source that it comes from. {traps} of the situations are made by hand, one for each thing that is easily read
otherwise (`conformance/field/traps.py`), {drawn} are drawn (`conformance/field/drawn.py`): up to eight nodes in two to
four zones, one workload with one or two constraints, node pools. A case below is what is left of a
situation when all goes that can go, or one made by hand. Every program answered itself; nothing here is what
its documentation says. How often something differs says how often it was drawn, not how often it happens in clusters.

Written by `python -m conformance.field.page` from `tests/conformance/field.json`, which
`python -m conformance.field` stores; with `--check` it asks all of them again.
On 2026-11-22 all were asked again in one run, about the smallest cases too: every answer was the stored one, but that
Karpenter, which takes any of equal zones, came to three of four stored ends in 64 askings about one situation.

## Who was asked what

{asked}
## Who answers otherwise

{summary}
**topospread** answers every one of these questions as kube-scheduler does; `make test` holds it to that.

A difference is not always a mistake. kube-scheduler decides about one pod on the nodes that there are; an autoscaler
knows nodes that there could be, a descheduler has to leave alone what it must not evict. Where a difference is meant
so, it says so below.
"""

ASKED = {
    "kube-scheduler": (
        "its own plugins, framework and cache, compiled from its source: which nodes take the pod; the same with one"
        " new node of each pool and zone beside; and every pod that stands, taken away and asked again"
    ),
    "cluster-autoscaler": (
        "its cluster snapshot, its predicates on every node, its binpacking estimator on a node of each pool and zone,"
        " from its source at the tag (the module proxy does not serve it)"
    ),
    "karpenter": (
        "its `Topology`, `NewScheduler` and `Solve`, called as its provisioner calls them with default settings, with"
        " one NodePool for each pool and one instance type that is offered in the pool's zones; 64 times, as it takes"
        " any of equal zones"
    ),
    "descheduler": (
        "its plugin `RemovePodsViolatingTopologySpreadConstraint` with default arguments and `nodeFit`, as its own"
        " tests run it; evictions are noted, not made; eight times, as it takes any of equal pods"
    ),
    "kube-score": "all its checks, on the Deployment of the situation; compared is `pod-topology-spread-constraints`",
    "kube-linter": "has no check of spread constraints: [what it does find](peers.md)",
    "polaris": "all its checks, on the Deployment of the situation; compared is `topologySpreadConstraint`",
}

SOURCES = {
    "descheduler": "Files are those of the module `sigs.k8s.io/descheduler`.",
    "karpenter": (
        "Files are those of the module `sigs.k8s.io/karpenter`. In a cluster it is asked about pods that kube-scheduler"
        " has refused everywhere; a difference about nodes that are there touches what it simulates before it removes"
        " a node."
    ),
    "cluster-autoscaler": (
        "Files are those of `cluster-autoscaler/` in `kubernetes/autoscaler`. It runs kube-scheduler's own plugins, and"
        " so agrees about spreading. Each pool and zone was asked by itself, about one pod; which of several groups it"
        " would choose, and for how many pods, was not."
    ),
}

LINTERS = """
## Linters

A linter sees the Deployment and no node. In {pending} of the {count} situations no node that is there takes the pod;
of their Deployments kube-score's check fails {score_pending}, Polaris's {polaris_pending}. In the other {placed}, it is
{score_placed} and {polaris_placed}. kube-score asks whether a labelSelector is there and the fields are such as an API
server lets in (`score/podtopologyspreadconstraints/podtopologyspreadconstraints.go`, `podTopologySpreadConstraints`);
here it fails just where the labelSelector is missing, which `topospread lint` finds too
([`selector-missing`](rules/selector-missing.md)). Polaris asks whether there is any constraint
(`pkg/config/checks/topologySpreadConstraint.yaml`), and here there always is. kube-linter has no such check. This is
meant so: none of them claims to know the cluster. [Beside other linters](peers.md) has all of their checks.
"""


def asked_table(versions: Json, asked: set[str]) -> str:
    """Who was asked, of which version, what."""
    rows = [f"| {name} | {versions[name]} | {what} |" for name, what in ASKED.items() if name in asked]
    return "\n".join(["| program | version | how it was asked |", "|---|---|---|", *rows]) + "\n"


def summary_table(answers: Json) -> str:
    """How often each peer answers otherwise, by kind."""
    found = stored.differences(answers)
    rows = ["| program | situations | answers otherwise in | |", "|---|---|---|---|"]
    for peer in ("cluster-autoscaler", "karpenter", "descheduler"):
        asked = sum(peer in each for each in answers.values())
        if not asked:
            continue
        differing = {name for name, finding in found if finding.peer == peer}
        kinds = Counter(finding.kind for _, finding in found if finding.peer == peer)
        words = "; ".join(f"{KINDS[kind]}: {count}" for kind, count in sorted(kinds.items(), key=lambda each: -each[1]))
        rows.append(f"| {peer} | {asked} | {len(differing)} | {words or '–'} |")
    return "\n".join(rows) + "\n"


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
    """One cause: what, why, where in the source, the smallest case of each kind."""
    text = f"\n### {cause.title}\n\n{cause.why}\n\nSource: `{cause.source}`.\n"
    by_kind: dict[str, Json] = {}
    for each in sorted(cases, key=lambda case: (size(case), case["of"])):
        by_kind.setdefault(each["kind"], each)
    for kind, case in by_kind.items():
        about = ", ".join(case["about"])
        text += (
            f"\nIt {KINDS[kind]} (`{about}`):\n\n```text\n"
            + "\n".join(case_lines(case["situation"]) + said(case))
            + "\n```\n"
        )
    return text


def said(case: Json) -> list[str]:
    """What kube-scheduler and the peer answer, a line each."""
    truth, theirs = case["answers"]["kube-scheduler"], case["answers"][case["peer"]]
    if case["peer"] == "descheduler":
        again = [
            f"{words} {', '.join(truth[key])}"
            for key, words in (
                ("again", "would let the pod in again on"),
                ("skewed", "would not let the pod in again on"),
                ("elsewhere", "has another node for the pod of"),
                ("stuck", "has no node for the pod of"),
            )
            if truth[key]
        ]
        evicts = f"evicts from {', '.join(theirs)}" if theirs else "evicts nobody"
        return [f"kube-scheduler: {'; '.join(again)}", f"descheduler: {evicts}"]
    lines = [f"kube-scheduler: {taken(truth['nodes'], truth['new'])}"]
    if case["peer"] == "karpenter":
        words = [each.replace("node ", "uses ").replace("new ", "makes a node of ") for each in theirs]
        return [*lines, f"karpenter: {' or '.join(words).replace('none', 'finds no place')}"]
    return [*lines, f"{case['peer']}: {taken(theirs['nodes'], theirs['groups'])}"]


def taken(nodes: list[str], new: list[str]) -> str:
    """On which nodes the pod may be."""
    return f"takes it on {', '.join(nodes) or 'no node'}, on a new node of {', '.join(new) or 'no pool'}"


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
    values |= {"asked": asked_table(versions, asked), "summary": summary_table(answers)}
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    for peer in ("descheduler", "karpenter", "cluster-autoscaler"):
        if any(each["peer"] == peer for each in found["smallest"]):
            text += section(peer, found["smallest"])
    return text + linters(answers)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
