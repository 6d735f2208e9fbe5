"""Builds Kubernetes' own scheduler integration tests so that they judge a scheduler in another process.

    python build_judge.py OUT PACKAGE…      for example: python build_judge.py build/upstream filters preemption/misc

PACKAGE is a folder of k8s.io/kubernetes/test/integration/scheduler ("." for the top one). For each, OUT/<name>.test
appears. Kubernetes' module is taken from the module cache as a tree of hard links; there scheduler.go gets two lines
more, and external.go is added to its package. Go refuses to overlay files of its module cache. The tree is kept beside
Go's build cache, which goes by paths: every clone of this project finds there what another one has compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULE = HERE / "mod"
ENVIRONMENT = {**os.environ, "GOFLAGS": "-mod=mod", "GOSUMDB": "off"}

RUN = "func (sched *Scheduler) Run(ctx context.Context) {\n"
CHANGES = (
    ("\treturn sched, nil\n}\n", "\tregisterExternal(sched, options)\n\treturn sched, nil\n}\n"),
    (RUN, f"{RUN}\tif sched.runExternal(ctx) {{\n\t\treturn\n\t}}\n"),
)
QUEUEING = "test/integration/scheduler/queueing/queue.go"
DRIVEN = "\tswitch tt.ExpectedInitialRejectingPhase {\n"
REQUEUES = (
    (
        DRIVEN,
        f'\tif os.Getenv("EXTERNAL_SCHEDULER") != "" {{\n\t\tjudgeRequeues(t, testCtx, tt)\n\t\treturn\n\t}}\n{DRIVEN}',
    ),
    ('\t"fmt"\n', '\t"fmt"\n\t"os"\n'),
)
"""The cases of requeueing drive the scheduler's own queue; with an external one its log is judged (requeues.go)."""
GATE = (
    "\t\t\tfeaturegatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, "
    "features.MatchLabelKeysInPodTopologySpread, tt.enableMatchLabelKeys)\n"
)
EMULATES = "if !tt.enableNodeInclusionPolicy {"
OF_SPREAD = ("filters/filters_test.go", "scoring/priorities_test.go")
"""Two tests of spread emulate 1.32 to switch gates off that 1.37 locks, where kube-scheduler 1.37 itself could not
follow as an external one. They keep 1.37's gates here; their cases are skipped (-test.skip feature_gate_disabled)."""


def go(*words: str) -> str:
    """What a go command prints."""
    return subprocess.run(
        ["go", *words], cwd=MODULE, env=ENVIRONMENT, check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def changed_tree() -> Path:
    """Kubernetes' source with the changes, as a tree of its own, named after what is changed."""
    root = Path(go("list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").strip())
    files = changed_files(root)
    digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:12]
    trees = Path(go("env", "GOCACHE").strip()).parent / "topospread-judges"
    tree = trees / f"{root.name}-{digest}"
    if tree.exists():
        return tree
    trees.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=trees))
    made = beside / root.name
    if subprocess.run(["cp", "-al", root, made], check=False, stderr=subprocess.DEVNULL).returncode:
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(root, made)
    for name, content in files.items():
        file = made / name
        file.parent.chmod(0o755)  # the module cache is read-only
        file.unlink(missing_ok=True)  # never write through the hard link
        file.write_text(content)
    made.chmod(0o755)
    try:
        made.rename(tree)
        beside.rmdir()
    except OSError:  # another clone was faster
        if not tree.exists():
            raise
        shutil.rmtree(beside)
    return tree


def changed_files(root: Path) -> dict[str, str]:
    """What is not as in Kubernetes' source, by its path there."""
    source = "pkg/scheduler/scheduler.go"
    files = {source: replaced((root / source).read_text(), CHANGES)}
    files[QUEUEING] = replaced((root / QUEUEING).read_text(), REQUEUES)
    files["test/integration/scheduler/queueing/requeues.go"] = (HERE / "requeues.go").read_text()
    files["pkg/scheduler/external.go"] = (HERE / "external.go").read_text()
    for name in OF_SPREAD:
        path = f"test/integration/scheduler/{name}"
        files[path] = replaced((root / path).read_text(), ((EMULATES, "if false {"), (GATE, "")))
    return files


def replaced(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    """The text with each change made, each of which has to fit once."""
    for old, new in changes:
        if text.count(old) != 1:
            raise SystemExit(f"Kubernetes' source is another one than expected: {text.count(old)} times {old!r}")
        text = text.replace(old, new)
    return text


def main() -> None:
    """Build what the command line names."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    out = out.resolve()
    modfile = out / "judge.mod"
    shutil.copy(MODULE / "go.mod", modfile)
    shutil.copy(MODULE / "go.sum", out / "judge.sum")
    go("mod", "edit", f"-replace=k8s.io/kubernetes={changed_tree()}", str(modfile))
    for package in sys.argv[2:]:
        started = time.monotonic()
        name = "scheduler" if package == "." else package.replace("/", "_")
        path = "k8s.io/kubernetes/test/integration/scheduler" + ("" if package == "." else f"/{package}")
        go("test", "-c", f"-modfile={modfile}", "-ldflags", "-s -w", "-o", str(out / f"{name}.test"), path)
        print(f"{name}.test, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
