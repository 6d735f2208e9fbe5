"""The peers as programs: built where they are missing, asked in one run each. Judges nothing.

kube-scheduler is the conformance oracle. descheduler's and Karpenter's modules come from the module proxy;
cluster-autoscaler, which it does not serve, from a folder with its sources (`AUTOSCALER_SOURCES=DIR`, the repository at
the tag below). Karpenter and cluster-autoscaler are built inside their own source trees, with the modules they pin.
Programs that are built already are taken from `FIELD_BIN=DIR`, else `build/field`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.field import questions
from conformance.field.situations import cluster, manifest, new_nodes
from conformance.peers import PEERS, Peer, program
from conformance.programs import ROOT, ProgramError, oracle, python_program

Json = dict[str, Any]

HERE = Path(__file__).parent
BUILD = ROOT / "build" / "field"
VERSIONS = {
    "kube-scheduler": "1.37.0",
    "cluster-autoscaler": "1.36.1",
    "karpenter": "1.15.0",
    "descheduler": "0.36.0",
    **{peer.name: peer.release for peer in PEERS},
}
KARPENTER = "sigs.k8s.io/karpenter"
LINTERS = {"kube-score": "pod-topology-spread-constraints", "polaris": "topologySpreadConstraint"}
"""The check of each linter that is about spread constraints; kube-linter has none."""
TIMES = {"descheduler": 8, "karpenter": 64}
"""How often these are asked: which of equal pods, or zones, they take is the order of a Go map."""


def built(name: str) -> Path:
    """The program of a Go peer.

    Raises:
        ProgramError: it is not there and cannot be built.
    """
    path = Path(os.environ.get("FIELD_BIN", BUILD)) / name
    if not os.access(path, os.X_OK):
        path.parent.mkdir(parents=True, exist_ok=True)
        print(f"building {name}", file=sys.stderr)
        {"karpenter": _karpenter, "autoscaler": _autoscaler, "descheduler": _descheduler}[name](path)
    return path


def _go(folder: Path, *words: str) -> str:
    environment = os.environ | {"GOFLAGS": "-mod=mod -buildvcs=false", "GOSUMDB": "off"}
    done = subprocess.run(["go", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode and words[0] == "build":
        raise ProgramError(f"go {' '.join(words)}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _descheduler(path: Path) -> None:
    _go(ROOT / "conformance" / "descheduler", "build", "-o", str(path), ".")


def _karpenter(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        module = f"{KARPENTER}@v{VERSIONS['karpenter']}"
        archive = json.loads(_go(Path(folder), "mod", "download", "-json", module))["Zip"]
        zipfile.ZipFile(archive).extractall(folder)
        tree = Path(folder, module)
        # Its go.mod asks for a patch release of Go; any of that minor release compiles it.
        mod = tree / "go.mod"
        mod.write_text(re.sub(r"(?m)^go (\d+\.\d+)\.\d+$", r"go \1.0", mod.read_text()))
        _build_inside(tree, "karpenter", path)


def _autoscaler(path: Path) -> None:
    sources = os.environ.get("AUTOSCALER_SOURCES")
    if not sources:
        wanted = f"cluster-autoscaler-{VERSIONS['cluster-autoscaler']}"
        raise ProgramError(f"AUTOSCALER_SOURCES=DIR has to name kubernetes/autoscaler's repository at {wanted}")
    with tempfile.TemporaryDirectory() as folder:
        tree = shutil.copytree(Path(sources, "cluster-autoscaler"), Path(folder, "cluster-autoscaler"))
        _build_inside(Path(tree), "autoscaler", path)


def _build_inside(tree: Path, name: str, path: Path) -> None:
    shutil.copytree(HERE / name, tree / "field")
    _go(tree, "build", "-o", str(path), "./field")


def asked_in_one_run(command: list[str], cases: list[Json]) -> list[Any]:
    """The answers of a program, a line each.

    Raises:
        ProgramError: it fails, or does not answer all.
    """
    given = "".join(json.dumps(each) + "\n" for each in cases)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(cases):
        raise ProgramError(f"{command[0]}: {len(answers)} of {len(cases)} answers: {done.stderr.strip()[-800:]}")
    return answers


def _judged(command: list[str], situations: list[Json], kinds: tuple[str, ...] = questions.ASKED) -> list[Json]:
    asked = [questions.cases(each, kinds) for each in situations]
    answers = iter(asked_in_one_run(command, [case for cases in asked for case in cases]))
    out = []
    for cases in asked:
        verdicts = []
        for case in cases:
            found = next(answers)
            if found.get("error") or found["verdicts"][0].get("error"):
                raise ProgramError(f"{command[0]}, {case['name']}: {found}")
            verdicts.append(found["verdicts"][0])
        out.append(questions.answer(cases, verdicts))
    return out


def kube_scheduler(situations: list[Json], kinds: tuple[str, ...] = questions.ASKED) -> list[Json]:
    """kube-scheduler's own plugins."""
    folder = os.environ.get("ORACLE_BIN")
    return _judged(oracle("oracle-1.37", "1.37", Path(folder) if folder else None).command, situations, kinds)


def topospread(situations: list[Json]) -> list[Json]:
    """Ours, as a program."""
    return _judged(python_program(ROOT / "conformance" / "judge.py").command, situations)


def cluster_autoscaler(situations: list[Json]) -> list[Json]:
    """Which nodes its predicates let the pod on, and which new nodes its estimator finds of help."""
    cases = [cluster(each) | {"groups": new_nodes(each)} for each in situations]
    return asked_in_one_run([str(built("autoscaler"))], cases)


def karpenter(situations: list[Json], times: int = TIMES["karpenter"]) -> list[list[str]]:
    """All that comes of its Solve: `node N`, `new POOL/ZONE` or `none`."""
    cases = [cluster(each) | {"pools": each["pools"]} for each in situations]
    return asked_in_one_run([str(built("karpenter")), "-times", str(times)], cases)


def descheduler(situations: list[Json], times: int = TIMES["descheduler"]) -> list[list[str]]:
    """The nodes that it evicts pods from."""
    cases = [cluster(each) for each in situations for _ in range(times)]
    answers = iter(asked_in_one_run([str(built("descheduler"))], cases))
    out = []
    for each in situations:
        on = {f"web-{i}": standing["on"] for i, standing in enumerate(each["pods"])}
        out.append(sorted({on[name] for _ in range(times) for name in next(answers)}))
    return out


def linters(situations: list[Json]) -> list[Json]:
    """Whether each linter's check of spread constraints fails on the Deployment."""
    # How many replicas there are is no matter of these checks.
    texts = [json.dumps(manifest(each | {"pods": []})) for each in situations]
    found = {peer.name: _lint(peer, sorted(set(texts))) for peer in PEERS if peer.name in LINTERS}
    return [{name: text in failing for name, failing in found.items()} for text in texts]


def _lint(peer: Peer, texts: list[str]) -> set[str]:
    """The manifests on which the linter's check fails, all read from one file, each under a name of its own."""
    named = []
    for number, text in enumerate(texts):
        made = json.loads(text)
        made["metadata"]["name"] = f"web-{number}"
        named.append(json.dumps(made))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "manifests.yaml")
        file.write_text("\n---\n".join(named))
        done = subprocess.run([program(peer), *peer.arguments, str(file)], capture_output=True, text=True, check=False)
    try:
        printed = json.loads(done.stdout)
    except ValueError:
        raise ProgramError(f"{peer.name}: {done.stderr.strip()[-300:] or done.stdout[:300]}") from None
    # kube-score lists objects, Polaris has them under Results.
    listed = printed["Results"] if isinstance(printed, dict) else printed
    failing = set()
    for each in listed:
        found = peer.found({"Results": each} if isinstance(printed, dict) else [each])
        if LINTERS[peer.name] in found:
            failing.add((each.get("object_name") or each["Name"]).rpartition("/")[2])
    if len(listed) != len(texts):
        raise ProgramError(f"{peer.name} answers {len(listed)} of {len(texts)} manifests")
    return {text for number, text in enumerate(texts) if f"web-{number}" in failing}


ASKED: dict[str, Callable[[list[Json]], list[Any]]] = {
    "kube-scheduler": kube_scheduler,
    "topospread": topospread,
    "cluster-autoscaler": cluster_autoscaler,
    "karpenter": karpenter,
    "descheduler": descheduler,
    "linters": linters,
}


def answers(situations: list[Json], names: tuple[str, ...] = tuple(ASKED)) -> list[Json]:
    """What each peer says of each situation."""
    columns: dict[str, list[Any]] = {}
    for name in names:
        print(f"asking {name} about {len(situations)}", file=sys.stderr)
        columns[name] = ASKED[name](situations)
    return [{name: columns[name][i] for name in names} for i in range(len(situations))]
