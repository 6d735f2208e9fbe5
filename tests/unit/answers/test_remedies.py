from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.why.builders import GPU, explained, node, pod, spec
from topospread.answer import Tried
from topospread.answers.remedies import remedy_of, tried_words
from topospread.why.result import Suggestion


def suggestion(kind: str, of: str, means: Any = "cluster", **more: Any) -> Suggestion:
    target = {"apiVersion": "v1", "kind": of, "namespace": "" if of == "Node" else "shop", "name": "it"}
    patch = ({"op": "replace", "path": "/spec/it's", "value": 1},)
    return Suggestion(kind, "a title", target, patch, means, more.pop("placed", 2), 2, 1, **more)


@pytest.mark.parametrize(
    ("tried", "command"),
    [
        (suggestion("uncordon", "Node"), "kubectl uncordon it"),
        (suggestion("deletePod", "Pod"), "kubectl -n shop delete pod it"),
        (
            suggestion("maxSkew", "Deployment", "rollout"),
            """kubectl -n shop patch deployment it --type json -p [{"op":"replace","path":"/spec/it's","value":1}]""",
        ),
        (
            suggestion("strategy", "Deployment"),
            """kubectl -n shop patch deployment it --type json -p [{"op":"replace","path":"/spec/it's","value":1}]""",
        ),
        (suggestion("maxSkew", "Pod", "recreate"), ""),
        (suggestion("free", "Node"), ""),
    ],
)
def test_a_remedy_has_the_command_that_makes_the_change(tried: Suggestion, command: str) -> None:
    assert " ".join(remedy_of(tried).command) == command


def test_a_name_is_no_option_of_kubectl() -> None:
    """A snapshot may have any name."""
    tried = suggestion("uncordon", "Node")
    assert remedy_of(replace(tried, object={**tried.object, "name": "--kubeconfig=a"})).command == ()


def test_a_remedy_is_complete_only_if_no_pod_is_pending_with_it() -> None:
    assert remedy_of(suggestion("uncordon", "Node")).tried.verdict == "yes"
    for less in ({"placed": 1}, {"newly_pending": ("shop/a-0",)}):
        assert remedy_of(suggestion("uncordon", "Node", **less)).tried.verdict == "no"


@pytest.mark.parametrize(
    ("tried", "words"),
    [
        (Tried(verdict="yes", places=1, of=1), "the pod has a node"),
        (Tried(verdict="yes", places=6, of=6, evicts=1), "all 6 pods have a node; preemption evicts 1 pod"),
        (
            Tried(verdict="no", places=5, of=6, newly_pending=("a/b",)),
            "5 of 6 pods have a node; 1 other pod becomes pending",
        ),
    ],
)
def test_the_result_of_a_trial_in_words(tried: Tried, words: str) -> None:
    assert tried_words(tried) == words


def test_a_change_with_a_part_that_no_command_makes_has_no_command() -> None:
    full = [node("a", taints=[GPU]), pod("there", "a", spec(cpu="3"))]
    found = [remedy_of(each) for each in explained("web", *full, pod("web", "", spec(cpu="2"))).suggestions]
    (lifted,) = [each for each in found if each.code.startswith("untaint+free")]
    assert [each.command for each in lifted.parts] == [(), ()]
