"""A report for others shows the same cluster without its names."""

from __future__ import annotations

import json
from pathlib import Path

import topospread
from topospread.simulation.simulate import simulate
from topospread.sources.anonymous import anonymous

ROOT = Path(__file__).parent.parent.parent.parent
DEMO = [str(ROOT / "examples" / "demo" / name) for name in ("cluster.yaml", "shop.yaml")]


def test_no_name_is_left_and_the_pods_land_alike() -> None:
    read = topospread.load(*DEMO)
    shown = anonymous(read, b"a" * 16)  # another salt may begin a word that is made up as one of these

    before, after = simulate(read), simulate(shown)
    text = json.dumps(after.to_dict())
    assert not [word for word in ("shop", "storefront", "checkout", "node-a", "eu-west") if word in text]
    assert sorted(each.placed for each in before.workloads) == sorted(each.placed for each in after.workloads)
    assert len(shown.nodes) == len(read.nodes)


def test_what_was_read_keeps_its_names() -> None:
    read = topospread.load(*DEMO)
    before = read.nodes[0].name

    anonymous(read)

    assert read.nodes[0].name == before
    assert read.read_from is not None


def test_a_salt_gives_the_same_words_again() -> None:
    read = topospread.load(*DEMO)
    first, second, other = (anonymous(read, salt).nodes[0].name for salt in (b"a" * 16, b"a" * 16, b"b" * 16))

    assert first == second
    assert first != other


def test_slices_are_left_out_because_selectors_would_select_other_devices(tmp_path: Path) -> None:
    spec = {"driver": "gpu.acme.example", "pool": {"name": "n"}, "allNodes": True, "devices": [{"name": "secret"}]}
    path = tmp_path / "slice.json"
    path.write_text(
        json.dumps(
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}
        )
    )
    read = topospread.load(*DEMO, str(path))
    assert len(read.resource_slices) == 1
    assert anonymous(read).resource_slices == []
