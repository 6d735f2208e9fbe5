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
from topospread.answer import Answer

HEAD = """\
# The Python API

Printed from the docstrings by `python docs/reference/write_python_api.py`.

A `Session` reads a cluster once, and has a method for each command that answers a question. `to_json()` of an answer is
the command's `-o json`. The steps of a drill are in `topospread.steps`. `help(topospread.Session.why)` describes all
arguments.

[Ask from Python](../how-to/session.md) has examples. `config` is a file or data:

```python
import topospread

constraint = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 3, "whenUnsatisfiable": "ScheduleAnyway"}
arguments = {"defaultingType": "List", "defaultConstraints": [constraint]}
profile = {"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}
kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
cluster = topospread.Session("zones=3,nodes=6", kube_version="1.33", config={**kind, "profiles": [profile]})
print(cluster.simulate("docs/reference/lint/web.yaml").to_json())
```

If input is unusable or output cannot be written, a method raises an `InputError` with the command's message. All
intended exceptions are `TopospreadError`s.
"""

ASKED = ("Session", "Promises")
"""Classes whose methods have sections of their own."""
OPTIONS = ("Placing",)
"""Classes whose attributes are shown."""

SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):$", re.MULTILINE)
DEDENTED = re.compile(r"^(?=\S)", re.MULTILINE)
ENTRY = re.compile(r"^    (?=\S)", re.MULTILINE)


def prose(text: str) -> str:
    """A docstring's text as Markdown: its references and literals are code."""
    return re.sub(r"``([^`]*)``|`([^`]*)`", lambda found: f"`{found[1] or found[2]}`", text).strip()


def docstring(text: str, whole: bool = True, sections_kept: tuple[str, ...] = ("Raises",)) -> Iterator[str]:
    """Yield a docstring's paragraphs as Markdown, or its first one with some sections."""
    said, *sections = SECTION.split(inspect.cleandoc(text))
    yield prose(said) if whole else prose(said.split("\n\n")[0])
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if not whole and title not in sections_kept:
            continue
        listing, *after = DEDENTED.split(body, maxsplit=1)
        entries = [" ".join(each.split()) for each in ENTRY.split(listing)[1:]]
        entries = [each for each in entries if not each.startswith("InputError: ")]
        listed = "\n".join(f"- {prose(each) if title == 'Returns' else entry(each)}" for each in entries)
        if listed:
            yield f"{'Arguments' if title == 'Args' else title}:\n\n{listed}"
        yield from map(prose, after if whole else ())


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
    """Yield a line for each method and property of a class, without those of every answer."""
    for name, member in inspect.getmembers_static(value):
        same = inspect.getattr_static(Answer, name, None) is member
        if value is not Answer and (same or (issubclass(value, Answer) and hasattr(Answer, name))):
            continue
        inner = getattr(member, "__func__", getattr(member, "func", getattr(member, "fget", member)))
        if name.startswith("_") or not (inspect.isfunction(inner) and inner.__module__.startswith("topospread")):
            continue
        called = name if isinstance(member, (property, cached_property)) else signature(name, inner)
        (first, *_) = docstring(inspect.getdoc(inner) or "", whole=False)
        yield f"- `{' '.join(called.split())}`: {' '.join(first.split())}"


def section(name: str) -> Iterator[str]:
    """One exported name: how it is made or called, what is said of it, what it has."""
    value = getattr(topospread, name)
    yield f"### {name}"
    if not inspect.isclass(value):
        yield f"```text\n{signature(name, value)}\n```"
    kept = ("Raises", "Attributes") if name in OPTIONS else ("Raises",)
    yield from docstring(inspect.getdoc(value) or "", name in ASKED, kept)
    if name in ASKED:
        for method, member in inspect.getmembers_static(value, inspect.isfunction):
            if not method.startswith("_"):
                yield f"#### {name}.{method}"
                yield f"```text\n{signature(method, member)}\n```"
                yield from docstring(inspect.getdoc(member) or "", whole=False)
    elif inspect.isclass(value):
        found = list(members(value))
        if found:
            yield "\n".join(found)


def page() -> str:
    """The whole page."""
    names = [name for name in topospread.__all__ if not name.startswith("_")]
    classes = [name for name in names if inspect.isclass(getattr(topospread, name))]
    functions = [name for name in names if name not in classes]
    parts = [HEAD.rstrip(), "## Methods of every answer", "\n".join(members(Answer))]
    for title, listed in (("Functions", functions), ("Classes", classes)):
        parts += [f"## {title}", *(part for name in listed for part in section(name))]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
