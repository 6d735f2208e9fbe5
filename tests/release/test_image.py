"""The image, judged where none can be built: BuildKit's checks of the Dockerfile, its steps run in a root of their own.

The steps, the user, the entry point on a root that is read-only: all but the base image, for which this machine stands.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from tests.live.api_server import free_port
from tests.release.image_stages import Stage, instructions, play, stage
from tests.release.pythons import ROOT, supported

Entered = Callable[..., subprocess.Popen[str]]

DOCKERFILE = ROOT / "Dockerfile"
KUSTOMIZE = ROOT / "deploy" / "kustomize"
NOBODY = 65532


@pytest.fixture(scope="module")
def dockerfile(release_programs: Path) -> Path:
    """BuildKit's check of Dockerfiles."""
    return release_programs / "dockerfile"


def image(program: Path, text: str) -> dict[str, Any]:
    """The configuration of the image that a Dockerfile describes."""
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)["config"]
    return made


def test_buildkit_has_no_complaint_and_nobody_is_root(dockerfile: Path) -> None:
    made = image(dockerfile, DOCKERFILE.read_text())
    assert made["User"] == f"{NOBODY}:{NOBODY}"
    assert made["Entrypoint"] == ["topospread"]


def test_the_check_can_fail(dockerfile: Path) -> None:
    text = DOCKERFILE.read_text().replace('ENTRYPOINT ["topospread"]', "ENTRYPOINT topospread")
    done = subprocess.run([dockerfile], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "JSONArgsRecommended" in done.stderr


def test_base_images_are_named_by_digest() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE.read_text(), re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """What the last stage is: a root with ``/opt/topospread`` out of the first one, and what clusters mount."""
    folder = tmp_path_factory.mktemp("image")
    # The user of the image has to reach its root.
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(0o755)
    pythons = supported()
    python = pythons.get("3.13", pythons[min(pythons)])
    first, last = stage(folder / "first", python), stage(folder / "last", python)
    play(first, next(instructions()))
    shutil.move(first.root / "opt", last.root / "opt")
    (last.root / "work").mkdir()
    mounted(last.root)
    return last


def mounted(root: Path) -> None:
    """The volumes of the chart's pods: certificates, and the files of their ConfigMaps."""
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a", "-days", "2"]
    (root / "tls").mkdir()
    files = ["-keyout", root / "tls" / "tls.key", "-out", root / "tls" / "tls.crt"]
    subprocess.run([*words, *files], check=True, capture_output=True)
    (root / "tls" / "tls.key").chmod(0o644)
    shutil.copy(root / "tls" / "tls.crt", root / "tls" / "ca.crt")
    (root / "etc" / "topospread").mkdir()
    for path in (KUSTOMIZE / "base/scheduler.yaml", KUSTOMIZE / "components/webhook/webhook.yaml"):
        for item in yaml.safe_load_all(path.read_text()):
            for name, text in item.get("data", {}).items():
                (root / "etc" / "topospread" / name).write_text(text)


@pytest.fixture
def entered(dockerfile: Path, built: Stage) -> Entered:
    """Starts the image with words after its name, as `docker run --read-only` would: all else is the image's own."""
    made = image(dockerfile, DOCKERFILE.read_text())
    settings = dict(each.split("=", 1) for each in made["Env"])
    # The base image's Python is elsewhere; programs are looked for where the image says first.
    settings["PATH"] += f":{built.settings['PATH']}"
    settings["LD_LIBRARY_PATH"] = built.settings["LD_LIBRARY_PATH"]
    running = Stage(built.root, built.python, settings)

    def start(*given: str) -> subprocess.Popen[str]:
        command = [*made["Entrypoint"], *(given or made["Cmd"])]
        words = running.words(command, closed=True, user=made["User"], folder=made["WorkingDir"])
        pipe = subprocess.PIPE
        return subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe, stderr=pipe)

    return start


def ended(process: subprocess.Popen[str], given: str = "") -> tuple[int, str, str]:
    out, err = process.communicate(given, timeout=120)
    return process.returncode, out, err


def test_without_words_it_says_what_it_can(entered: Entered) -> None:
    code, out, _ = ended(entered())
    assert code == 0
    assert out.startswith("Usage: topospread")


def test_it_is_nobody_who_can_write_nothing(built: Stage, dockerfile: Path) -> None:
    user = image(dockerfile, DOCKERFILE.read_text())["User"]
    asked = "id -u; id -g; for each in / /work /tmp /opt/topospread; do touch $each/a && echo written; done"
    words = built.words(["sh", "-c", asked], closed=True, user=user)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(NOBODY), str(NOBODY)]
    assert done.stderr.count("Read-only file system") == 4


def test_a_simulation_is_answered(entered: Entered) -> None:
    manifest = (ROOT / "docs/tutorial/app.yaml").read_text()
    code, out, err = ended(entered("simulate", "-f", "-", "--on", "zones=3,nodes=6"), manifest)
    assert code == 0, err
    assert out.startswith("yes: ")


def test_installers_are_not_in_it(built: Stage) -> None:
    assert list(built.root.glob("opt/topospread/lib/python*/site-packages/pip")) == []
    assert list(built.root.glob("opt/topospread/lib/python*/site-packages/topospread/__pycache__/*.pyc"))


def parts() -> dict[str, list[str]]:
    """The chart's Deployments, and the words of their containers."""
    return {
        item["metadata"]["name"]: item["spec"]["template"]["spec"]["containers"][0]["args"]
        for path in sorted(KUSTOMIZE.rglob("*.yaml"))
        for item in yaml.safe_load_all(path.read_text())
        if item["kind"] == "Deployment"
    }


def test_the_chart_has_a_part_for_every_mode() -> None:
    modes = {" ".join(itertools.takewhile(lambda word: not word.startswith("-"), words)) for words in parts().values()}
    runs = ("scheduler", "exporter", "webhook", "extender", "scale-in-keeper")
    assert modes == {"serve", *(f"run {each}" for each in runs)}


@pytest.mark.parametrize("part", [name for name, words in parts().items() if "webhook" not in words])
def test_each_part_reads_what_is_mounted_and_looks_for_its_cluster(entered: Entered, part: str) -> None:
    code, out, err = ended(entered(*parts()[part]))
    assert code == 2, out + err
    assert "no cluster found" in out + err


def test_the_webhook_answers(entered: Entered, built: Stage) -> None:
    (words,) = [each for each in parts().values() if each[:2] == ["run", "webhook"]]
    port, metrics = free_port(), f"--metrics-bind-address=0.0.0.0:{free_port()}"
    words = [re.sub(r"^--metrics-bind-address=.*", metrics, each) for each in words]
    process = entered(*[re.sub(r"^--port=.*", f"--port={port}", each) for each in words])
    trusted = ssl.create_default_context(cafile=built.root / "tls" / "tls.crt")
    trusted.check_hostname = False
    try:
        for _ in range(600):
            assert process.poll() is None, process.communicate()
            with contextlib.suppress(OSError), urlopen(f"https://127.0.0.1:{port}/readyz", context=trusted) as answer:
                assert answer.status == 200
                break
            time.sleep(0.1)
        else:
            pytest.fail("it does not answer")
    finally:
        process.terminate()
        process.communicate(timeout=60)
