"""What the code imports is what `pyproject.toml` asks for: what comes with something else may go with it."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORTED_AS = {"PyYAML": "yaml", "Jinja2": "jinja2"}


def test_every_imported_package_is_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    names = [re.split("[<>=]", line)[0] for line in lines]
    asked = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}

    imported = {
        word.partition(".")[0]
        for file in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for word in _imports(node)
    }

    assert imported - sys.stdlib_module_names - {"topospread"} == asked


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


def test_no_release_with_a_known_vulnerability_is_let_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    floors = {name: tuple(map(int, floor.split("."))) for name, _, floor in (line.partition(">=") for line in lines)}
    for name, first_good in {"starlette": (0, 49, 1), "aiohttp": (3, 14, 1), "Jinja2": (3, 1, 6)}.items():
        assert floors[name] >= first_good, name
