"""Calls of HTTP extenders as in kube-scheduler: the nodes that extenders admit, and the scores that they give.

Source: pkg/scheduler/extender.go, pkg/scheduler/schedule_one.go (``findNodesThatPassExtenders``, ``prioritizeNodes``).
Extenders are called only if the user allows it (`Extender.asked`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.api.meta import Int64
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.quantity import wrap_int64
from topospread.cluster import Cluster
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey
from topospread.config.profile import Extender
from topospread.config.version_rules import rules_for
from topospread.plugins.interface import (
    MAX_NODE_SCORE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    NotJudgedError,
    PluginError,
    Status,
    StatusCode,
)
from topospread.plugins.pod_topology_spread import SoftConstraints

from .framework import FrameworkRules
from .view import View

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

T = TypeVar("T")
_HIGHEST = 10
"""Highest score of a node from an extender, before its weight (``MaxExtenderPriority``)."""
_READ_FROM_NODE = frozenset(
    {"NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality", "NodeAffinity", "TaintToleration"}
)
"""Plugins whose scores depend on the node object that Score receives."""


class _Metadata(msgspec.Struct):
    name: str = ""


class _Node(msgspec.Struct):
    metadata: _Metadata


class _Nodes(msgspec.Struct):
    items: list[_Node] | None = None


class _Filtered(msgspec.Struct):
    """An ExtenderFilterResult, with field names in lower case."""

    nodes: _Nodes | None = None
    nodenames: list[str] | None = None
    failednodes: dict[str, str] | None = None
    failedandunresolvablenodes: dict[str, str] | None = None
    error: str | None = None


class _Score(msgspec.Struct):
    """A HostPriority."""

    host: str = ""
    score: Int64 = 0


class Passed(msgspec.Struct):
    """The answer of all extenders about a pod.

    Attributes:
        rows: rows of the admitted nodes.
        points: extender → scores in the order of ``rows``; ``None`` for a node without a score.
        bare: whether an extender returned node objects. kube-scheduler then scores these nodes as if they had no pods.
        refused: row → the extender's reason, only for rejected nodes with a reason.
    """

    rows: Ints
    points: dict[str, list[int | None]]
    bare: bool
    refused: dict[int, Status]


class ExtenderCalls:
    """Calls extenders. Responses to equal requests are cached until the cluster changes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._stamp = -1
        self._known: dict[tuple[str, bytes], Any] = {}
        self._openers: dict[str, OpenerDirector] = {}

    def filtered(self, key: PodKey, pod: Pod, extenders: Sequence[Extender], rows: Ints) -> Passed:
        """Return the nodes that all extenders admit. Each extender gets the nodes that the previous extender admitted.

        Raises:
            PluginError: if an extender that is not ignorable fails.
            NotJudgedError: if an extender cannot be called.
        """
        nodes = self._cluster.nodes
        passed = Passed(rows, {}, bare=False, refused={})
        for each in extenders:
            if not len(passed.rows):
                break
            verb = each.verbs.get("filterVerb")
            if not verb:
                continue
            named = {nodes.names[row]: row for row in passed.rows.tolist()}
            try:
                found = self._ask(each, verb, self._body(each, key, pod, passed.rows), _filtered)
                if found.error:
                    raise PluginError(found.error)
                kept, bare = _kept(each, found)
                if not bare and (strange := next((name for name in kept if name not in named), None)) is not None:
                    raise PluginError(
                        f'extender "{each.url}" claims a filtered node "{strange}" which is not found in the input '
                        "node list"
                    )
            except NotJudgedError:
                raise
            except PluginError:
                if each.ignorable:
                    continue
                raise
            if any(name not in named for name in kept):
                raise _unknown(each, "it lets nodes pass that it was not asked about")
            reasons: list[tuple[dict[str, str] | None, StatusCode]] = [
                (found.failednodes, UNSCHEDULABLE),
                (found.failedandunresolvablenodes, UNRESOLVABLE),
            ]
            for failed, code in reasons:
                for name, words in (failed or {}).items():
                    if name in nodes.row_of:
                        passed.refused[nodes.row_of[name]] = Status(code, (words,))
            passed.rows = np.array([named[name] for name in kept], dtype=np.int64)
            passed.bare |= bare
        return passed

    def scored(self, key: PodKey, pod: Pod, extenders: Sequence[Extender], passed: Passed) -> None:
        """Call every extender for scores; a failing extender gives none."""
        names = [self._cluster.nodes.names[row] for row in passed.rows.tolist()]
        for each in extenders:
            verb = each.verbs.get("prioritizeVerb")
            points: dict[str, int] = {} if verb else dict.fromkeys(names, 0)
            if verb:
                try:
                    found = self._ask(each, verb, self._body(each, key, pod, passed.rows), _scores)
                except NotJudgedError:
                    raise
                except PluginError:
                    continue
                for one in found:
                    points[one.host] = points.get(one.host, 0) + one.score
            scale = each.weight * (MAX_NODE_SCORE // _HIGHEST)
            passed.points[each.origin] = [
                wrap_int64(points[name] * scale) if name in points else None for name in names
            ]

    def _body(self, extender: Extender, key: PodKey, pod: Pod, rows: Ints) -> bytes:
        namespace, _, name = key.partition("/")
        named = replace(pod, metadata=replace(pod.metadata, namespace=namespace, name=name))
        nodes, names = None, [self._cluster.nodes.names[row] for row in rows.tolist()]
        if not extender.node_cache_capable:
            nodes = {"metadata": {}, "items": [self._cluster.nodes.nodes[row] for row in rows.tolist()]}
        asked = {"Pod": named, "Nodes": nodes, "NodeNames": None if nodes else names}
        return msgspec.json.encode(asked, enc_hook=str)

    def _ask(self, extender: Extender, verb: str, body: bytes, read: Callable[[Any], T]) -> T:
        if self._stamp != self._cluster.journal.stamp:
            self._known.clear()
            self._stamp = self._cluster.journal.stamp
        url = f"{extender.url.rstrip('/')}/{verb}"
        if (url, body) not in self._known:
            self._known[url, body] = self._sent(extender, verb, url, body, read)
        found: T | PluginError = self._known[url, body]
        if isinstance(found, PluginError):
            raise found
        return found

    def _sent(self, extender: Extender, verb: str, url: str, body: bytes, read: Callable[[Any], T]) -> T | PluginError:
        if not url.startswith(("http://", "https://")):
            return _unknown(extender, "its URL is neither http nor https")
        from .extender_connection import HTTPException, opener_of, response_of  # imports ssl, which Pyodide lacks

        try:
            if extender.origin not in self._openers:
                self._openers[extender.origin] = opener_of(extender)
            status, text = response_of(self._openers[extender.origin], url, body, extender.timeout)
            if status != HTTPStatus.OK:
                return PluginError(f"failed {verb} with extender at URL {url}, code {status}")
            if text is None:
                return _unknown(extender, f"its answer has not arrived after {extender.timeout:g} s")
            return read(msgspec.json.decode(text))
        except (msgspec.MsgspecError, RecursionError) as error:
            return _unknown(extender, f"its answer cannot be read ({error})")
        except (OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", None) or str(error) or type(error).__name__
            return _unknown(extender, f"it does not answer ({why})")


def totals(view: View, passed: Passed, cluster: Cluster) -> dict[str, Ints]:
    """Return plugin or extender → weighted scores of the nodes that passed, int64[rows]."""
    rows = passed.rows
    bare = rules_for(FrameworkRules, view.framework.gates).scores_given_nodes and passed.bare
    on_bare = _bare_points(view, rows, cluster) if bare else {}
    found: dict[str, Ints] = {}
    for each in view.plugins.scores:
        if each.plugin in on_bare:
            found[each.plugin] = on_bare[each.plugin]
            continue
        spread = each.score if bare and isinstance(each.score, SoftConstraints) else None
        if spread is not None:
            spread.on_bare_nodes = True
        try:
            found[each.plugin] = each.points(rows)
        finally:
            if spread is not None:
                spread.on_bare_nodes = False
    for name, points in passed.points.items():
        found[name] = np.array([each or 0 for each in points], dtype=np.int64)
    return found


def _bare_points(view: View, rows: Ints, cluster: Cluster) -> Mapping[str, Ints]:
    """Return plugin → scores of nodes without pods and images, for the plugins in `_READ_FROM_NODE`."""
    alone = Cluster(cluster.rules)
    for row in rows.tolist():
        node = cluster.nodes.nodes[row]
        assert isinstance(node, Node), "it is feasible"
        alone.add_node(replace(node, status=replace(node.status, images=None)))
    prepared = view.framework.prepare(alone.shared_class(view.pod_class.pod), alone)
    own = np.array([alone.nodes.row_of[cluster.nodes.names[row]] for row in rows.tolist()], dtype=np.int64)
    return {each.plugin: each.points(own) for each in prepared.scores if each.plugin in _READ_FROM_NODE}


def _kept(extender: Extender, found: _Filtered) -> tuple[list[str], bool]:
    """Return the names of the admitted nodes, and whether the response had node objects."""
    if extender.node_cache_capable and found.nodenames is not None:
        return found.nodenames, False
    items = found.nodes.items if found.nodes is not None else None
    return [each.metadata.name for each in items or ()], True


def _filtered(found: Any) -> _Filtered:
    found = _lower(found)
    nodes = {"nodes": _lower(found["nodes"])} if isinstance(found, dict) and "nodes" in found else {}
    return msgspec.convert(found | nodes if nodes else found, _Filtered)


def _scores(found: Any) -> list[_Score]:
    return msgspec.convert([_lower(each) for each in found] if isinstance(found, list) else found, list[_Score])


def _lower(found: Any) -> Any:
    """Return a JSON object with its field names in lower case, because Go reads them in any case."""
    return {name.lower(): value for name, value in found.items()} if isinstance(found, dict) else found


def _unknown(extender: Extender, why: str) -> NotJudgedError:
    who = f"extender {extender.url}"
    return NotJudgedError("extenders", extender.origin, who, f"{who}: {why}")
