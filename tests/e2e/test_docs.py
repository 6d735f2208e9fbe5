"""What the documentation shows is what the command prints, and what it says of Python runs."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from conformance.run import FLAVOURS, NOT_BUILT, PREVIEWS
from tests.answer_schema import schema_of
from tests.command import forked

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"```console\n\$ (topospread [^\n]*)\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")

SHOWN = [(page, *found) for page in PAGES for found in CONSOLE.findall(page.read_text())]


def run(line: str) -> str:
    return forked(*shlex.split(line)[1:], cwd=ROOT, env={"PATH": ""}).stdout


def test_the_documentation_shows_output() -> None:
    assert len(SHOWN) >= 4


@pytest.mark.parametrize(("page", "line", "output"), SHOWN, ids=lambda value: getattr(value, "name", None))
def test_shown_output_is_what_is_printed(page: Path, line: str, output: str) -> None:
    assert run(line) == output, page


@pytest.mark.parametrize(
    "page", [page for page in PAGES if PYTHON.search(page.read_text())], ids=lambda page: page.name
)
def test_shown_python_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for code in PYTHON.findall(page.read_text()):
        exec(compile(code, str(page), "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("example", ["min-domains", "scale-down", "one-constraint", "default-constraints"])
def test_json_has_the_documented_form(example: str) -> None:
    schema = schema_of("Simulation")
    command = next(
        line[2:] for line in (ROOT / "examples" / example / "README.md").read_text().splitlines() if line[:2] == "$ "
    )
    words = shlex.split(command)[1:]
    done = forked(*words, "-o", "json", cwd=ROOT / "examples" / example)
    jsonschema.validate(json.loads(done.stdout), schema)


def test_the_page_on_the_command_is_its_help() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text()
    shortened = runpy.run_path(str(ROOT / "docs/reference/write_cli.py"))["shortened"]
    shown = re.findall(r"## topospread ?([a-z ]*)\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(shown) >= 8
    for words, text in shown:
        # A process of its own: click keeps the help option of a command that another test ran by itself.
        program = [str(Path(sys.executable).with_name("topospread")), *words.split(), "--help"]
        done = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, env={"PATH": ""}, check=True)
        assert shortened(done.stdout).rstrip() == text.rstrip()
    assert run("topospread explain options") in page


def test_the_page_on_versions_is_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(ROOT / "docs/reference/write_versions.py"), run_name="__main__")
    assert (ROOT / "docs/reference/versions.md").read_text() == capsys.readouterr().out
    judged = {flavour.version for flavour in FLAVOURS.values()}
    assert {*names["DRAWN"], *names["STORED"], *PREVIEWS} == judged
    assert {*names["STORED"]} == {*NOT_BUILT}


def test_the_page_on_feature_gates_is_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "docs/reference/write_feature_gates.py"), run_name="__main__")
    assert (ROOT / "docs/reference/feature-gates.md").read_text() == capsys.readouterr().out


def test_the_page_on_python_is_the_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "docs/reference/write_python_api.py"), run_name="__main__")
    assert (ROOT / "docs/reference/python-api.md").read_text() == capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_yaml_blocks_are_yaml(page: Path) -> None:
    for block in re.findall(r"(?ms)^ *```yaml\n(.*?)^ *```", page.read_text()):
        list(yaml.safe_load_all(block))
