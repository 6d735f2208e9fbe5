"""A simulation ends where a real cluster would: no pod waits that would find a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import topospread
from topospread.simulation.options import SimulationOptions
from topospread.simulation.placing import place_all
from topospread.simulation.run import Run, prepare

Json = dict[str, Any]
APPS = ["a", "b", "c"]


def _node(number: int) -> Json:
    labels = {"kubernetes.io/hostname": f"n{number}", "zone": f"z{number % 2}"}
    allocatable = {"cpu": "3", "memory": "8Gi", "pods": "5"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number}", "labels": labels},
        "status": {"allocatable": allocatable},
    }


def _term(key: str, app: str, anywhere: bool) -> Json:
    term: Json = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return term | ({"namespaceSelector": {"matchLabels": {"any": "yes"}}} if anywhere else {})


@st.composite
def _pods(draw: st.DrawFn) -> Json:
    """A pod: small, with a wish or two about the others."""
    container: Json = {"name": "c", "image": "x"}
    container["resources"] = {"requests": {"cpu": draw(st.sampled_from(["500m", "1", "2"]))}}
    if draw(st.booleans()):
        container["ports"] = [{"containerPort": 80, "hostPort": draw(st.sampled_from([80, 81]))}]
    spec: Json = {"containers": [container], "priority": draw(st.sampled_from([0, 0, 5, 9]))}
    if draw(st.booleans()):
        spec["preemptionPolicy"] = "Never"
    key, app = draw(st.sampled_from(["kubernetes.io/hostname", "zone"])), draw(st.sampled_from(APPS))
    wish = draw(st.sampled_from(["", "spread", "podAffinity", "podAntiAffinity"]))
    if wish == "spread":
        constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [constraint | {"labelSelector": {"matchLabels": {"app": app}}}]
    elif wish:
        term = _term(key, app, draw(st.booleans()))
        spec["affinity"] = {wish: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if draw(st.integers(0, 2)) == 0:
        spec["nodeName"] = f"n{draw(st.integers(0, 2))}"
    labels = {"app": draw(st.sampled_from(APPS))}
    namespace = draw(st.sampled_from(["one", "two"]))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "labels": labels}, "spec": spec}


def _run(folder: Path, pods: list[Json], preemption: bool) -> Run:
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"any": "yes"}}}
        for name in ("one", "two")
    ]
    named = [each | {"metadata": each["metadata"] | {"name": f"p{i}"}} for i, each in enumerate(pods)]
    file = folder / "cluster.json"
    items = [*map(_node, range(3)), *namespaces, *named]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return prepare(topospread.load(str(file)), SimulationOptions(preemption=preemption))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_pods(), min_size=2, max_size=14), st.booleans())
def test_no_pod_waits_that_would_find_a_node(tmp_path: Path, pods: list[Json], preemption: bool) -> None:
    run = _run(tmp_path, pods, preemption)
    place_all(run)
    for queued in run.queue:
        outcome = run.outcomes[id(queued)]
        if outcome.pending:
            assert not run.scheduler.verdict(queued.pod, queued.name).feasible, queued.name
