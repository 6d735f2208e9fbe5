"""The wheel in an empty environment of each supported Python that the machine has, away from the repository."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.pythons import DIST, EMPTY, INSTALLER, ROOT, UV, environment, supported, wheel

TUTORIAL = ROOT / "docs" / "tutorial" / "first-simulation.md"
SHOWN = re.findall(r"```console\n\$ (topospread [^\n]*)\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)
PYTHONS = supported()
IMPORT_ALL = """
import importlib, json, pkgutil, sys, topospread
extras, names = set(), [each.name for each in pkgutil.walk_packages(topospread.__path__, 'topospread.')]
for name in names:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        extras.add(error.name.partition('.')[0])
files = [module.__file__ for module in list(sys.modules.values()) if getattr(module, '__file__', None)]
print(json.dumps({'names': names, 'extras': sorted(extras), 'files': files}))
"""
EXTRAS = {"aiohttp", "kubernetes_asyncio", "prometheus_client", "highspy", "distributed", "dask"}
EXTRAS |= {"starlette", "uvicorn", "jinja2", "lsprotocol", "pygls", "mcp"}


@pytest.fixture(scope="module", params=PYTHONS, ids=lambda version: f"python{version}")
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("installed") / "env", PYTHONS[request.param], "runtime.txt")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with the tutorial's manifest where the tutorial has it, and nothing else of the repository."""
    (tmp_path / "docs/tutorial").mkdir(parents=True)
    shutil.copy(TUTORIAL.parent / "app.yaml", tmp_path / "docs/tutorial")
    return tmp_path


def test_the_tutorial_shows_what_is_printed(programs: Path, elsewhere: Path) -> None:
    assert len(SHOWN) >= 2
    for command, output in SHOWN:
        words = [programs / "topospread", *shlex.split(command)[1:]]
        done = subprocess.run(words, cwd=elsewhere, env=EMPTY, capture_output=True, text=True, check=False)
        assert done.stdout == output, done.stderr


def test_every_module_comes_from_the_environment_and_only_extras_are_missing(programs: Path, elsewhere: Path) -> None:
    words = [programs / "python", "-I", "-c", IMPORT_ALL]
    done = subprocess.run(words, cwd=elsewhere, env=EMPTY, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert len(told["names"]) > 400, done.stderr
    assert set(told["extras"]) <= EXTRAS
    assert [file for file in told["files"] if Path(file).is_relative_to(ROOT / "src")] == []


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("pins", ["runtime.txt", "image.txt"])
def test_every_pin_has_a_wheel_for_each_python(version: str, pins: str, tmp_path: Path) -> None:
    """No compiler is needed, also where this machine lacks that Python."""
    words = [UV, "pip", "install", "--quiet", "--dry-run", "--target", tmp_path, "--python-version", version]
    words += ["--python-platform", "x86_64-manylinux_2_28", "--only-binary", ":all:", "--require-hashes"]
    subprocess.run([*words, "-r", ROOT / "requirements" / pins], env=INSTALLER, check=True)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lint", "docs/tutorial/app.yaml"], {0, 1}),
        (["explain", "rules"], {0}),
        (["explain", "topologySpreadConstraints.minDomains"], {0}),
        (["config", "show"], {0}),
        (["simulate", "-f", "docs/tutorial/app.yaml", "--on", "zones=3,nodes=6", "--kube-version", "1.27"], {0, 1}),
        (["drill", "-f", "docs/tutorial/app.yaml", "--on", "zones=3,nodes=6", "--fail", "zone=zone-a"], {0, 1}),
        (["completion", "bash"], {0}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_commands_find_the_data_they_need(programs: Path, elsewhere: Path, words: list[str], code: set[int]) -> None:
    done = subprocess.run(
        [programs / "topospread", *words], cwd=elsewhere, env=EMPTY, capture_output=True, text=True, check=False
    )
    assert done.returncode in code, done.stderr
    assert done.stdout


def test_kubectl_finds_the_plugin_and_its_completion(programs: Path, elsewhere: Path) -> None:
    shown = subprocess.run(
        [programs / "kubectl-topospread", "--version"], env=EMPTY, capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("topospread ")
    asked = [programs / "kubectl_complete-topospread", "simu"]
    answer = subprocess.run(asked, env=EMPTY, capture_output=True, text=True, check=True).stdout
    assert answer.startswith("simulate\t")


def test_nothing_of_development_ships(programs: Path) -> None:
    installed = next(programs.parent.glob("lib/python*/site-packages"))
    assert not {"conformance", "tests", "benchmarks", "release"} & {path.name for path in installed.iterdir()}
    assert not [path for path in (installed / "topospread").rglob("*.py") if "judge_case" in path.read_text()]


def test_uv_installs_it_as_a_tool(elsewhere: Path) -> None:
    folders = {"UV_TOOL_DIR": str(elsewhere / "tools"), "UV_TOOL_BIN_DIR": str(elsewhere / "bin")}
    install = [UV, "tool", "install", "--quiet", "--python", sys.executable, wheel()]
    subprocess.run(install, check=True, env=INSTALLER | folders)
    assert run_version(elsewhere / "bin" / "topospread")


def test_pipx_installs_it(elsewhere: Path) -> None:
    folders = {"PIPX_HOME": str(elsewhere / "pipx"), "PIPX_BIN_DIR": str(elsewhere / "bin")}
    install = [UV.parent / "pipx", "install", "--quiet", "--backend", "pip", "--python", sys.executable, wheel()]
    subprocess.run(install, check=True, env=INSTALLER | folders, capture_output=True)
    assert run_version(elsewhere / "bin" / "topospread")


def test_pip_builds_the_sdist(elsewhere: Path) -> None:
    (source,) = DIST.glob("topospread-*.tar.gz")
    subprocess.run([sys.executable, "-m", "venv", elsewhere / "env"], check=True)
    install = [elsewhere / "env/bin/python", "-m", "pip", "install", "--quiet", source]
    subprocess.run(install, check=True, env=INSTALLER, capture_output=True)
    assert run_version(elsewhere / "env/bin/topospread")


def run_version(program: Path) -> bool:
    return subprocess.run([program, "--version"], env=EMPTY, check=True, capture_output=True).stdout.startswith(
        b"topospread "
    )
