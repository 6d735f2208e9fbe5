"""A drill that begins with pods on given nodes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.unit.drill.builders import Json, nodes
from tests.unit.promise.test_rollout_orders import asked, rolling, web
from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
from topospread.errors import InputError


def played(folder: Path, objects: list[Json], drill: str) -> list[str]:
    """What the drill of a way falls short of."""
    (folder / "all.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    (folder / "way.yaml").write_text(drill.replace("spec:\n", "spec:\n  manifests: [all.yaml]\n", 1))
    found = check_drills(find_drills([str(folder / "way.yaml")]))
    return [each.message for drill in found.drills for each in drill.shortfalls]


def fixed(drill: str) -> str:
    """Return the drill with an order that must be possible, with scores."""
    assert "  anyNode: true\n" in drill
    return drill.replace("  anyNode: true\n", "")


def test_pods_that_are_there_stay_where_they_are(tmp_path: Path) -> None:
    """Of three pods one is read, on a2, and two are placed: only these may stand elsewhere."""
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}
    labels = {"app": "web", "pod-template-hash": "x"}
    sets = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-x", "namespace": "shop"}}
    template = web(3)["spec"]["template"]
    sets["metadata"] |= {"ownerReferences": [owner], "labels": labels, "uid": "r"}
    there = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web-x-1",
            "namespace": "shop",
            "labels": labels,
            "ownerReferences": [owner | {"kind": "ReplicaSet", "name": "web-x", "uid": "r"}],
        },
        "spec": template["spec"] | {"nodeName": "a2"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template | {"metadata": {"labels": labels}}}
    deployment = web(3)
    deployment["metadata"]["uid"] = "u"
    objects = [*nodes("a", "a", "b"), deployment, sets | {"spec": spec}, there]
    answer = asked(objects, skew=0)
    assert answer.drill.count("stands") == 2
    assert "web-x-1" not in answer.drill
    assert played(tmp_path, objects, answer.drill)


def test_who_goes_and_where_pods_are_placed_is_checked(tmp_path: Path) -> None:
    """With a doubled-up pod, another that is to go first is refused, and so is a node that is none of the best."""
    objects = [*nodes("a", "b", "c"), web(4, strategy=rolling(0, 1))]
    drill = fixed(asked(objects, skew=0).drill)
    assert "deleted: a1" in drill
    with pytest.raises(InputError, match="deleted b1 cannot be: the old pod on a1 goes before"):
        played(tmp_path, objects, drill.replace("deleted: a1", "deleted: b1", 1))
    with pytest.raises(InputError, match="kube-scheduler takes"):
        played(tmp_path, objects, re.sub(r"(stands: [\w-]+)=\w1", r"\1=a1", drill))
