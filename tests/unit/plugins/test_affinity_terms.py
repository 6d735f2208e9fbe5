"""The pods that a term of inter-pod affinity matches, by labels and namespaces."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.node import Namespace
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.plugins.affinity_terms import NO_LABELS, NO_TERMS, Term, Terms, terms_of

Json = dict[str, Any]


def pod(namespace: str = "shop", app: str = "web", **affinity: Any) -> Pod:
    metadata = {"name": "p", "namespace": namespace, "labels": {"app": app}}
    return msgspec.convert({"metadata": metadata, "spec": {"affinity": affinity} if affinity else {}}, Pod)


def namespace(name: str, **labels: str) -> Namespace:
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace)


def given(app: str = "web", **fields: Any) -> Json:
    return {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}, **fields}


def terms(*required: Json, kind: str = "podAffinity", **more: Any) -> Terms:
    listed = {"requiredDuringSchedulingIgnoredDuringExecution": list(required)}
    return terms_of(Cluster().pod_class(pod(**{kind: listed})), **more)


def term(**fields: Any) -> Term:
    (found,) = terms(given(**fields)).affinity
    return found


def test_a_pod_without_affinity_has_no_terms() -> None:
    found = terms_of(Cluster().pod_class(pod()))
    assert found is NO_TERMS
    assert not found.any


def test_a_term_without_namespaces_matches_the_pods_own() -> None:
    found = term()
    assert found.matches(pod(), NO_LABELS)
    assert not found.matches(pod(namespace="other"), NO_LABELS)
    assert not found.matches(pod(app="db"), NO_LABELS)


def test_listed_namespaces_replace_the_pods_own() -> None:
    found = term(namespaces=["other"])
    assert found.matches(pod(namespace="other"), NO_LABELS)
    assert not found.matches(pod(), NO_LABELS)


def test_a_namespace_selector_matches_labels_in_addition_to_names() -> None:
    found = term(namespaces=["other"], namespaceSelector={"matchLabels": {"team": "a"}})
    assert found.matches(pod(namespace="third"), {"team": "a"})
    assert found.matches(pod(namespace="other"), {"team": "b"})
    assert not found.matches(pod(namespace="third"), {"team": "b"})


def test_a_selector_is_resolved_to_the_names_of_existing_namespaces() -> None:
    found = term(namespaceSelector={"matchLabels": {"team": "a"}})
    resolved = found.resolved([namespace("third", team="a"), namespace("fourth", team="b")])
    assert resolved.namespaces == {"third"}
    assert not resolved.matches(pod(namespace="fifth"), {"team": "a"})


def test_an_empty_selector_stays_and_matches_unknown_namespaces() -> None:
    found = term(namespaceSelector={})
    assert found.resolved([namespace("third")]) is found


def test_a_selector_that_matches_no_labels_may_be_kept() -> None:
    found = term(namespaceSelector={"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]})
    assert found.resolved([], keeps_selector=True).matches(pod(namespace="new"), NO_LABELS)
    assert not found.resolved([]).matches(pod(namespace="new"), NO_LABELS)


def test_terms_name_their_namespaces_unless_one_selects_by_labels() -> None:
    assert terms(given(namespaces=["a"]), given(namespaces=["b"])).namespaces == {"a", "b"}
    assert terms(given(namespaces=["a"]), given(namespaceSelector={})).namespaces is None


def test_without_namespace_selectors_only_listed_namespaces_match() -> None:
    found = terms(given(namespaces=["a"], namespaceSelector={}), namespace_selectors=False)
    assert found.namespaces == {"a"}


def test_preferred_terms_have_their_weight_and_required_ones_none() -> None:
    preferred = [{"weight": 7, "podAffinityTerm": given()}]
    both = {
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred},
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [given()]},
    }
    found = terms_of(Cluster().pod_class(pod(**both)))
    assert [each.weight for each in found.preferred_anti_affinity] == [7]
    assert [each.weight for each in found.affinity] == [0]
    assert len(found.every) == 2


def test_an_invalid_selector_is_a_problem_of_its_list() -> None:
    broken = given(labelSelector={"matchExpressions": [{"key": "app", "operator": "In"}]})
    found = terms(broken, kind="podAntiAffinity")
    assert found.anti_affinity == ()
    assert found.problems[0].startswith("requiredAntiAffinityTerms: ")
