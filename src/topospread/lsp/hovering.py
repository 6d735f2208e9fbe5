"""Hover texts: documentation of a constraint's field, and the losses of the workload under the cursor."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.fields import explain
from topospread.api.inventory import Inventory
from topospread.errors import TopospreadError, UsageError
from topospread.lint.lint_input import LintSubject, Manifest
from topospread.lint.run import LintReport
from topospread.render.blocks import Code, Fact, Page
from topospread.render.markdown import markdown
from topospread.render.text import text
from topospread.session import Session
from topospread.text import escape_all

_CONSTRAINTS = "topologySpreadConstraints"
_STATES = 200
_SECONDS = 0.1
"""Time limit in seconds for each count. `topospread promise show` searches longer."""
_MOST_NODES, _MOST_PODS = 200, 100
"""Limits on nodes and on pods to place. Above them, a hover would block linting for seconds."""


def explained(report: LintReport, offset: int) -> Iterator[str]:
    """Yield Markdown about the field or workload at an offset in characters."""
    found = next((each for subject in report.read.subjects for each in _at(report, subject, offset)), None)
    if found is None:
        return
    subject, path, on_key = found
    if _CONSTRAINTS in path:
        names = [str(step) for step in path[path.index(_CONSTRAINTS) :] if isinstance(step, str)]
        yield escape_all(_documentation(names))
    on_workload = path in (["kind"], ["metadata", "name"]) or (on_key and path[-1] == _CONSTRAINTS)
    if on_workload and isinstance(subject, Manifest) and subject.pods is not None and subject.kind != "Pod":
        yield escape_all(_promise(report, subject))


def _documentation(names: list[str]) -> str:
    """Return the documentation of a field, or of its nearest documented parent."""
    try:
        return _as_it_stands(explain(".".join(names)))
    except UsageError:
        return _documentation(names[:-1])


def _promise(report: LintReport, subject: Manifest) -> str:
    """Return the result of `topospread promise show` for a workload, as far as a short search finds it."""
    if not report.given.nodes:
        return _not_judged('no nodes are known: set on = "CLUSTER" in topospread.toml')
    if subject.refused:
        return _not_judged("the API server would refuse this object")
    if len(report.given.nodes) > _MOST_NODES:
        return _not_judged("it takes seconds with this many nodes: use topospread promise show")
    if _to_place(report.given.inventory) > _MOST_PODS:
        return _not_judged("it takes seconds with this many pods: use topospread promise show")
    version, target = str(report.given.version), f"{subject.item.namespace}/{subject.kind}/{subject.item.name}"
    session = Session(report.given.inventory, kube_version=version, config=report.given.configuration, render="never")
    try:
        page = session.promises.show(target, most=1, states=_STATES, seconds=_SECONDS).page()
        return _as_it_stands(text(page, width=80))
    except TopospreadError as error:
        return _not_judged(str(error))


def _to_place(inventory: Inventory) -> int:
    """Return the number of desired pods that do not exist."""
    scaled = [each.spec.replicas for each in inventory.deployments]
    scaled += [each.spec.replicas for each in inventory.stateful_sets]
    scaled += [each.spec.replicas for each in inventory.replication_controllers]
    scaled += [each.spec.parallelism for each in inventory.jobs]
    wanted = sum(1 if each is None else each for each in scaled)
    owned = sum(each.metadata.controller is not None for each in inventory.pods)
    return wanted - owned


def _as_it_stands(words: str) -> str:
    return markdown(Page("", (Code(words.rstrip("\n")),)))


def _not_judged(words: str) -> str:
    return markdown(Page("", (Fact("promise not judged", words),)))


def _at(report: LintReport, subject: LintSubject, offset: int) -> Iterator[tuple[LintSubject, list[str | int], bool]]:
    """Yield (object, field path at the offset, whether the offset is in a field's name)."""
    location = subject.location
    root = report.read.layouts.root(location)
    # In JSON, offsets are relative to the object.
    within = offset - len(location.text.data[: location.start].decode())
    if root is None or not root.start <= within <= root.end:
        return
    path: list[str | int] = []
    node, on_key = root, False
    while not on_key:
        step = next((step for step, child in node.children.items() if child.begin <= within <= child.end), None)
        if step is None:
            break
        path.append(step)
        node = node.children[step]
        on_key = node.key is not None and within < node.start
    yield subject, path, on_key
