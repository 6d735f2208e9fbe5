"""The questions of the playground: topospread's own commands run inside a browser, and their answers become HTML.

In a browser, integers of numpy have 32 bits unless they are told otherwise, and PyYAML is without its parser in C.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import multiprocessing
import shlex
import sys
import time
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import yaml

_counted, _chosen = np.bincount, np.where
MANIFEST, CLUSTER = "app.yaml", "cluster.yaml"


def prepare() -> list[str]:
    """Make numpy and PyYAML answer as they do elsewhere, and import the modules that the questions need.

    Call it before topospread is imported.

    Returns:
        the files of all imported modules
    """
    for name in ("BaseLoader", "SafeLoader", "Loader", "SafeDumper", "Dumper"):
        if not hasattr(yaml, f"C{name}"):
            setattr(yaml, f"C{name}", getattr(yaml, name))
    if np.dtype(np.intp).itemsize < 8:
        vars(np).update(bincount=_bincount, where=_where)
        vars(multiprocessing).update(get_all_start_methods=list)
    examples = json.loads(resources.files("topospread.web").joinpath("examples.json").read_bytes())
    for each in examples[:4]:
        for question in ("simulate", "why", "lint"):
            ask(question, each["manifest"], each["cluster"])
    ask("promise show", each["manifest"], each["cluster"])
    gc.unfreeze()  # each command excludes what it leaves from garbage collection
    gc.collect()
    return [file for module in sys.modules.values() if (file := getattr(module, "__file__", None))]


def _bincount(numbers: Any, weights: Any = None, minlength: int = 0) -> Any:
    return _counted(np.asarray(numbers).astype(np.intp), weights, minlength)


def _where(condition: Any, *either: Any) -> Any:
    return _chosen(condition, *(np.int64(each) if type(each) is int else each for each in either))


def ask(question: str, manifest: str, cluster: str, target: str = "") -> str:
    """Answer a question as JSON: the ``command``, its ``html`` or ``error``, and the ``seconds`` that it took."""
    begin = time.perf_counter()
    Path(MANIFEST).write_text(manifest, encoding="utf-8")
    Path(CLUSTER).write_text(cluster, encoding="utf-8")
    words = _words(question, cluster.strip(), target)
    printed, complaint = run([*words, "-o", "json"])
    told: dict[str, Any] = {"command": shlex.join(["topospread", *words])}
    # A target such as --help is an option, whose text is no answer.
    told |= {"html": _html(printed)} if printed.startswith("{") else {"error": (printed + complaint).strip()}
    return json.dumps(told | {"seconds": time.perf_counter() - begin})


def run(words: list[str]) -> tuple[str, str]:
    """What a command prints, and what it says on standard error."""
    from topospread.cli.main import main

    sys.argv = ["topospread", *words]
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(io.StringIO()) as complaint,
        contextlib.suppress(SystemExit),
    ):
        main()
    return printed.getvalue(), complaint.getvalue()


def _words(question: str, cluster: str, target: str) -> list[str]:
    made_up = "\n" not in cluster and "=" in cluster
    manifest = [MANIFEST] if question == "lint" else ["-f", MANIFEST]
    named = [target] if target and question in ("why", "promise show") else []
    return [*question.split(), *named, *manifest, "--on", cluster if made_up else CLUSTER]


def _html(printed: str) -> str:
    from topospread.schema import ANSWERS

    kind = json.loads(printed)["kind"]
    answer = msgspec.json.decode(printed, type=getattr(import_module(ANSWERS[kind]), kind))
    return str(answer._repr_html_())
