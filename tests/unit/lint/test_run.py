"""Findings of `lint`: which rule, where; and none on what the examples show as right."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
import yaml

from tests.unit.sources.test_load import HIDDEN
from topospread.errors import InputError
from topospread.lint.rules import RULES
from topospread.lint.run import lint

ROOT = Path(__file__).parents[3]
SHOWN_AS_WRONG = {
    "api-2-2-2-min-domains-5",
    "conflicting-constraints",
    "min-domains",
    "missing-label",
    "node-affinity-policy-ignore",
    "node-taints-policy-ignore",
    "pod-anti-affinity",
    "own-labels-missing",
    "zone-typo",
}
GOOD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
    "matchLabelKeys": ["pod-template-hash"],
}


def deployment(*constraints: dict[str, object], replicas: int = 4, **metadata: object) -> dict[str, object]:
    labels = {"app": "web"}
    container = {"name": "web", "image": "pause"}
    spec = {"topologySpreadConstraints": list(constraints), "containers": [container]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", **metadata},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def found(tmp_path: Path, value: object) -> list[str]:
    file = tmp_path / "app.json"
    file.write_text(json.dumps(value))
    return [each.rule for each in lint([str(file)]) if each.rule != "no-budget"]


def without(field: str) -> dict[str, object]:
    return {name: value for name, value in GOOD.items() if name != field}


SOFT = {**GOOD, "whenUnsatisfiable": "ScheduleAnyway"}


@pytest.mark.parametrize(
    ("constraints", "rules"),
    [
        ([GOOD], []),
        ([{**without("labelSelector"), "matchLabelKeys": []}], ["selector-missing"]),
        ([{**GOOD, "labelSelector": {}}], []),
        ([{**without("matchLabelKeys"), "labelSelector": {}}], ["selector-empty"]),
        ([{**GOOD, "labelSelector": {"matchLabels": {"app": "wbe"}}}], ["selector-not-own"]),
        ([without("matchLabelKeys")], ["rollout-counts-old-pods"]),
        ([{**GOOD, "topologyKey": "failure-domain.beta.kubernetes.io/zone"}], ["beta-topology-key"]),
        ([GOOD, SOFT], ["hard-and-soft"]),
        ([{**GOOD, "maxSkew": 3}], []),
        ([{**GOOD, "maxSkew": 4}], ["max-skew-never-binds"]),
        ([{**GOOD, "minDomains": 4}], []),
        ([{**GOOD, "minDomains": 5}], ["min-domains-over-replicas"]),
        ([{**SOFT, "minDomains": 2}], ["validation", "min-domains-soft"]),
    ],
)
def test_each_rule_finds_what_it_is_about_and_nothing_else(
    tmp_path: Path, constraints: list[dict[str, object]], rules: list[str]
) -> None:
    assert found(tmp_path, deployment(*constraints)) == rules


def test_a_list_is_taken_apart_and_validation_does_not_end_the_reading(tmp_path: Path) -> None:
    empty = {**without("matchLabelKeys"), "labelSelector": {}}
    items = [deployment({**GOOD, "maxSkew": 0}), deployment(empty, name="api")]
    assert found(tmp_path, {"apiVersion": "v1", "kind": "List", "items": items}) == ["validation", "selector-empty"]


@pytest.mark.parametrize("of_json", [False, True])
@pytest.mark.parametrize("empty", [None, "", 3])
def test_a_list_gives_its_type_to_items_with_an_empty_one(tmp_path: Path, empty: object, of_json: bool) -> None:
    item = {
        **deployment({**GOOD, "labelSelector": {"matchLabels": {"app": "wbe"}}}),
        "apiVersion": empty,
        "kind": empty,
    }
    listed = {"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [item]}
    file = tmp_path / ("a.json" if of_json else "a.yaml")
    file.write_text(json.dumps(listed) if of_json else yaml.safe_dump(listed))
    assert "selector-not-own" in {each.rule for each in lint([str(file)])}


def test_what_the_api_server_added_is_not_held_against_a_stored_object(tmp_path: Path) -> None:
    merged = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["of another revision"]}]}
    constraint = {**GOOD, "labelSelector": merged, "matchLabelKeys": ["app", "pod-template-hash"]}
    assert found(tmp_path, deployment(constraint, uid="1")) == []


def test_a_finding_says_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {app: a}}\nspec:\n  containers: [{name: a, image: a}]\n"
        "  topologySpreadConstraints:\n  - maxSkew: 1\n    topologyKey: a/zone\n    whenUnsatisfiable: DoNotSchedule\n"
        "    labelSelector: {matchLabels: {app: b}}\n"
    )
    (finding,) = lint([str(file)])
    assert (finding.rule, finding.place.line, finding.place.column) == ("selector-not-own", 10, 35)


def test_what_is_no_object_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        found(tmp_path, ["a"])


@pytest.mark.parametrize("folder", sorted(each.name for each in (ROOT / "examples").iterdir() if each.is_dir()))
def test_examples_have_no_warning_unless_they_show_what_is_wrong(folder: str) -> None:
    files = [*(ROOT / "examples" / folder).glob("*.yaml"), *(ROOT / "examples" / folder).glob("cluster.json")]
    paths = [str(each) for each in files if each.name != "scheduler.yaml"]
    warned = [each for each in lint(paths) if each.severity != "hint"]
    assert bool(warned) == (folder in SHOWN_AS_WRONG), warned


@pytest.mark.parametrize("text", HIDDEN)
def test_an_object_is_linted_however_its_keys_are_written(tmp_path: Path, text: str) -> None:
    for name in ("web.json", "web.yaml"):
        (tmp_path / name).write_text(text)
        (subject,) = lint(tmp_path / name).read.subjects
        assert subject.label == "Pod default/web"


@pytest.mark.parametrize("kind", ["ReplicaSet", "Job"])
def test_an_owner_reference_hides_an_object_only_if_its_controller_is_read(tmp_path: Path, kind: str) -> None:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "u", "controller": True}
    pod = {**deployment()["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}  # type: ignore[index]
    pod["metadata"] = {**pod["metadata"], "name": "web-1", "uid": "v", "ownerReferences": [owner]}
    pod["spec"] = {**pod["spec"], "topologySpreadConstraints": [{**GOOD, "topologyKey": "zone"}]}
    file, replica_set = tmp_path / "app.json", {**deployment(), "kind": "ReplicaSet"}
    for others, expected in (([], 1), ([replica_set], kind != "ReplicaSet")):
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, *others]}))
        about = [each for each in lint(file).findings if each.place.object == "Pod default/web-1"]
        assert bool(about) == bool(expected)


@pytest.mark.parametrize("uid", ["", "v"])
@pytest.mark.parametrize("kind", ["Pod", "ReplicaSet"])
def test_an_owner_that_a_change_adds_hides_nothing(tmp_path: Path, kind: str, uid: str) -> None:
    (tmp_path / ".git").mkdir()
    by = {"Pod": "ReplicaSet", "ReplicaSet": "Deployment"}[kind]
    owner = {"apiVersion": "apps/v1", "kind": by, "name": "web", "uid": "u", "controller": True}
    owned = {**deployment({**GOOD, "topologyKey": "zone"}), "kind": kind}
    metadata = {"name": "web-1", "labels": {"app": "web"}, "uid": uid, "ownerReferences": [owner]}
    if kind == "Pod":
        owned = {"apiVersion": "v1", "kind": kind, "spec": owned["spec"]["template"]["spec"]}  # type: ignore[index]
    items = [{**owned, "metadata": metadata}, {**deployment(uid=uid and "u"), "kind": by}]
    for text in (json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "\n".join(map(json.dumps, items))):
        (tmp_path / "app.json").write_text(text)
        assert any(each.place.object == f"{kind} default/web-1" for each in lint(tmp_path / "app.json").findings)
    piped = lint("-", stdin=BytesIO(text.encode())).findings
    assert any(each.place.object == f"{kind} default/web-1" for each in piped) == (not uid), "a state of a cluster"


def test_a_text_repeats_an_object_a_few_times_at_most(tmp_path: Path) -> None:
    item = "&x {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}}"
    text = f"apiVersion: v1\nkind: List\nitems: [{item}{', *x' * 100}]\n"
    for name, words in (("name", "Pod default/a"), ("generateName", "Pod default/a")):
        (tmp_path / "a.yaml").write_text(text.replace("metadata: {name", f"metadata: {{{name}"))
        with pytest.raises(InputError, match="given more than 20 times in one text") as caught:
            lint(str(tmp_path / "a.yaml"))
        assert words in str(caught.value)


def test_ids_are_unique() -> None:
    assert len({each.id for each in RULES}) == len(RULES)
