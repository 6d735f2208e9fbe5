"""Labels of nodes that spreading stumbles over: found, and not what clouds do on purpose."""

from __future__ import annotations

import pytest

from tests.unit.lint.manifests import findings, messages
from topospread.lint.examples import constraint, deployment

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def node(name: str, *labels: str, hostname: str = "", spec: str = "") -> str:
    shown = "".join(f"    {label}\n" for label in (f"kubernetes.io/hostname: {hostname or name}", *labels))
    head = f"---\napiVersion: v1\nkind: Node\nmetadata:\n  name: {name}\n  labels:\n{shown}"
    return head + (f"spec: {spec}\n" if spec else "")


def test_a_zone_in_two_regions_is_found_once_a_node() -> None:
    first = node("a", f"{ZONE}: z1", f"{REGION}: east") + node("b", f"{ZONE}: z1", f"{REGION}: east")
    (found,) = findings(first + node("c", f"{ZONE}: z1", f"{REGION}: west"), "zone-in-two-regions")
    assert (found.place.object, found.message) == ("Node c", "zone z1 is in region west here and in east on a")
    assert messages(first + node("c", f"{ZONE}: z2", f"{REGION}: west"), "zone-in-two-regions") == []
    assert messages(first + node("c", f"{ZONE}: z1"), "zone-in-two-regions") == []


def test_nodes_that_share_a_hostname_are_found() -> None:
    (said,) = messages(node("a") + node("b", hostname="a"), "hostname-shared")
    assert said == "a is the hostname of a too: both count as one domain"
    assert messages(node("a") + node("b"), "hostname-shared") == []


@pytest.mark.parametrize(
    ("name", "hostname", "found"),
    [
        ("a", "a", False),
        ("ip-10-0-0-1.ec2.internal", "ip-10-0-0-1", False),
        ("worker-1", "worker-1.example.com", False),
        ("worker-1", "worker-10", True),
        ("worker-1", "localhost", True),
    ],
)
def test_a_hostname_unlike_the_name_is_a_hint(name: str, hostname: str, found: bool) -> None:
    said = findings(node(name, hostname=hostname), "hostname-unlike-name")
    assert [each.severity for each in said] == ["hint"] * found


def test_a_pool_labelled_in_part_is_found_at_the_nodes_that_lack_the_key() -> None:
    pool = "cloud.google.com/gke-nodepool: web"
    labelled = node("a", pool, f"{ZONE}: z1")
    (found,) = findings(labelled + node("b", pool), "pool-labelled-in-part")
    assert found.place.object == "Node b"
    assert found.message == f"no label {ZONE}, which other nodes of cloud.google.com/gke-nodepool=web have"
    assert messages(labelled + node("b", "cloud.google.com/gke-nodepool: batch"), "pool-labelled-in-part") == []
    assert messages(node("a", pool) + node("b", pool), "pool-labelled-in-part") == []


def test_what_a_pool_explains_is_said_once() -> None:
    nodes = node("a", "pool: web", f"{ZONE}: z1") + node("b", "pool: web")
    assert messages(nodes, "node-lacks-key") == []


def test_a_node_without_a_key_is_found_with_the_label_that_may_be_meant() -> None:
    nodes = node("a", f"{ZONE}: z1") + node("b", f"{ZONE}: z2")
    (said,) = messages(nodes + node("c", "topology.kubernetes.io/zon: z3"), "node-lacks-key")
    assert said == f"no label {ZONE}, which 2 of 3 nodes have (is topology.kubernetes.io/zon meant?)"
    assert messages(node("a") + node("b"), "node-lacks-key") == []


@pytest.mark.parametrize(
    "apart",
    [
        node("c", 'node-role.kubernetes.io/control-plane: ""'),
        node("c", spec="{taints: [{key: gpu, effect: NoSchedule}]}"),
    ],
)
def test_nodes_that_ordinary_pods_keep_off_may_lack_keys(apart: str) -> None:
    assert messages(node("a", f"{ZONE}: z1") + apart, "node-lacks-key") == []


def test_a_key_of_ones_own_matters_when_a_constraint_names_it() -> None:
    nodes = node("a", "example.com/rack: r1") + node("b")
    manifest = deployment(constraint("labelSelector:\n  matchLabels: {app: web}", key="example.com/rack"))
    assert messages(nodes, "node-lacks-key") == []
    assert messages(nodes + "---\n" + manifest, "node-lacks-key") != []


def test_nodes_of_the_cluster_are_looked_at_and_not_judged() -> None:
    found = findings(deployment(""), cluster="zones=2,nodes=4,label=node-1:pool=a")
    assert [each.rule for each in found] == ["no-budget", "no-spread"]
