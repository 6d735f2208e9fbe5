"""A session holds the cluster and the options once; client objects are recognised by their shape."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

import topospread
from tests.unit.drill import builders
from topospread.answer import Remedy, Tried
from topospread.drill.steps import Fail, NodeChoice, Uncordon
from topospread.errors import TopospreadError, UnknownVerdictError
from topospread.promise.fresh import without_placed_pods
from topospread.simulation.simulate import simulate
from topospread.sources.client_objects import plain_object

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "docs/how-to/shop.json"
CLUSTER = "zones=3,nodes=6"
ONCALL = ROOT / "docs/how-to/on-call/cluster.yaml"


def test_questions_give_the_answers_of_the_functions() -> None:
    session = topospread.Session(str(SHOP))
    assert session.status().verdict == "no"
    assert session.rebalance().verdict == "yes"
    assert session.simulate().verdict == "yes"
    oncall = topospread.Session(ONCALL)
    assert oncall.why("deploy/checkout", namespace="shop").verdict == "no"
    assert repr(oncall) == "<Session 6 nodes, 14 pods, v1.37>"


def test_other_options_on_the_same_cluster() -> None:
    session = topospread.Session("zones=3,nodes=6")
    older = session.but(kube_version="1.33")
    assert older.inventory is session.inventory
    assert (session.kube_version, older.kube_version) == ("1.37", "1.33")
    assert older.but().kube_version == "1.33"


def node(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
    }


def test_objects_are_read_as_dictionaries() -> None:
    session = topospread.Session([node("a"), node("b")])
    assert [each.name for each in session.inventory.nodes] == ["a", "b"]
    with topospread.Session(node("c")) as single:
        assert len(single.inventory.nodes) == 1


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "web", "image": "web"}]},
}


def test_manifests_are_paths_or_objects(tmp_path: Path) -> None:
    (tmp_path / "pod.json").write_text(json.dumps(POD))
    session = topospread.Session(CLUSTER)
    other = {**POD, "metadata": {"name": "api"}}
    for manifests in ([POD], POD, [tmp_path / "pod.json"]):
        assert [each.name for each in session.after(manifests=manifests).inventory.pods] == ["web"]
    assert len(session.simulate(POD, other).placements) == 2
    both = session.after(manifests=[other, tmp_path / "pod.json"]).inventory.pods
    assert sorted(each.name for each in both) == ["api", "web"]


class V1ObjectMeta:
    """As the client kubernetes has its models: snake_case attributes and a map of them."""

    attribute_map: ClassVar = {"name": "name", "creation_timestamp": "creationTimestamp", "labels": "labels"}

    def __init__(self) -> None:
        self.name, self.labels = "web", None
        self.creation_timestamp = datetime(2026, 1, 1, tzinfo=UTC)


class V1Deployment:
    """A list's item, whose kind and API version are not set."""

    attribute_map: ClassVar = {"api_version": "apiVersion", "kind": "kind", "metadata": "metadata"}

    def __init__(self) -> None:
        self.api_version = self.kind = None
        self.metadata = V1ObjectMeta()


class Pod:
    """As kr8s and lightkube have theirs."""

    def __init__(self, **kept: Any) -> None:
        self.__dict__.update(kept)


class Frame(list[str]):
    """Like a data frame: no truth value, and its items are the names of its columns."""

    @property
    def columns(self) -> list[str]:
        return list(self)

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a DataFrame is ambiguous")


def test_models_of_clients_are_recognised_by_their_shape() -> None:
    found = plain_object(V1Deployment())
    assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")
    assert found["metadata"] == {"name": "web", "creationTimestamp": datetime(2026, 1, 1, tzinfo=UTC)}
    named = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}}
    assert plain_object(Pod(raw=named)) == named
    assert plain_object(Pod(to_dict=lambda: {"metadata": {"name": "p"}})) == named


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: topospread.Session(CLUSTER, kube_version=1.30), r'kube_version: 1.3 is not text: write "1.30"'),
        (lambda: topospread.Session(CLUSTER, kube_version="1.99"), "Kubernetes 1.99 is not supported"),
        (lambda: topospread.Session(CLUSTER, gates={"A": True}), 'write "A=true,apiserver:B=false"'),
        (lambda: topospread.Session(CLUSTER, gates="Nope=true"), "unrecognized feature gate: Nope"),
        (lambda: topospread.Session(CLUSTER, render="no"), "render='no': use 'auto' or 'never'"),
        (lambda: topospread.Session(5), "on: int: expected"),
        (lambda: topospread.Session([]), "on: empty list: expected"),
        (lambda: topospread.Session(""), "on: empty str: expected"),
        (lambda: topospread.Session(Frame(["a"])), "on: Frame: expected"),
        (lambda: topospread.Session(CLUSTER).drill(), "drill: give at least one step, for example steps.Fail"),
        (lambda: topospread.Session([1]), "int: expected a Kubernetes object"),
        (lambda: topospread.Session("zones=3,nodes=x"), "nodes=x: expected a whole number"),
        (lambda: topospread.Session(CLUSTER).simulate(autoscale="most"), "autoscale='most': use 'keep' or 'min'"),
        (lambda: topospread.Session(CLUSTER).simulate(scale={"web": "x"}), "scale web='x': use a whole number of at"),
        (lambda: topospread.Session(CLUSTER).status(keys="zone"), "keys='zone': use a list of strings"),
        (lambda: topospread.Session(CLUSTER).status(keys=5), "keys=5: use a list of strings"),
        (lambda: topospread.Session(CLUSTER).capacity("web", more=None), "more=None: leave it out for its default"),
        (lambda: topospread.Session(CLUSTER).capacity("web", pools=5), "pools=5: use a path or a list of paths"),
        (lambda: topospread.Session(CLUSTER).simulate(scale=5), 'scale=5: use a dict, {"deploy/web": 3}'),
        (lambda: topospread.Session(CLUSTER).status({"kind": "Pod"}), r"got a dict; give objects to Session\(\["),
        (lambda: topospread.Session(CLUSTER).why({"kind": "Pod"}), r"got a dict; give objects to Session\(\["),
        (lambda: topospread.Session([node("a")]).simulate(POD), "manifests: the cluster was given as objects, too"),
        (lambda: topospread.Session(CLUSTER).after(manifests=[5]), "int: expected a Kubernetes object"),
        (lambda: topospread.Session(CLUSTER).after(manifests=5), "manifests=5: use a path, an object or a list"),
        (lambda: topospread.Session(CLUSTER).but(kube_verison="1.30"), "kube_verison: unknown parameter; known "),
        (lambda: topospread.Session(CLUSTER).with_patch(5), "int: expected a remedy of an answer"),
        (lambda: topospread.Session(CLUSTER).simulate(replicas=3), "replicas: unknown parameter; known are scale, "),
        (lambda: topospread.Session(CLUSTER).simulate(ns="shop"), "ns: unknown parameter; known are .*, namespace$"),
        (lambda: topospread.Session(CLUSTER).drill("zone=zone-a"), "'zone=zone-a' is not a step: write steps.Fail"),
        (lambda: topospread.Session(CLUSTER).drill_each("rack"), "each='rack': use 'zone' or 'node' or 'deploy'"),
        (lambda: Fail("zone=zone-a"), r"Fail\('zone=zone-a'\): write Fail\(NodeChoice\(\"zone\", \"zone-a\"\)\)"),
    ],
)  # fmt: skip
def test_wrong_values_are_named(ask: Callable[[], object], says: str) -> None:
    with pytest.raises(TopospreadError, match=says):
        ask()


def test_the_newest_version_stands_in_one_place() -> None:
    """As a default: releases name it in the dates of rules, and in an example of a file."""
    default = re.compile(r'(= ?|default=|, |!= )"1\.37"')
    found = [file.name for file in (ROOT / "src").rglob("*.py") if default.search(file.read_text())]
    assert set(found) <= {"affinity_requeueing.py", "node_name.py", "image_locality.py", "inter_pod_affinity.py"}


def test_what_is_not_known_is_no_truth_value() -> None:
    claim = {"name": "gpu", "resourceClaimName": "gpu"}
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": [claim]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    found = topospread.Session([node("a"), pod]).simulate()
    assert found.verdict == "unknown"
    with pytest.raises(TopospreadError, match="the verdict is unknown"):
        bool(found)
    assert len(repr(found)) <= 100
    assert "ResourceSlices" in found._repr_html_()


def test_a_session_of_what_is_left_can_be_asked_again() -> None:
    session = topospread.Session(ONCALL)
    fixed = session.after(Uncordon(NodeChoice("node", "node-c1")))
    assert (session.status().verdict, fixed.status().verdict) == ("no", "yes")
    assert fixed.but(kube_version="1.33").inventory is fixed.inventory
    assert {"simulate", "why", "plan", "lint", "promises"} <= set(dir(session))


def test_a_command_never_names_standard_input_for_objects() -> None:
    labels = {"app": "web"}
    spread = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    constraint = spread | {"labelSelector": {"matchLabels": labels}}
    spec = {"containers": [{"name": "c", "image": "i"}], "topologySpreadConstraints": [constraint]}
    own = {
        "replicas": 4,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec},
    }
    metadata = {"name": "web", "uid": "u", "namespace": "default"}
    controller = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": own}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"web-{i}", "labels": labels, "ownerReferences": [owner]},
            "spec": spec | {"nodeName": "a"},
        }
        for i in range(4)
    ]
    found = topospread.Session([node("a"), node("b"), controller, *pods]).status()
    assert [(each.code, each.command) for each in found.remedies] == [("rebalance", ())]
    assert "fix: session.rebalance() (tried: after 2 evictions every hard constraint holds)" in found.text()


def test_each_remedy_does_as_a_session_what_its_trial_says() -> None:
    prod = topospread.Session(ROOT / "docs/how-to/on-call/cluster.yaml", namespace="shop")
    why = prod.why("deploy/checkout")
    assert why.verdict == "no"
    assert {each.code for each in why.remedies} >= {"uncordon", "maxSkew", "free", "newNode"}
    for each in why.remedies:
        after = prod.with_patch(each)
        assert after.why("deploy/checkout").verdict == each.tried.verdict == "yes"
        assert after.but(kube_version="1.33").why("deploy/checkout").verdict == "yes"
    assert prod.why("deploy/checkout").verdict == "no"


def test_a_remedy_without_a_patch_changes_nothing() -> None:
    asked = topospread.Session("zones=3,nodes=3,cpu=4,memory=8Gi")
    bought = Remedy(code="add-nodes", says="+1 large", tried=Tried(verdict="yes", places=1, of=1))
    with pytest.raises(TopospreadError, match=r"\+1 large: it does not patch an object"):
        asked.with_patch(bought)


def test_a_file_that_does_not_exist_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text("{}")
    with pytest.raises(topospread.InputError, match=r"custer\.json: file not found; did you mean .*/cluster\.json\?"):
        topospread.Session(tmp_path / "custer.json")
    with pytest.raises(topospread.InputError, match=r"gone/a\.json: file not found"):
        topospread.Session(tmp_path / "gone/a.json")


def test_an_unknown_answer_raises_where_the_session_asks_for_that() -> None:
    claim = {"name": "gpu", "resourceClaimName": "gpu"}
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": [claim]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    kept = topospread.Session([node("a"), pod])
    assert kept.simulate().verdict == "unknown"
    strict = kept.but(unknown="raise")
    with pytest.raises(
        topospread.UnknownVerdictError, match="Simulation: the verdict is unknown: 0–1 of 1 pod"
    ) as raised:
        strict.simulate()
    assert [each.what for each in raised.value.answer.unjudged] == ["resourceClaims"]
    assert pickle.loads(pickle.dumps(raised.value)).answer == raised.value.answer
    with pytest.raises(UnknownVerdictError, match="Status: "):
        strict.status()
    with pytest.raises(TopospreadError, match="unknown='fail': use 'keep' or 'raise'"):
        topospread.Session(CLUSTER, unknown="fail")  # type: ignore[arg-type]


def _plan_objects(selected: str) -> list[dict[str, Any]]:
    web = builders.workload("Deployment", "web", 3, {"topologySpreadConstraints": [builders.spread()]})
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]["app"] = selected
    api = builders.workload(
        "Deployment", "api", 3, {"topologySpreadConstraints": [builders.spread()]}
    )  # counts pods of web
    return [*(builders.node(each, each) for each in "abc"), web, api]


def test_a_plan_of_sessions_tells_findings_of_what_changed_alone(tmp_path: Path) -> None:
    old = topospread.Session(_plan_objects("web"))
    new = topospread.Session(_plan_objects("webb"))
    found = old.plan(new)
    assert [(each.rule, each.object) for each in found.new_findings] == [("selector-not-own", "Deployment shop/web")]
    assert found.verdict == "no"
    back = new.plan(old)
    assert not back.new_findings
    assert [each.rule for each in back.gone_findings] == ["selector-not-own"]
    file = tmp_path / "web.json"
    file.write_text(json.dumps(_plan_objects("webb")[3]))
    by_file = old.plan(file)
    assert [(each.rule, each.file) for each in by_file.new_findings] == [("selector-not-own", str(file))]
    assert not old.plan(old.but(kube_version="1.33")).new_findings


def test_another_version_is_judged_as_if_every_workload_were_rolled_out() -> None:
    """Kubernetes 1.24 ignores nodeTaintsPolicy, so that an empty tainted zone holds new pods back."""
    web = builders.workload(
        "Deployment", "web", 6, {"topologySpreadConstraints": [builders.spread(nodeTaintsPolicy="Honor")]}
    )
    closed = builders.node("c", "c", taints=[{"key": "gone", "effect": "NoSchedule"}])
    rolled = topospread.Session([builders.node("a", "a"), builders.node("b", "b"), closed, web]).after()
    assert [each.spec.node_name for each in rolled.inventory.pods].count("a") == 3
    older = rolled.but(kube_version="1.24")
    found = rolled.plan(older)
    assert (found.verdict, found.reasons) == ("no", ("4 pods are newly pending",))
    assert found.assumed == ("every workload is rolled out once on both sides",)
    assert older.plan(rolled).verdict == "yes"
    kept = rolled.plan(older, as_if_rolled_out=False)
    assert (kept.newly_pending, kept.assumed) == ((), ())


def test_placed_pods_are_placed_again_in_the_order_of_the_manifests(tmp_path: Path) -> None:
    """A StatefulSet before a Deployment: the order of kinds is not the order of the file."""
    items = [builders.workload("StatefulSet", "db"), builders.workload("Deployment", "web")]
    (file := tmp_path / "both.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    given = topospread.Session(["zones=3,nodes=6,cpu=8", file])
    first = {each.name: each.node for each in given.simulate().placements}
    placed = topospread.Session("zones=3,nodes=6,cpu=8").after(manifests=[file])
    again = simulate(without_placed_pods(placed.inventory)).placements
    assert {each.name: each.node for each in again} == first
    assert next(iter(first)) == "db-0"


def test_a_drill_of_a_namespace_has_only_its_workloads() -> None:
    objects = [*builders.nodes("a", "b"), builders.workload("Deployment"), builders.workload("Deployment", "other")]
    objects[-1]["metadata"]["namespace"] = "other"
    found = topospread.Session(objects).drill(Fail(NodeChoice("zone", "a")), namespace="other")
    assert [(each.namespace, each.name) for each in found.steps[-1].workloads] == [("other", "other")]


@pytest.mark.parametrize("given", ["shop.yaml", ["shop.yaml"], {"kind": "Deployment"}])
def test_manifests_in_the_place_of_steps_are_named(given: Any) -> None:
    with pytest.raises(TopospreadError, match=r"is not a step: write manifests=\[\.\.\.\]"):
        topospread.Session(CLUSTER).after(given)


def test_a_cluster_file_and_a_folder_are_one_cluster(tmp_path: Path) -> None:
    (tmp_path / "web.json").write_text(json.dumps(builders.workload("Deployment")))
    session = topospread.Session([CLUSTER, tmp_path])
    assert "web" in [each.name for each in session.inventory.deployments]
    assert session.inventory.nodes
    frame = session.after().status().frame("workloads.losses")
    assert {"workloads_name", "domain", "lost", "of"} <= {*frame.columns}
