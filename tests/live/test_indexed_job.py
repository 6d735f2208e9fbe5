"""The Indexed Job of the documentation is one that a real API server takes as it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from tests.live.conftest import ControlPlane

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "drill.md"


def manifest() -> dict[str, Any]:
    """The Job that the page shows."""
    blocks = re.findall(r"(?ms)^```yaml\n(.*?)^```", PAGE.read_text())
    (found,) = [each for each in map(yaml.safe_load, blocks) if isinstance(each, dict) and each["kind"] == "Job"]
    return found


def test_the_job_of_the_documentation_is_taken_as_it_stands(control_plane: ControlPlane) -> None:
    """Server-side, with fields that the server does not know refused."""
    given = manifest()
    words = ("create", "--validate=strict", "-f", "-", "-o", "json")
    dry = json.loads(control_plane.kubectl(*words, "--dry-run=server", given=given))
    assert dry["spec"]["completionMode"] == "Indexed"
    control_plane.kubectl(*words, given=given)
    stored = json.loads(control_plane.kubectl("get", "job", "n-1", "-o", "json"))
    try:
        spec = stored["spec"]
        assert (spec["completions"], spec["parallelism"], spec["backoffLimitPerIndex"]) == (8, 8, 2)
        shown = given["spec"]["template"]["spec"]["containers"][0]
        (container,) = spec["template"]["spec"]["containers"]
        assert container["args"] == shown["args"]
        assert f'--shard "$JOB_COMPLETION_INDEX/{spec["completions"]}"' in container["args"][0]
    finally:
        control_plane.kubectl("delete", "job", "n-1", "--wait=false")
