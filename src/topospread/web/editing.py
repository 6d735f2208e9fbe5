"""Lint findings and placement for a manifest in the editor. The module reads no file.

The text may come from any user of the page, so it is limited in bytes, synthetic nodes and pods. Names in the text
refer only to the served objects.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

import msgspec

from topospread.answers.lint import lint_finding
from topospread.api.inventory import Inventory
from topospread.base import API_VERSION
from topospread.errors import InputError, Place, UsageError
from topospread.lint.reading import Question
from topospread.lint.run import LintReport, run
from topospread.simulation.options import SimulationOptions
from topospread.simulation.outcome import result_of
from topospread.simulation.placing import place_all
from topospread.simulation.result import Simulation
from topospread.simulation.run import prepare
from topospread.sources.collection import applied
from topospread.sources.files import GZIP, STANDARD_INPUT
from topospread.sources.load import load
from topospread.sources.synthetic_cluster import is_synthetic, synthetic_nodes

from .trial_limits import pods_asked

Json = dict[str, Any]

ManifestKey = tuple[str, str, str]

MOST_TEXT: Final = 256 << 10
"""Maximum bytes of a manifest that is judged while the user types."""
MOST_PODS: Final = 5_000
"""Maximum pods of a manifest."""
MOST_NODES: Final = 1_000
"""Maximum nodes of a synthetic cluster."""
SYNTHETIC: Final = "zones=3,nodes=6,cpu=4,memory=16Gi"
OF_EXAMPLE: Final = "example:"
"""Prefix of an example's name; the example supplies the cluster."""


@dataclass(frozen=True, slots=True)
class ManifestExample:
    """One of the documentation's examples.

    Attributes:
        name: its folder in ``examples/``.
        title, why: the first heading and the first paragraph of its page.
        cluster: manifests of nodes and of the pods on them.
    """

    name: str
    title: str
    why: str
    cluster: str
    manifest: str


@cache
def examples() -> dict[str, ManifestExample]:
    """Return the examples by name, which ``docs/reference/write_page_examples.py`` wrote."""
    text = files(__package__).joinpath("examples.json").read_bytes()
    return {each.name: each for each in msgspec.json.decode(text, type=list[ManifestExample])}


@dataclass(frozen=True, slots=True)
class WrittenManifest:
    """The result for a text.

    Attributes:
        lint: the findings; None if lint did not run.
        result: the placement; None if it is unknown.
        own: (kind, namespace, name) of each object in the text.
        whole: the cluster with the text's objects, before placement.
        problem: the reason if there is no result and no finding tells it.
    """

    lint: LintReport | None
    result: Simulation | None = None
    own: frozenset[ManifestKey] = frozenset()
    whole: Inventory | None = None
    problem: InputError | None = None

    def to_dict(self) -> Json:
        """Return the data for the editor: see ``docs/reference/page.md``."""
        broken = list(self.lint.read.broken) if self.lint is not None else []
        problems = broken or ([self.problem] if self.problem is not None else [])
        return {
            "apiVersion": API_VERSION,
            "kind": "Draft",
            "findings": [lint_finding(each).to_dict() for each in self.lint or ()],
            "problems": [
                {"message": each.message, "line": place.line, "column": place.column, "object": place.object or None}
                for each in problems
                for place in [each.place or Place()]
            ],
            "simulation": self._simulation(self.result.to_dict()) if self.result is not None else None,
        }

    def _simulation(self, told: Json) -> Json:
        """Return the part of a simulation about the text's own workloads, and the number of other pending pods."""
        names = {f"{kind}/{name}": namespace for kind, namespace, name in self.own}
        pending = [each for each in told["pending"] if names.get(each["workload"]) == each["namespace"]]
        others = sum(len(each["pods"]) for each in told["pending"]) - sum(len(each["pods"]) for each in pending)
        return {
            "nodes": told["nodes"],
            "workloads": [it for it in told["workloads"] if (it["kind"], it["namespace"], it["name"]) in self.own],
            "pending": pending,
            "evictions": told["evictions"],
            "othersPending": others,
            "warnings": told["warnings"],
        }


def judge_draft(
    text: bytes, cluster: str, served: Callable[[], Inventory], options: SimulationOptions
) -> WrittenManifest:
    """Lint a manifest and simulate it.

    Args:
        text: UTF-8 of YAML or JSON.
        cluster: "" for the served cluster, ``example:NAME``, or a synthetic cluster.

    Raises:
        UsageError: if the text is too long or packed, or the cluster is unknown.
    """
    if text.startswith(GZIP):
        raise UsageError("the editor needs text, not a gzip file")
    if len(text) > MOST_TEXT:
        raise UsageError(f"the editor accepts at most {MOST_TEXT:,} bytes, got {len(text):,}")
    nodes = _cluster(cluster, served)
    report = None
    try:
        question = Question(paths=[STANDARD_INPUT], config=options.config, kube_version=options.kube_version)
        report = run(question, io.BytesIO(text), cluster=nodes)
        if report.read.broken:
            return WrittenManifest(report)
        added = load([STANDARD_INPUT], stdin=io.BytesIO(text), needs_nodes=False, allow_empty=True, applied=1)
        whole = applied(nodes, added)
        _check_size(added, len(whole.nodes))
        simulated = prepare(whole, replace(options, tries_groups=True))
        place_all(simulated)
        own = frozenset((type(each).__name__, each.namespace or "", each.name) for each in added.objects())
        return WrittenManifest(report, result_of(simulated), own, whole)
    except InputError as error:
        return WrittenManifest(report, problem=error)


def _cluster(given: str, served: Callable[[], Inventory]) -> Inventory:
    """Return the cluster for a manifest. A path is never opened."""
    if not given:
        return served()
    if given.startswith(OF_EXAMPLE):
        found = examples().get(given.removeprefix(OF_EXAMPLE))
        if found is None:
            raise UsageError("there is no example of this name")
        return load([STANDARD_INPUT], stdin=io.BytesIO(found.cluster.encode()))
    if not is_synthetic(given):
        raise UsageError(f"specify a synthetic cluster as in {SYNTHETIC}")
    if len(synthetic_nodes(given)) > MOST_NODES:
        raise UsageError(f"a synthetic cluster in the editor may have at most {MOST_NODES:,} nodes")
    return load([], cluster=given)


def _check_size(added: Inventory, nodes: int) -> None:
    """Raise InputError if there are too many pods to place while a user waits."""
    asked = sum(pods_asked(added.objects())) + nodes * len(added.daemon_sets)
    if asked > max(MOST_PODS, nodes * 2):
        more = "the command simulates more (topospread simulate)"
        raise InputError(f"the editor simulates at most {MOST_PODS:,} pods, got {asked:,}; {more}")
