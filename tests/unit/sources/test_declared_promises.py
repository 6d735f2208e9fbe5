"""Places of the annotations in which workloads declare promises, in YAML and JSON, alone and in lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from topospread.sources.load import load


def deployment(name: str, **annotations: str) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {f"topospread.dev/{key}": value for key, value in annotations.items()}}
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def yaml_documents(objects: list[dict[str, Any]]) -> str:
    return "# topospread.dev/promise\n---\n" + "\n---\n# topospread.dev/quorum\n".join(
        json.dumps(each, indent=2) for each in objects
    )


def yaml_list(objects: list[dict[str, Any]]) -> str:
    import yaml

    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": objects}, sort_keys=False)


def json_list(objects: list[dict[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1)


def json_documents(objects: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(each, indent=3) for each in objects)


@pytest.mark.parametrize("write", [yaml_documents, yaml_list, json_list, json_documents])
def test_a_declaration_is_at_its_own_line_and_column(write: Any, tmp_path: Path) -> None:
    text = write([deployment("a"), deployment("b", promise="quorum"), deployment("c", quorum="2")])
    path = tmp_path / "all.yaml"
    path.write_text(text)
    found = load([str(path)], needs_nodes=False).declared
    assert {key[2] for key in found} == {"b", "c"}
    for (_, _, name), word in zip(sorted(found), ("promise", "quorum"), strict=True):
        place = found["Deployment", "default", name]
        assert (place.line, place.column) != (None, None)
        rest = text.splitlines()[place.line - 1][place.column - 1 :]
        assert rest.lstrip('"').startswith(f"topospread.dev/{word}")
