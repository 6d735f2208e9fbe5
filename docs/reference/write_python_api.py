"""Prints the page `python-api.md` from the docstrings of what `topospread` exports; a test holds the page to it.

python docs/reference/write_python_api.py > docs/reference/python-api.md
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import topospread

HEAD = """\
# The Python API

Printed from the docstrings by `python docs/reference/write_python_api.py`.

A `Session` reads a cluster once; its methods ask the questions of the commands. An answer is data, and `to_json()` is
exactly what the command writes with `-o json`, whose forms are described beside ([simulation](simulation.md),
[explanation](why.md), [status](status.md), [drill](drill.md), [capacity](capacity.md),
[rebalance](rebalance.md), [promises.check](promise-check.md), [promises.show](promise-show.md),
[promises.design](promise-design.md),
[lint](lint.md), [plan](plan.md)). The steps of a drill are in `topospread.drills.steps`.

```python
import topospread

cluster = topospread.Session(["examples/demo/cluster.yaml", "examples/demo/shop.yaml"])
assert cluster.simulate().pending == ()
print(cluster.why("shop/deploy/checkout").says)
print(cluster.status().workloads[0].name)

for finding in cluster.lint().findings:
    print(finding.rule, finding.where, finding.says)
```

A cluster can be synthetic, of another Kubernetes version, with feature gates and a configuration of kube-scheduler, as
a file or as data:

```python
import topospread

constraint = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 3, "whenUnsatisfiable": "ScheduleAnyway"}
arguments = {"defaultingType": "List", "defaultConstraints": [constraint]}
cluster = topospread.Session(
    "zones=3,nodes=6",
    kube_version="1.33",
    gates="MatchLabelKeysInPodTopologySpread=false",
    config={
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}],
    },
)
print(cluster.simulate("docs/reference/lint/web.yaml").to_json())

settings = topospread.Settings(ignore=frozenset({"no-budget"}))
found = cluster.lint("docs/reference/lint/web.yaml", settings=settings)
assert "no-budget" not in {each.rule for each in found.findings}
```

What cannot be read or used raises an `InputError`, in the words of the command, and every exception that is raised on
purpose is a `TopospreadError`.
"""

ASKED = ("Session", "Promises")
"""Classes whose methods are told at length."""

SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):$", re.MULTILINE)
DEDENTED = re.compile(r"^(?=\S)", re.MULTILINE)
ENTRY = re.compile(r"^    (?=\S)", re.MULTILINE)


def prose(text: str) -> str:
    """A docstring's text as Markdown: its references and literals are code."""
    return re.sub(r"``([^`]*)``|`([^`]*)`", lambda found: f"`{found[1] or found[2]}`", text).strip()


def docstring(text: str) -> Iterator[str]:
    """A docstring's paragraphs as Markdown, those of its sections as lists."""
    said, *sections = SECTION.split(inspect.cleandoc(text))
    yield prose(said)
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        listing, *after = DEDENTED.split(body, maxsplit=1)
        entries = [" ".join(each.split()) for each in ENTRY.split(listing)[1:]]
        listed = "\n".join(f"- {prose(each) if title == 'Returns' else entry(each)}" for each in entries)
        yield f"{'Arguments' if title == 'Args' else title}:\n\n{listed}"
        yield from map(prose, after)


def entry(text: str) -> str:
    """An entry of a section: its names are code."""
    names, _, words = text.partition(": ")
    return f"{', '.join(f'`{name}`' for name in names.split(', '))}: {prose(words)}"


def signature(name: str, value: Any) -> str:
    """How something is called: its parameters with their types and defaults, on one line or a line each."""
    given = inspect.signature(value)
    shown: list[str] = []
    for each in given.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(one.startswith("*") for one in shown):
            shown.append("*")
        if each.name not in ("self", "cls"):
            star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
            default = "" if each.default is each.empty else f" = {each.default!r}"
            shown.append(f"{star}{each.name}: {each.annotation}{default}")
    returns = f" -> {given.return_annotation}"
    one_line = f"{name}({', '.join(shown)}){returns}"
    return (
        one_line if len(one_line) < 100 else "\n".join([f"{name}(", *(f"    {each}," for each in shown), f"){returns}"])
    )


def members(value: type) -> Iterator[str]:
    """What a class has besides its attributes, a line each, and its own before what it inherits."""
    for name, member in inspect.getmembers_static(value):
        inner = getattr(member, "__func__", getattr(member, "func", getattr(member, "fget", member)))
        if name.startswith("_") or not (inspect.isfunction(inner) and inner.__module__.startswith("topospread")):
            continue
        called = name if isinstance(member, (property, cached_property)) else signature(name, inner)
        (first, *_) = docstring(inspect.getdoc(inner) or "")
        yield f"- `{' '.join(called.split())}`: {' '.join(first.split(chr(10) * 2)[0].split())}"


def section(name: str) -> Iterator[str]:
    """One exported name: how it is made or called, what is said of it, what it has."""
    value = getattr(topospread, name)
    yield f"### {name}"
    if not inspect.isclass(value):
        yield f"```text\n{signature(name, value)}\n```"
    yield from docstring(inspect.getdoc(value) or "")
    if name in ASKED:
        for method, member in inspect.getmembers_static(value, inspect.isfunction):
            if not method.startswith("_"):
                yield f"#### {name}.{method}"
                yield f"```text\n{signature(method, member)}\n```"
                yield from docstring(inspect.getdoc(member) or "")
    elif inspect.isclass(value):
        found = list(members(value))
        if found:
            yield "It has:\n\n" + "\n".join(found)


def page() -> str:
    """The whole page."""
    names = [name for name in topospread.__all__ if not name.startswith("_")]
    classes = [name for name in names if inspect.isclass(getattr(topospread, name))]
    functions = [name for name in names if name not in classes]
    parts = [HEAD.rstrip()]
    for title, listed in (("Functions", functions), ("Classes", classes)):
        parts += [f"## {title}", *(part for name in listed for part in section(name))]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
