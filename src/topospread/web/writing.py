"""Trials as text for other tools: commands, Drill files and patches."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from topospread.api.yaml_text import yaml_text
from topospread.drill import steps
from topospread.drill.drill_file import API_VERSION, FIELD_OF
from topospread.drill.patching import PatchedObject
from topospread.text import shell_line

from .served import ServedCluster
from .timeline import Timeline
from .trials import TrialStep, manifest_name

Json = dict[str, Any]
_FIXED = (1980, 1, 1, 0, 0, 0)
"""Timestamp of every file in an archive, so that equal trials give equal archives."""


def as_command(timeline: Timeline, served: ServedCluster) -> str:
    """Return ``topospread drill …``; manifests of patches are next to the Drill file."""
    words = ["topospread", "drill", *served.input.words]
    for number, step in enumerate(timeline.steps):
        words += _option(step, number)
    return shell_line(words)


def _option(step: TrialStep, number: int) -> list[str]:
    match step:
        case PatchedObject():
            return ["--apply", manifest_name(number)]
        case steps.AddNodes():
            return ["--add-nodes", str(step.number), "--like", step.like, *(["--zone", step.zone] if step.zone else [])]
        case steps.Wait():
            return ["--wait", f"{round(step.seconds)}s"]
    name, _, rest = str(step).partition(" ")
    return [f"--{name}", rest]


def _in_file(step: TrialStep, number: int) -> Json:
    match step:
        case PatchedObject():
            return {"apply": manifest_name(number)}
        case steps.AddNodes():
            zone = {"zone": step.zone} if step.zone else {}
            return {"addNodes": {"number": step.number, "like": step.like, **zone}}
        case steps.Wait():
            return {"wait": f"{round(step.seconds)}s"}
    name, _, rest = str(step).partition(" ")
    return {FIELD_OF.get(name, name): rest}


def as_drill(timeline: Timeline, served: ServedCluster) -> str:
    """Return a ``kind: Drill`` file with the steps. It expects the current pending pods and violated budgets."""
    words = served.input
    spec: Json = {}
    if words.cluster:
        spec["cluster"] = words.cluster
    if words.paths:
        spec["manifests"] = list(words.paths)
    spec["kubeVersion"] = served.options.kube_version
    spec["steps"] = [_in_file(step, number) for number, step in enumerate(timeline.steps)]
    pending = sum(len(each.pods) for each in timeline.drill.pending)
    spec["expect"] = {"pending": pending, "brokenBudgets": len(timeline.drill.breaches)}
    drill = {"apiVersion": API_VERSION, "kind": "Drill", "metadata": {"name": "what-if"}, "spec": spec}
    dumped = "# topospread dump writes cluster.json.gz, the cluster of the page.\n" if words.live else ""
    return (
        dumped + "# Paths are relative to this file. The expectations are the results at the time of writing;\n"
        "# topospread drill --check what-if.yaml shows whether the steps still have them.\n" + yaml_text(drill)
    )


def as_file(timeline: Timeline, served: ServedCluster) -> tuple[str, bytes]:
    """Return (file name, content): the Drill file, or an archive if the trial has manifests."""
    text = as_drill(timeline, served)
    if not timeline.manifests:
        return "what-if.yaml", text.encode()
    packed = io.BytesIO()
    files = {"what-if.yaml": text} | {name: yaml_text(each) for name, each in timeline.manifests.items()}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _FIXED), content)
    return "what-if.zip", packed.getvalue()


def as_copies(step: TrialStep, number: int, served: ServedCluster) -> tuple[str, str]:
    """Return (YAML patch, command) of a step, for copying. The patch is "" if the step changes no object.

    The command is kubectl's; for node failures and waits, it is `topospread drill`.
    """
    match step:
        case PatchedObject():
            words = [*_of(step.namespace), "patch", f"{step.kind.lower()}/{step.name}", "--type", "json"]
            return yaml_text(step.operations), shell_line(["kubectl", *words, "--patch-file", "patch.yaml"])
        case steps.Scale():
            words = [*_named("scale", step.target), "--replicas", str(step.replicas)]
            return _replacing("/spec/replicas", step.replicas), shell_line(words)
        case steps.Rollout() if not step.path and not step.turns:
            return "", shell_line(_named("rollout restart", step.target))
        case steps.Cordon() | steps.Uncordon() | steps.Drain():
            verb = type(step).__name__.lower()
            more = ["--ignore-daemonsets"] if verb == "drain" else []
            more += ["--force", "--disable-eviction"] if step == steps.Drain(step.nodes, forced=True) else []
            patch = "" if verb == "drain" else _replacing("/spec/unschedulable", verb == "cordon")
            label, name = step.nodes.labels[0], step.nodes.value
            chosen = ["-l", f"{label}={name}"] if label else ["--"] * name.startswith("-") + [name]
            return patch, shell_line(["kubectl", verb, *more, *chosen])
    return "", shell_line(["topospread", "drill", *served.input.words, *_option(step, number)])


def _replacing(path: str, value: object) -> str:
    """Return an ``add`` operation, which replaces an existing value (RFC 6902)."""
    return yaml_text([{"op": "add", "path": path, "value": value}])


def _of(namespace: str) -> list[str]:
    return ["-n", namespace] if namespace else []


def _named(verb: str, target: str) -> list[str]:
    """Return the words of a kubectl command on ``[NAMESPACE/]KIND/NAME``."""
    *namespace, kind, name = target.split("/")
    return ["kubectl", *_of("".join(namespace)), *verb.split(), f"{kind}/{name}"]
