"""`topospread lint --export-policy` in force on a real API server: each policy says what the linter says."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

from tests.live.conftest import ControlPlane
from tests.live.policies import ApiServer, ask, install, judge
from tests.live.processes import TOPOSPREAD
from topospread.linting.policies.cel import EXPRESSED

_OBJECTS, _SEED = 150, 15


def _plain(name: str, **spec: object) -> dict[str, object]:
    labels = {"app": "web"}
    container = {"name": "main", "image": "pause"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


_BETA = {
    "maxSkew": 1,
    "topologyKey": "failure-domain.beta.kubernetes.io/zone",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def test_policies_and_linter_find_the_same_in_random_objects(empty_plane: Path) -> None:
    with closing(ApiServer(empty_plane)) as server:
        install(server)
        try:
            judged = judge(server, _OBJECTS, _SEED)
        finally:
            for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
                server.delete(f"/apis/admissionregistration.k8s.io/v1/{plural}")
    assert judged.differences == []
    assert judged.asked > _OBJECTS // 2
    assert len(judged.found) > len(EXPRESSED) // 2, "most rules have to have found something"


def test_what_is_printed_is_applied_and_an_error_denies(own_plane: ControlPlane, tmp_path: Path) -> None:
    settings = tmp_path / ".topospread.yaml"
    settings.write_text("lint:\n  select: [beta-topology-key]\n  severity: {beta-topology-key: error}\n")
    words = [TOPOSPREAD, "lint", "--export-policy", "--settings", settings]
    printed = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    policies = tmp_path / "policies.yaml"
    policies.write_text(printed)
    own_plane.kubectl("apply", "-f", str(policies))
    with closing(ApiServer(own_plane.kubeconfig)) as server:
        server.until_refused(_plain("web", topologySpreadConstraints=[_BETA]), "[beta-topology-key]")
        assert ask(server, _plain("web")) == frozenset()
