"""Where editions of the documentation disagree, as cases: asks kube-scheduler, keeps what it says, prints the page.

    python -m conformance.editions --oracle-bin DIR            compare what the oracles say now with what is kept
    python -m conformance.editions --oracle-bin DIR --write    keep what they say, and write docs/reference/editions.md

The rows stand in tests/conformance/editions.yaml, the verdicts beside them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "tests" / "conformance" / "editions.yaml"
VERDICTS = ROOT / "tests" / "conformance" / "editions.verdicts.json"
PAGE = ROOT / "docs" / "reference" / "editions.md"
JUDGED = ("1.27", "1.35", "1.36", "1.37")
"""Versions whose own source judges a row, where it does not name others."""

Json = dict[str, Any]
_SELECTOR = {"matchLabels": {"app": "web"}}


def rows() -> list[Json]:
    """The rows, as they stand in the file."""
    found: list[Json] = yaml.safe_load(ROWS.read_text(encoding="utf-8"))
    return found


def stored() -> dict[str, Json]:
    """Row → version → what kube-scheduler (or the API server) says."""
    found: dict[str, Json] = json.loads(VERDICTS.read_text(encoding="utf-8"))
    return found


def versions(row: Json) -> tuple[str, ...]:
    """The versions that judge a row; manifests and configurations are judged by the newest alone."""
    return ("1.37",) if is_validated(row) else tuple(row.get("versions", JUDGED))


def is_validated(row: Json) -> bool:
    """Whether a row is about what is refused, not about placement."""
    return "manifest" in row or "configuration" in row


def case_of(row: Json, version: str) -> Json:
    """A row as a case for the oracle, or as an object for ``validate``."""
    if "configuration" in row:
        profile = {"pluginConfig": [{"name": "PodTopologySpread", "args": row["configuration"]}]}
        api_version, kind = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"
        return {"apiVersion": api_version, "kind": kind, "profiles": [{"schedulerName": "default-scheduler"} | profile]}
    if "manifest" in row:
        constraint = {"labelSelector": _SELECTOR} | row["manifest"]
        return {"apiVersion": "v1", "kind": "Pod"} | _pod("mypod", topologySpreadConstraints=[constraint])
    case: Json = {"name": row["name"], "kubeVersion": version, "nodes": list(_nodes(row))}
    if "gates" in row:
        case["featureGates"] = row["gates"]
    case["pods"] = [_pod(f"web-{i}", nodeName=node) for i, node in enumerate(row["pods"])]
    case["incoming"] = [_incoming(row)]
    if row.get("service"):
        metadata = {"name": "web", "namespace": "default"}
        case["services"] = [{"metadata": metadata, "spec": {"selector": {"app": "web"}}}]
    return case


def _nodes(row: Json) -> Iterator[Json]:
    for name, labels in row["nodes"].items():
        allocatable = {"cpu": "8", "memory": "16Gi", "pods": "110"}
        node: Json = {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}}
        if name in row.get("taints", {}):
            node["spec"] = {"taints": row["taints"][name]}
        yield node


def _incoming(row: Json) -> Json:
    usual = {"labelSelector": _SELECTOR, "whenUnsatisfiable": "DoNotSchedule"}
    constraints = [usual | each for each in row.get("constraints", ())]
    pod = _pod("mypod", **({"topologySpreadConstraints": constraints} if constraints else {}), **row.get("pod", {}))
    if "labels" in row:
        pod["metadata"]["labels"] = row["labels"]
    return pod


def _pod(name: str, **spec: Any) -> Json:
    containers = [{"name": "c", "image": "image", "resources": {"requests": {"cpu": "100m"}}}]
    metadata = {"name": name, "namespace": "default", "labels": {"app": "web"}}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


def outcome(answer: Json) -> Json:
    """What a row is about, of an answer: ``refused``, or ``feasible`` and PodTopologySpread's ``points`` by node."""
    if "errors" in answer:
        return {"refused": bool(answer["errors"] or "decode" in answer)}
    (verdict,) = answer["verdicts"]
    scores = verdict.get("scores", {})
    points = {node: scores.get(node, {}).get("PodTopologySpread", 0) for node in verdict["feasible"]}
    return {"feasible": verdict["feasible"], "points": points}


def follows(claim: Mapping[str, Any], found: Json) -> bool | None:
    """Whether an edition's sentence agrees with an outcome; ``None`` where nothing follows from it.

    ``points``: those of the nodes it names; ``{}`` says that no node gets more than another.
    """
    if "points" in claim:
        points = claim["points"]
        if not points:
            return len(set(found["points"].values())) == 1
        return all(found["points"].get(node) == value for node, value in points.items())
    if "includes" in claim:
        return set(claim["includes"]) <= set(found["feasible"])
    return next((found[key] == claim[key] for key in ("feasible", "refused") if key in claim), None)


def asked(folder: Path) -> dict[str, Json]:
    """What the programs in a folder say of every row."""
    answers: dict[str, Json] = {row["name"]: {} for row in rows()}
    for version in JUDGED:
        placed = [row for row in rows() if version in versions(row) and not is_validated(row)]
        for row, answer in zip(placed, _run(folder / f"oracle-{version}", placed, version), strict=True):
            answers[row["name"]][version] = answer
    refused = [row for row in rows() if is_validated(row)]
    for row, answer in zip(refused, _run(folder / "validate", refused, "1.37"), strict=True):
        answers[row["name"]]["1.37"] = answer
    return answers


def _run(program: Path, asked_about: list[Json], version: str) -> list[Json]:
    text = "".join(json.dumps(case_of(row, version)) + "\n" for row in asked_about)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(row: Json, version: str) -> Json:
    """What topospread says of a row."""
    from conformance.judge import validated
    from conformance.judging.cases import judge_case

    return validated(case_of(row, version)) if is_validated(row) else judge_case(case_of(row, version))


_EDITIONS = {"en": "English", "fr": "French", "ja": "Japanese", "zh": "Chinese", "api": "API description"}
_HEAD = """\
# Where the editions of the documentation disagree

The page “Pod Topology Spread Constraints” exists in English (of about 1.27), French (1.18), Japanese (1.31) and Chinese
(1.29). The API description is that of the client libraries. Each section asks a question and lists nodes with their
labels and number of matching pods. Then it gives each edition's answer in our words, with the nodes that take the pod.
The right answer is in bold: of kube-scheduler 1.27, 1.35, 1.36 and 1.37, or of the version named, or of the API server
of 1.37. topospread gives the same answers.

Printed by `python -m conformance.editions`.
"""


def page() -> str:
    """Return the whole page, with a section for each row on which an edition is wrong."""
    verdicts = stored()
    disputed = []
    for row in rows():
        found = _found(row, verdicts[row["name"]])
        wrong = any(follows(claim, found) is False for claim in row["editions"].values())
        if wrong:
            verdict = f"**{_verdict(row, verdicts[row['name']], found)}.** {row['answer'].strip()}"
            disputed.append(f"\n## {row['question']}\n\n{_given(row)}{_claims(row, found)}\n{verdict}\n")
    return "".join([_HEAD, *disputed])


def _found(row: Json, verdicts: Mapping[str, Json]) -> Json:
    """The outcome in the newest version that the row is about; where none is judged, topospread's own."""
    if verdicts:
        return outcome(verdicts[versions(row)[-1]])
    return outcome(ours(row, row["read"][-1]))


def _claims(row: Json, found: Json) -> str:
    """Return a line for each different sentence, with the editions that have it."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, claim in row["editions"].items():
        mark = {True: "right", False: "**wrong**", None: "not stated"}[follows(claim, found)]
        shown = f", so {_shown(claim)}" if _shown(claim) else ""
        groups.setdefault((mark, f"{claim['says']}{shown}"), []).append(_EDITIONS[name])
    return "".join(f"- {', '.join(names)} ({mark}): {text}\n" for (mark, text), names in groups.items())


def _verdict(row: Json, verdicts: Mapping[str, Json], found: Json) -> str:
    """Return the outcome with the versions that judged it."""
    if not verdicts:
        return f"topospread as {', '.join(row['read'])}, from reading its source: {_what(row, found)}"
    groups: dict[str, list[str]] = {}
    for version, answer in verdicts.items():
        groups.setdefault(_what(row, outcome(answer)), []).append(version)
    who = "API server" if "manifest" in row else "kube-scheduler"
    shown = {what: "" if tuple(which) == versions(row) else f" {', '.join(which)}" for what, which in groups.items()}
    return "; ".join(f"{who}{which}: {what}" for what, which in shown.items())


def _given(row: Json) -> str:
    """The case in a sentence."""
    if is_validated(row):
        return f"`{json.dumps(row.get('manifest') or row['configuration'])}`\n\n"
    counts: dict[str, int] = dict.fromkeys(row["nodes"], 0)
    for node in row["pods"]:
        counts[node] += 1
    nodes = [f"{node} ({_labels(labels)}; {counts[node]})" for node, labels in row["nodes"].items()]
    constraints = [f"`{json.dumps(each)}`" for each in row.get("constraints", ())]
    asks = " and ".join(constraints) or "no constraint of its own"
    gates = "".join(f" {name} is {'on' if on else 'off'}." for name, on in row.get("gates", {}).items())
    return f"Nodes: {', '.join(nodes)}. The pod has {asks}.{gates}\n\n"


def _labels(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key.rpartition('/')[2]}={value}" for key, value in labels.items())


def _shown(claim: Mapping[str, Any]) -> str:
    if "refused" in claim:
        return "refused" if claim["refused"] else "accepted"
    if "points" in claim:
        return ", ".join(f"{node} gets {points}" for node, points in claim["points"].items()) or "the same for all"
    if "includes" in claim:
        return f"{', '.join(claim['includes'])} at least"
    return (", ".join(claim["feasible"]) or "pending") if "feasible" in claim else ""


def _what(row: Json, found: Json) -> str:
    """An outcome, as far as the row is about it."""
    if "refused" in found:
        return "refused" if found["refused"] else "accepted"
    about_points = any("points" in claim for claim in row["editions"].values())
    if not about_points:
        return ", ".join(found["feasible"]) or "pending"
    return ", ".join(f"{node} gets {points}" for node, points in sorted(found["points"].items()))


def main() -> int:
    """Compares or writes; ends with 1 when an oracle says something else than what is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle-bin", type=Path, required=True, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="keep what the oracles say, and write the page")
    options = parser.parse_args()
    found = asked(options.oracle_bin)
    if options.write:
        VERDICTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    different = [name for name, answers in found.items() if answers != stored().get(name)]
    print(
        f"{len(found) - len(different)} of {len(found)} rows are judged as kept"
        + "".join(map("\n  {}".format, different))
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
