"""The documented schema of answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "docs/reference/answers.schema.json"


def schema_of(kind: str) -> dict[str, Any]:
    """Return the documented schema of a kind of answer."""
    return {"$ref": f"#/$defs/{kind}", "$defs": json.loads(FILE.read_text())["$defs"]}
