"""Print ``admission/merge_lists.json``: how lists and maps of pods and workloads are merged when a part is applied.

    python conformance/merge_lists.py "$(go env GOMODCACHE)/k8s.io/client-go@v0.37.2" > FILE

Source: applyconfigurations/internal/internal.go of client-go.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

from topospread.api.validation.schema import STRUCT_OF, field_struct, fields_of

_GROUPS = (["core", "v1"], ["apps", "v1"], ["batch", "v1"], ["meta", "v1"])


def rows(folder: Path) -> dict[str, dict[str, str]]:
    """Struct → field → the keys of its list, "" if it is replaced as a whole; field "" for a whole struct."""
    text = (folder / "applyconfigurations/internal/internal.go").read_text()
    types = yaml.safe_load(text.partition("schemaYAML = typed.YAMLObject(`")[2].partition("`)")[0])["types"]
    named = {_short(each["name"]): each.get("map", {}) for each in types if each["name"].split(".")[-3:-1] in _GROUPS}
    found: dict[str, dict[str, str]] = {}
    waiting = [*STRUCT_OF.values()]
    while waiting:
        struct = waiting.pop()
        if struct in found or not fields_of(struct, ()):
            continue
        given = named.get(struct, {})
        row = found[struct] = {"": ""} if given.get("elementRelationship") == "atomic" else {}
        row |= {each["name"]: how for each in given.get("fields", ()) if (how := _how(each["type"])) is not None}
        waiting += [field_struct(struct, name).removeprefix("[]") for name in fields_of(struct, ())]
    return {name: found[name] for name in sorted(found) if found[name]}


def _how(kind: dict[str, Any]) -> str | None:
    given = kind.get("list") or kind.get("map") or {}
    if given.get("elementRelationship") == "associative":
        return " ".join(given.get("keys") or ["="])
    is_whole = given.get("elementRelationship") == "atomic" or kind.get("elementRelationship") == "atomic"
    return "" if is_whole else None


def _short(name: str) -> str:
    return name.rpartition(".")[2]


if __name__ == "__main__":
    lines = [f" {json.dumps(struct)}: {json.dumps(row)}" for struct, row in rows(Path(sys.argv[1])).items()]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")
