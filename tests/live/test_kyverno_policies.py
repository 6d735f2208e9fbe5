"""`topospread policies --for kyverno` held to Kyverno's own definition of ClusterPolicy on a real API server.

Kyverno itself does not run here: what the policies say of objects is not judged, only that they are of Kyverno's form.
"""

from __future__ import annotations

import copy
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.live.conftest import ControlPlane, built
from tests.live.processes import TOPOSPREAD
from tests.live.test_webhook import eventually
from topospread.lint.policies.cel import EXPRESSED

HERE = Path(__file__).parent
Json = dict[str, Any]


@pytest.fixture(scope="module")
def definition() -> str:
    """The CustomResourceDefinition that Kyverno's own command has in it."""
    folder = built("kyverno", ["kyverno-definition"], HERE / "kyverno", "build.sh")
    return subprocess.run([folder / "kyverno-definition"], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def plane(own_plane: ControlPlane, definition: str, tmp_path: Path) -> ControlPlane:
    """An API server that serves ClusterPolicies."""
    file = tmp_path / "definition.yaml"
    file.write_text(definition)
    own_plane.kubectl("create", "-f", str(file))
    eventually(lambda: served(own_plane))
    return own_plane


def served(plane: ControlPlane) -> bool:
    """Whether the API server knows ClusterPolicies by now."""
    words = [plane.programs / "kubectl", "get", "clusterpolicies.kyverno.io"]
    return subprocess.run(words, env=plane.environment, capture_output=True, check=False).returncode == 0


def printed(*words: str) -> list[Json]:
    done = subprocess.run(
        [TOPOSPREAD, "policies", "--for", "kyverno", *words], capture_output=True, text=True, check=True
    )
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def answer(plane: ControlPlane, policy: Json) -> str:
    """What the API server says to a policy, in a dry run."""
    words = [plane.programs / "kubectl", "create", "--dry-run=server", "--validate=strict", "-f", "-"]
    given = json.dumps(policy)
    done = subprocess.run(words, env=plane.environment, input=given, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else f"refused: {done.stderr}"


def within(sent: Any, kept: Any) -> bool:
    """Whether all that was sent is there; the definition's defaults are there besides."""
    if isinstance(sent, dict):
        return isinstance(kept, dict) and all(key in kept and within(each, kept[key]) for key, each in sent.items())
    if isinstance(sent, list):
        return isinstance(kept, list) and len(sent) == len(kept) and all(map(within, sent, kept))
    return bool(sent == kept)


def test_every_policy_is_created_with_strict_validation_and_kept_whole(plane: ControlPlane) -> None:
    sent = printed()
    assert len(sent) == len(EXPRESSED)
    listed = {"apiVersion": "v1", "kind": "List", "items": sent}
    plane.kubectl("create", "--validate=strict", "-f", "-", given=listed)
    kept = {each["metadata"]["name"]: each for each in json.loads(plane.kubectl("get", "cpol", "-o", "json"))["items"]}
    assert [each["metadata"]["name"] for each in sent if not within(each, kept[each["metadata"]["name"]])] == []


def test_what_is_no_policy_of_kyvernos_is_refused(plane: ControlPlane) -> None:
    (policy,) = printed("--select", "selector-missing")
    assert "created" in answer(plane, policy)
    for field, value in (("failureAction", "Deny"), ("cel", {"expressions": "none"}), ("celExpressions", [])):
        wrong = copy.deepcopy(policy)
        wrong["spec"]["rules"][0]["validate"][field] = value
        assert field in answer(plane, wrong), field
        assert answer(plane, wrong).startswith("refused: "), field
    unnamed = copy.deepcopy(policy)
    del unnamed["spec"]["rules"][0]["name"]
    assert answer(plane, unnamed).startswith("refused: ")
