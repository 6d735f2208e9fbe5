"""Names are unique in their package, the map in CONTRIBUTING names every package, and tests mirror the source path."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, UNIT = ROOT / "src" / "topospread", ROOT / "tests" / "unit"
UNMIRRORED = 188
"""Number of modules over 40 lines without a test file of their own path. Lower it after you add such a file."""
_PLACE = re.compile(r"\| `([\w/.]+)`: `(\w+)` \|")


def named() -> Iterator[tuple[str, str, str]]:
    """Every class and every alias of a type, private ones too: its name, its module, and what it is."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree, where = ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(SOURCE))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield node.name, where, f"the class in {where}"
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name, value = statement.targets[0].id, ast.unparse(statement.value)
                if any(each.islower() for each in name) and name.lstrip("_")[:1].isupper() and "TypeVar(" not in value:
                    yield name, where, value


def test_no_class_of_a_package_has_the_name_of_another_or_of_an_alias() -> None:
    known: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    classes = set()
    for name, where, what in named():
        key = where.rpartition("/")[0].partition("/")[0], name
        known[key].append((where, what))
        classes.update({key} if what.startswith("the class") else ())
    assert len(classes) > 500
    assert {key: found for key, found in known.items() if key in classes and len(found) > 1} == {}


def test_what_contributors_are_told_to_find_is_there() -> None:
    told = _PLACE.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(told) == 20
    for path, name in told:
        text = (SOURCE / path).read_text(encoding="utf-8")
        defined = rf"^\s*(def|class) {name}\b|^{name}\b" if path.endswith(".py") else rf'^"{name}":'
        assert re.search(defined, text, re.MULTILINE), f"{name} in {path}"


def test_the_map_names_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {each.name for each in SOURCE.iterdir() if (each / "__init__.py").exists()}
    assert folders
    assert {each for each in folders if f"`src/topospread/{each}/`" not in text} == set()


def test_modules_have_a_test_file_of_their_own_path() -> None:
    modules = [each.relative_to(SOURCE) for each in SOURCE.rglob("*.py") if each.name != "__init__.py"]
    long = [each for each in modules if len((SOURCE / each).read_text(encoding="utf-8").splitlines()) > 40]
    missing = sorted(str(each) for each in long if not (UNIT / each.parent / f"test_{each.name}").exists())
    assert len(missing) <= UNMIRRORED, f"src/topospread/a/b.py needs tests/unit/a/test_b.py: {missing}"
