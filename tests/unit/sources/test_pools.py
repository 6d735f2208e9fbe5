"""Files of pools: ours, Karpenter's, cluster-autoscaler's tags, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.api.pools import NodePool
from topospread.api.well_known_labels import ZONE
from topospread.errors import InputError
from topospread.sources.pools import EXAMPLE, read_pools

HEAD = "apiVersion: topospread.dev/v1alpha1\nkind: Pools\n"
KARPENTER = """
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec:
  template:
    metadata: {labels: {team: shop}}
    spec:
      taints: [{key: web, effect: NoSchedule}]
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [a, b]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: example.com/generation, operator: Gt, values: ["4"]}
  limits: {cpu: "10"}
"""
TYPES = """
instanceTypes:
  - {name: m5, shape: {cpu: "4", memory: 8Gi}, zones: [a, b, c], labels: {example.com/generation: "5"}}
  - {name: m4, shape: {cpu: "4", memory: 8Gi}, zones: [a], labels: {example.com/generation: "4"}}
"""


def read(folder: Path, text: str) -> tuple[NodePool, ...]:
    path = folder / "pools.yaml"
    path.write_text(text)
    return read_pools([str(path)])


def test_our_own_list(tmp_path: Path) -> None:
    text = "pools: [{name: p, zone: a, shape: {cpu: 2, memory: 4Gi}, labels: {x: z}, min: 1, max: 3}]"
    (pool,) = read(tmp_path, HEAD + text)
    assert (pool.zone, pool.least, pool.most, dict(pool.labels)) == ("a", 1, 3, {"x": "z", ZONE: "a"})
    node = pool.node("n")
    assert node.status.allocatable == {"pods": "110", "cpu": "2", "memory": "4Gi"}
    assert node.labels["kubernetes.io/hostname"] == "n"


def test_tags_of_an_auto_scaling_group(tmp_path: Path) -> None:
    base = "k8s.io/cluster-autoscaler/node-template"
    tags = {
        f"{base}/label/{ZONE}": "c",
        f"{base}/taint/dedicated": "gpu:NoSchedule",
        f"{base}/resources/cpu": "8",
        f"{base}/resources/memory": "32Gi",
        "owner": "shop",
    }
    (pool,) = read(
        tmp_path, HEAD + "pools:\n- name: asg\n  tags:\n" + "".join(f"    {k}: '{v}'\n" for k, v in tags.items())
    )
    assert (pool.zone, pool.amounts["cpu"], len(pool.labels)) == ("c", "8", 1)
    assert (pool.taints[0].key, pool.taints[0].value, pool.taints[0].effect) == ("dedicated", "gpu", "NoSchedule")


def test_node_pools_of_karpenter_are_one_for_each_type_and_zone(tmp_path: Path) -> None:
    pools = read(tmp_path, HEAD + TYPES + KARPENTER)
    assert [each.name for each in pools] == ["web-m5-a", "web-m5-b"]
    assert pools[0].labels["team"] == "shop"
    assert pools[0].labels["karpenter.sh/capacity-type"] == "spot"
    nodes = [each.node(f"n{i}") for i, each in enumerate(pools)]
    assert pools[0].may_grow(nodes[:1])
    assert not pools[0].may_grow(nodes)  # 12 cpus would be more than the 10 that they may have together


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Pod\napiVersion: v1\n", "expected kind Pools"),
        (HEAD + "pools: [{name: p, shape: {cpu: '2', memory: 4Gi}, size: 3}]", "unknown field `size`"),
        (HEAD + "pools: [{name: p}]", "cpu and memory"),
        (HEAD + "pools: [{name: p, shape: {cpu: much, memory: 4Gi}}]", "cpu: much"),
        (HEAD + "pools: [{name: p, min: 3, max: 2, shape: {cpu: '2', memory: 4Gi}}]", "and max at least min"),
        (HEAD + "pools: [{name: p, zone: 'a b', shape: {cpu: '2', memory: 4Gi}}]", "zone=a b"),
        (
            HEAD + "pools: [{name: p, shape: {cpu: '2', memory: 4Gi}, taints: [{key: x, effect: Never}]}]",
            "effect Never",
        ),
        (HEAD, "no pool can have a node"),
        (KARPENTER, "does not list its instance types"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)
    assert says in str(raised.value)
    assert "pools.yaml" in str(raised.value)


def test_two_pools_of_one_name(tmp_path: Path) -> None:
    one = "{name: p, shape: {cpu: '2', memory: 4Gi}}"
    with pytest.raises(InputError, match="two pools have the name p"):
        read(tmp_path, f"{HEAD}pools: [{one}, {one}]")


def test_pools_begin_with_a_hundred_thousand_nodes_at_most(tmp_path: Path) -> None:
    pool = "{name: %s, shape: {cpu: 2, memory: 4Gi}, min: 60000}"
    with pytest.raises(InputError, match="120000 nodes in all pools; lower it, at most 100000 are allowed"):
        read(tmp_path, f"{HEAD}pools: [{pool % 'a'}, {pool % 'b'}]")


@pytest.mark.parametrize(("values", "types", "says"), [(1, 300, "90000 pools, but at most"), (9000, 70, "larger")])
def test_types_times_node_pools_are_bounded(tmp_path: Path, values: int, types: int, says: str) -> None:
    """Before any is made: a file of some kilobytes could make millions."""
    kinds = ", ".join(f"{{name: t{i}, shape: {{cpu: 2, memory: 4Gi}}, zones: [z]}}" for i in range(types))
    wanted = f"{{key: a, operator: NotIn, values: [{', '.join(f'v{i}' for i in range(values))}]}}"
    spec = f"{{template: {{spec: {{requirements: [{wanted}]}}}}}}"
    text = f"{HEAD}instanceTypes: [{kinds}]\n" + "".join(
        f"---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: p{i}}}\nspec: {spec}\n"
        for i in range(types)
    )
    with pytest.raises(InputError, match=says):
        read(tmp_path, text)


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000])
def test_requirements_compare_with_numbers_alone(tmp_path: Path, number: str) -> None:
    with pytest.raises(InputError, match="no pool"):
        read(tmp_path, HEAD + TYPES + KARPENTER.replace('values: ["4"]', f'values: ["{number}"]'))


@pytest.mark.parametrize(
    "text",
    [
        HEAD + 'pools: [{name: "p\\nFORGED", shape: {cpu: 2, memory: 4Gi}}]',
        HEAD + TYPES.replace("name: m5", 'name: "m5\\nFORGED"') + KARPENTER,
        HEAD + TYPES + KARPENTER.replace("{name: web}", '{name: "web\\nFORGED"}'),
    ],
)
def test_a_name_has_one_line(tmp_path: Path, text: str) -> None:
    """New nodes have the pool's name, and `-o name` shows a node at the end of a line."""
    with pytest.raises(InputError, match="name: a name must be on one line"):
        read(tmp_path, text)


def test_an_annotation_may_have_lines(tmp_path: Path) -> None:
    name = '{name: web, annotations: {applied: "a\\n"}}'
    assert read(tmp_path, HEAD + TYPES + KARPENTER.replace("{name: web}", name))


def test_the_example_is_a_file_of_pools_and_the_error_for_another_file_names_it(tmp_path: Path) -> None:
    (pool,) = read(tmp_path, EXAMPLE)
    assert (pool.name, pool.labels[ZONE], pool.least, pool.most) == ("web-a", "zone-a", 4, 9)
    with pytest.raises(InputError, match="an example: topospread explain pools"):
        read(tmp_path, "small: 4 cpu")
