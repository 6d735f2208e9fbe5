"""A real API server for the tests here, built from its Go modules when it is not there, filled with a small shop."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conformance.kept import kept
from conformance.programs import alone_in
from tests.live.api_server import WITH_GROUPS, api_server
from tests.live.shop import objects

HERE = Path(__file__).parent
BUILD = HERE.parent.parent / "build"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


@dataclass(frozen=True)
class ControlPlane:
    """A running one: where its kubeconfig and its programs are."""

    kubeconfig: Path
    programs: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which kubectl finds it, and finds nothing else."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "PYTHONPATH") if name in os.environ}
        path = f"{self.programs}:/usr/bin:/bin"
        return kept | {"KUBECONFIG": str(self.kubeconfig), "PATH": path}

    def kubectl(self, *words: str, given: object = None) -> str:
        """What kubectl prints."""
        done = subprocess.run(
            [self.programs / "kubectl", *words],
            input=None if given is None else json.dumps(given),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self, items: list[dict[str, Any]]) -> None:
        """Create objects; owners that they name are there, and are referred to by their uid."""
        uids: dict[tuple[str, str], str] = {}
        for each in items:
            for owner in each["metadata"].get("ownerReferences", ()):
                key = (owner["kind"], owner["name"])
                if key not in uids:
                    words = ("get", *key, "-n", each["metadata"]["namespace"], "-o", "jsonpath={.metadata.uid}")
                    uids[key] = self.kubectl(*words)
                owner["uid"] = uids[key]
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        self.kubectl("create", "--validate=false", "-f", "-", given=listed)


def built(name: str, programs: Iterable[str], sources: Path, build: str, *words: str) -> Path:
    """Return the folder of programs, which are built if one is missing or older than the modules that pin it."""
    folder = BUILD / name
    pins = [sources / each for each in ("go.mod", "go.sum", build)]
    with alone_in(folder):
        made = [folder / each for each in programs]
        if not all(each.exists() and each.stat().st_mtime >= pins[0].stat().st_mtime for each in made):
            pins += sources.glob("*.go")
            kept(name, folder, pins, [sources / build, *words, "{}"])
    return folder


def _programs() -> Path:
    return built("live", PROGRAMS, HERE, "controlplane.sh", "build")


@pytest.fixture(scope="session")
def kubectl() -> Path:
    """The folder of the programs, kubectl among them."""
    return _programs()


@pytest.fixture(scope="session")
def renderers() -> Path:
    """The folder of helm and kustomize."""
    return built("renderers", ("helm", "kustomize"), HERE / "renderers", "build.sh")


@contextmanager
def _running(folder: Path, flags: str = "") -> Iterator[ControlPlane]:
    programs = _programs()
    with api_server(programs, folder, flags) as kubeconfig:
        yield ControlPlane(kubeconfig, programs)


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with _running(tmp_path_factory.mktemp("controlplane"), WITH_GROUPS) as running:
        for items in objects():
            running.create(items)
        yield running


@pytest.fixture(scope="session")
def empty_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of an API server with nothing in it, which tests of the scheduler share and wipe."""
    with _running(tmp_path_factory.mktemp("emptyplane")) as running:
        yield running.kubeconfig


@pytest.fixture
def own_plane(tmp_path: Path) -> Iterator[ControlPlane]:
    """An API server for one test, which may break it."""
    with _running(tmp_path / "plane") as running:
        yield running
