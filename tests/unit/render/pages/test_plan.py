"""The page of `plan`: the table of workloads whose pods move."""

from __future__ import annotations

from pathlib import Path

import pytest

import topospread
from tests.unit.plan.test_version_changes import train, unbalanced
from tests.unit.promise.test_simulated_losses import NO_DEFAULTS
from tests.unit.simulation.test_causes import MOST, NODES, POD
from tests.unit.why.builders import spec, workload, zones


def test_the_cause_of_a_move_fits_its_cell(tmp_path: Path) -> None:
    nodes = NODES
    for name in ("a", "b"):
        nodes = nodes.replace(f"name: {name},", f"name: {name}.eu-west-1.compute.internal,")
    path = tmp_path / "all.yaml"
    path.write_text(nodes + POD % "priority: 0")
    session = topospread.Session(path)
    scored = session.plan(session.but(config=MOST)).text()
    assert "NodeResourcesFit: new node -34 → +35 points" in " ".join(scored.split())
    (tmp_path / "new.yaml").write_text(nodes + POD % "nodeSelector: {zone: east}")
    rejected = " ".join(session.plan(topospread.Session(tmp_path / "new.yaml")).text().split())
    assert "NodeAffinity rejects b:" in rejected


def test_settings_that_change_in_the_same_way_share_a_line() -> None:
    session = topospread.Session([*zones(), workload("Deployment", 3, spec(), uid=False)], kube_version="1.30")
    plan = session.plan(session.but(kube_version="1.37"))
    told = plan.text()
    assert len(plan.settings) == 8
    assert told.count("\nchanged: ") == 4
    assert all(each.setting in " ".join(told.split()) for each in plan.settings)
    assert "filter EBSLimits, filter GCEPDLimits, filter AzureDiskLimits: on → not set" in " ".join(told.split())


def test_of_very_many_changed_settings_the_first_are_shown_and_the_rest_are_counted() -> None:
    session = topospread.Session([*zones(), workload("Deployment", 3, spec(), uid=False)], kube_version="1.20")
    plan = session.plan(session.but(kube_version="1.37"))
    shown, wide = plan.text(), plan.text(wide=True)
    assert shown.count("\nchanged: ") == 6
    assert f"{wide.count(chr(10) + 'changed: ') - 6} changed lines more: -o wide" in shown
    assert "more: -o wide" not in wide
    assert all(each.setting in " ".join(wide.split()) for each in plan.settings)


def test_an_unmoved_workload_that_only_loses_default_constraints_has_no_row() -> None:
    """With one pod in each zone and on each node, no pod moves."""
    session = topospread.Session([*zones(), workload("Deployment", 3, spec(), uid=False)])
    plan = session.plan(session.but(config=NO_DEFAULTS))
    assert plan.workloads[0].skews
    assert not plan.workloads[0].moved
    assert "WORKLOAD" not in plan.text()
    assert plan.text().index("changed: default-scheduler") < plan.text().index("unchanged: the node of every pod")


@pytest.mark.parametrize("namespace", [None, "shop"])
def test_the_line_of_moved_pods_names_workloads_that_only_one_side_judges(namespace: str | None) -> None:
    session = topospread.Session([train(), *unbalanced()], kube_version="1.33")
    plan = session.plan(session.but(kube_version="1.37"), namespace=namespace)
    caveat = "; some may move only because pods of ml/a-train are not judged on one side and get no node there"
    assert plan.judged_once == ("ml/a-train",)
    assert f" to other nodes{caveat}" in " ".join(plan.text().split())
    judged = session.but(kube_version="1.34")
    assert "some may move" not in judged.plan(judged.but(kube_version="1.37")).text()


@pytest.mark.parametrize(("old", "new", "when"), [("1.33", "1.34", "after"), ("1.34", "1.33", "before")])
def test_a_pod_that_only_one_side_judges_has_that_as_its_cause(old: str, new: str, when: str) -> None:
    session = topospread.Session([train(), *unbalanced()], kube_version=old)
    plan = session.plan(session.but(kube_version=new))
    (why,) = (pod.why for each in plan.workloads if each.name == "a-train" for pod in each.moved)
    assert why is not None
    words = f"not judged {when} the change: resourceClaims"
    assert (why.kind, why.plugin, why.says.partition("; ")[0]) == ("unjudged", "", words)
    assert words in " ".join(plan.text(width=160).split())
