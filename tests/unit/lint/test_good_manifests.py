"""No warning and no error on manifests of the kinds that the Kubernetes documentation shows as good.

`good/` holds manifests like those of these pages, written for this test: what each page shows, and not its text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.lint.run import lint

GOOD = Path(__file__).parent / "good"
DOCS = "https://kubernetes.io/docs/"
PAGES = {
    "topology-spread-constraints.yaml": ["concepts/scheduling-eviction/topology-spread-constraints/"],
    "assign-pod-node.yaml": [
        "concepts/scheduling-eviction/assign-pod-node/",
        "concepts/scheduling-eviction/taint-and-toleration/",
        "concepts/scheduling-eviction/pod-scheduling-readiness/",
    ],
    "workloads.yaml": [
        "concepts/workloads/controllers/deployment/",
        "concepts/workloads/controllers/replicaset/",
        "concepts/workloads/controllers/statefulset/",
        "concepts/workloads/controllers/daemonset/",
        "concepts/workloads/controllers/job/",
        "concepts/workloads/controllers/cron-jobs/",
        "concepts/workloads/controllers/replicationcontroller/",
    ],
    "applications.yaml": [
        "tutorials/stateful-application/zookeeper/",
        "tasks/run-application/configure-pdb/",
        "tutorials/stateless-application/guestbook/",
        "tutorials/stateful-application/mysql-wordpress-persistent-volume/",
        "concepts/workloads/management/#canary-deployments",
    ],
    "cluster.yaml": [
        "reference/scheduling/config/",
        "concepts/scheduling-eviction/pod-priority-preemption/",
        "concepts/storage/storage-classes/",
        "concepts/policy/limit-range/",
        "concepts/containers/runtime-class/",
        "setup/best-practices/multiple-zones/",
    ],
}


def test_every_page_is_shown_by_its_file() -> None:
    assert sorted(PAGES) == sorted(path.name for path in GOOD.iterdir())
    for name, pages in PAGES.items():
        text = (GOOD / name).read_text()
        assert [page for page in pages if f"# {DOCS}{page}" not in text] == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_worse_than_a_hint_is_found(name: str) -> None:
    assert [str(each) for each in lint(str(GOOD / name)) if each.severity != "hint"] == []


@pytest.mark.parametrize("version", ["1.27", "1.30", "1.34"])
def test_nor_for_the_versions_that_have_every_field_of_them(version: str) -> None:
    found = [each for name in PAGES for each in lint(str(GOOD / name), kube_version=version)]
    newer = ("api-version-not-served", "field-not-in-version")
    assert [str(each) for each in found if each.severity != "hint" and each.rule not in newer] == []


def test_nor_on_the_nodes_that_the_page_on_zones_describes() -> None:
    paths = [str(GOOD / name) for name in ("workloads.yaml", "applications.yaml")]
    found = lint(paths, cluster="zones=3,nodes=6,storage-class=my-storage-class")
    assert [str(each) for each in found if each.severity != "hint"] == []
