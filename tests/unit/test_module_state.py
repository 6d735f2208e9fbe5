"""What modules keep for as long as the program runs is bounded, or goes with what it is about."""

from __future__ import annotations

import gc
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import topospread
from topospread.answers.status import status
from topospread.lint.examples import constraint, deployment
from topospread.lint.reading import Question
from topospread.lint.run import run
from topospread.simulation.simulate import simulate

BY_CODE = {
    "topospread.api.decoding._type_of": "by type",
    "topospread.api.new_fields.first_minor": "by field of a table",
    "topospread.api.validation.rules._asked": "by struct of a table",
    "topospread.api.validation.schema._reader": "by type of the schema",
    "topospread.api.validation.schema._search": "by type of the schema",
    "topospread.config.gates._as_released": "by version and component",
    "topospread.config.kinds._struct": "by version and struct of a table",
    "topospread.config.registry.extension_points": "by minor version",
    "topospread.live.instrumented_queue.label": "by resource and action of an event",
    "topospread.frames._fields": "by kind of struct",
    "topospread.admission.dropped_fields.gate_of": "by path of a table",
    "topospread.admission.dropped_fields._steps": "by path of a table",
}
"""Caches without a bound, by what they are remembered: the code knows how many there can be."""


def module_values() -> Iterator[tuple[str, Any]]:
    for module in pkgutil.walk_packages(topospread.__path__, "topospread."):
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            if not hasattr(value, "cache_info") or value.__module__ == module.name:
                yield f"{module.name}.{name}", value


def test_caches_are_bounded_or_known_to_be_small() -> None:
    unbounded = {
        name
        for name, value in module_values()
        if hasattr(value, "cache_parameters") and value.cache_parameters()["maxsize"] is None
        if inspect.signature(value).parameters  # what takes none is remembered once
    }
    assert unbounded == BY_CODE.keys()


def use(number: int, folder: Path) -> None:
    """Lint, simulate and look at what no one has seen before."""
    spec = constraint(f"labelSelector:\n  matchLabels: {{app: app-{number}}}")
    manifest = deployment(spec, name=f"app-{number}", replicas=2)
    run(Question(paths=["-"], cluster="zones=3,nodes=3"), stdin=BytesIO(manifest.encode()))
    (folder / "app.yaml").write_text(manifest)
    inventory = topospread.load(str(folder / "app.yaml"), cluster=f"zones=2,nodes={2 + number}")
    simulate(inventory)
    status(inventory)


def test_nothing_stays_of_what_was_linted_and_simulated(tmp_path: Path) -> None:
    """Tables that go with what they are about have shrunk again, and no other and no unbounded cache grows."""

    def sizes() -> dict[str, int]:
        gc.collect()
        found = {}
        for name, value in module_values():
            if isinstance(value, dict | list | set | WeakKeyDictionary | WeakValueDictionary):
                found[name] = len(value)
            elif hasattr(value, "cache_info") and value.cache_parameters()["maxsize"] is None:
                found[name] = value.cache_info().currsize
        return found

    use(0, tmp_path)
    before = sizes()
    for number in range(1, 6):
        use(number, tmp_path)
    after = sizes()

    assert {name: size for name, size in after.items() if size > before[name]} == {}
    weak = [name for name, value in module_values() if isinstance(value, WeakKeyDictionary | WeakValueDictionary)]
    assert {"topospread.lint.lint_input._KEPT", "topospread.plugins.volume_catalog._CATALOGS"} <= set(weak)
