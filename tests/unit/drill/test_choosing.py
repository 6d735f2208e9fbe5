"""The nodes that a step means."""

from __future__ import annotations

import pytest

from topospread.drill.steps import AddNodes, Cordon, Fail, NodeChoice, read_choice
from topospread.errors import UsageError

from .builders import node, nodes, told, workload


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (NodeChoice("zone", "q"), "no node has topology.kubernetes.io/zone=q; the cluster has a, b"),
        (NodeChoice("node", "a11"), "no node has the name a11; did you mean a1?"),
        (
            NodeChoice("kubernetes.io/hostnam", "a1"),
            "no node has the label kubernetes.io/hostnam; did you mean kubernetes.io/hostname?",
        ),
    ],
)
def test_a_step_that_means_no_node_is_an_error(choice: NodeChoice, words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        told(nodes("a", "b"), Fail(choice))


def test_pool_means_the_label_pool_where_nodes_have_it() -> None:
    """Without it, ``pool`` stands for the labels of clouds."""
    for label, key in (("pool", "pool"), ("karpenter.sh/nodepool", "pool"), ("pool", "")):
        objects = nodes("a", "b")
        objects[0]["metadata"]["labels"] |= {label: "general"}
        found = told([*objects, workload("Deployment")], Cordon(NodeChoice(key, "general")))
        assert [each.nodes for each in found.steps[1].events] == [("a1",)]
    objects[1]["metadata"]["labels"] |= {"karpenter.sh/nodepool": "web"}
    found = told([*objects, workload("Deployment")], Cordon(NodeChoice("karpenter.sh/nodepool", "web")))
    assert [each.nodes for each in found.steps[1].events] == [("b1",)]


def test_a_unique_short_name_means_its_node_and_an_ambiguous_one_is_an_error() -> None:
    objects = [node("n1.ec2.internal", "a"), node("n2.ec2.internal", "b"), node("n2.eu.internal", "b")]
    for key in ("node", ""):
        found = told([*objects, workload("Deployment")], Cordon(NodeChoice(key, "n1")))
        assert [each.nodes for each in found.steps[1].events] == [("n1.ec2.internal",)]
        short = r"n2 is short for n2\.ec2\.internal, n2\.eu\.internal: write the full name"
        with pytest.raises(UsageError, match=short):
            told([*objects, workload("Deployment")], Cordon(NodeChoice(key, "n2")))
    added = told([*objects, workload("Deployment")], AddNodes(1, "n1")).steps[1].events
    assert [each.nodes for each in added if each.kind == "added"] == [("n1.ec2.internal-new-1",)]


def test_several_labels_choose_the_nodes_with_all_of_them() -> None:
    objects = [*nodes("a", "a", "b"), workload("Deployment")]
    for number in (1, 2):
        objects[number]["metadata"]["labels"] |= {"pool": "x"}
    found = told(objects, Cordon(read_choice("topology.kubernetes.io/zone=a,pool=x", "--cordon")))
    assert [each.nodes for each in found.steps[1].events] == [("a2",)]
    objects[1]["metadata"]["labels"] |= {"pool": "y"}
    with pytest.raises(UsageError, match="no node has all of these labels"):
        told(objects, Cordon(read_choice("zone=a,pool=x", "--cordon")))
