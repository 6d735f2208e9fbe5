"""What commands import: a short one takes most of its time for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MANIFEST = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n"
CODE = """\
import sys
from topospread.cli.main import main
sys.argv[0] = "topospread"
try:
    main()
except SystemExit:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def imported(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_imports_nothing_that_decodes_or_calculates() -> None:
    assert not imported("--help") & {"msgspec", "numpy", "yaml", "topospread.api"}


@pytest.mark.parametrize("command", ["capacity", "drill", "plan", "simulate", "status", "why"])
def test_the_help_of_a_command_imports_no_objects_and_no_configuration(command: str) -> None:
    assert not imported(command, "--help") & {"numpy", "yaml", "topospread.api", "topospread.config.load"}


@pytest.mark.parametrize(("nodes", "calculates"), [((), False), (("--on", "zones=3,nodes=3"), True)])
def test_manifests_are_linted_without_the_engine_where_there_are_no_nodes(
    tmp_path: Path, nodes: tuple[str, ...], calculates: bool
) -> None:
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    found = imported("lint", str(tmp_path / "pod.yaml"), *nodes)
    assert "topospread.lint.run" in found
    assert ("numpy" in found) == calculates
    assert ("topospread.scheduling.cycle" in found) == calculates


def test_a_simulation_that_renders_nothing_and_looks_for_no_cause_imports_neither(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(MANIFEST)
    found = imported("simulate", "-f", str(tmp_path / "pod.yaml"), "--on", "zones=3,nodes=3")
    assert not found & {"aiohttp", "kubernetes_asyncio", "topospread.why", "topospread.drill"}


def test_a_start_beside_an_api_server_loads_no_client_of_the_kubeconfig_library() -> None:
    code = (
        "import sys, topospread.live.launch, topospread.live.credentials\n"
        "assert not [each for each in sys.modules if each.startswith('kubernetes_asyncio')]\n"
        "import kubernetes_asyncio.client, kubernetes_asyncio.config.kube_config as theirs\n"
        "from topospread.live.kubeconfig_library import Found, kube_config\n"
        "assert theirs is not kube_config\n"
        "assert theirs.Configuration is kubernetes_asyncio.client.Configuration\n"
        "assert kube_config.Configuration is Found\n"
        "known = kubernetes_asyncio.client.Configuration()\n"
        "assert all(hasattr(known, name) for name in vars(Found()))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
