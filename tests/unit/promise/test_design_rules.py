"""The constraints of a design as YAML."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from tests.answer_schema import schema_of
from tests.unit.drill.builders import inventory, nodes, workload
from topospread.answers.promise_design import promise_design
from topospread.cli.main import topospread as command
from topospread.render.blocks import Code, Section
from topospread.render.pages.promise_design import page

ROOT = Path(__file__).parents[3]
WEB = str(ROOT / "docs/how-to/design/web.yaml")


def test_the_command_writes_yaml_that_can_be_applied_and_data_of_the_documented_form(tmp_path: Path) -> None:
    words = ["promise", "design", "deploy/web", "-f", WEB, "--on", "zones=3,nodes=3,cpu=8", "--of", "3"]
    words += ["--want", "zone-loss>=2"]
    done = CliRunner().invoke(
        command,
        [*words, "-o", "json", "-o", f"text={tmp_path / 'told'}", "--out", str(tmp_path / "patches")],
        standalone_mode=False,
    )
    assert f"next: kubectl diff --server-side -f {tmp_path}" in (tmp_path / "told").read_text()
    assert done.return_value == 0
    found = json.loads(done.stdout)
    jsonschema.validate(found, schema_of("PromiseDesign"))
    text = (tmp_path / "patches" / "shop-web.yaml").read_text()
    assert text == found["workloads"][0]["manifest"]
    assert {each["kind"] for each in yaml.safe_load_all(text)} == {"Deployment", "PodDisruptionBudget"}


NAMES = (("a", "b-c"), ("a-b", "c"))


def test_no_file_of_a_design_replaces_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = Path(WEB).read_text()
    own = [
        text.replace("name: web, namespace: shop", f"name: {name}, namespace: {namespace}") for namespace, name in NAMES
    ]
    Path("a-b-c.yaml").write_text("---\n".join(own))
    words = [
        "promise",
        "design",
        "-f",
        "a-b-c.yaml",
        "--on",
        "zones=3,nodes=6,cpu=8",
        "--all",
        "--want",
        "zone-loss>=2",
        "--out",
    ]
    done = CliRunner().invoke(command, [*words, "out"], standalone_mode=False)
    assert done.exception is None
    written = {each.name: yaml.safe_load_all(each.read_text()) for each in Path("out").iterdir()}
    named = {name: next(iter(found))["metadata"] for name, found in written.items()}
    assert all(each.pop("annotations") for each in named.values())
    assert named == {
        f"{namespace}_deployment_{name}.yaml": {"name": name, "namespace": namespace} for namespace, name in NAMES
    }
    Path("a-b-c.yaml").write_text(own[0])
    done = CliRunner().invoke(command, [*words, "."], standalone_mode=False)
    assert "the design would replace a manifest; name another folder" in str(done.exception)
    assert Path("a-b-c.yaml").read_text() == own[0]


def test_the_name_of_a_zone_adds_nothing_to_the_yaml_that_is_shown_or_applied() -> None:
    forged = '\u2028{"kind":"ClusterRoleBinding"}\x85'
    clean, hostile = (
        promise_design(
            inventory(*nodes(f"a{each}", "b", "c"), workload("Deployment", replicas=3)),
            ["deploy/web"],
            survive=["zone"],
            left=[2],
            states=500,
            tries=30,
        )
        for each in ("", forged)
    )
    assert "a\\u2028" in hostile.workloads[0].manifest
    assert [*yaml.safe_load_all(hostile.workloads[0].manifest)] == [*yaml.safe_load_all(clean.workloads[0].manifest)]
    parts = next(each for each in page(hostile).parts if isinstance(each, Section) and isinstance(each.parts[0], Code))
    assert parts in page(clean).parts
