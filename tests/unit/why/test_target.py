"""Which pod a name means, and what is said where it means none."""

from __future__ import annotations

import pytest

from topospread.errors import UsageError
from topospread.why.target import Target, find, parse_target

from .builders import pod, prepared, spec, workload, zones


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("web-0", Target("Pod", "", "web-0")),
        ("pod/web-0", Target("Pod", "", "web-0")),
        ("deploy/web", Target("Deployment", "", "web")),
        ("Deployments.apps/web", Target("Deployment", "", "web")),
        ("shop/web-0", Target("Pod", "shop", "web-0")),
        ("shop/sts/db", Target("StatefulSet", "shop", "db")),
    ],
)
def test_names_as_kubectl_takes_them(text: str, target: Target) -> None:
    assert parse_target(text, None) == target


@pytest.mark.parametrize("text", ["", "deploy/", "a/b/web", "/web", "shop/deploy/web/0"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write"):
        parse_target(text, None)


def test_the_namespace_of_the_option_holds_unless_the_name_has_another() -> None:
    assert parse_target("deploy/web", "shop").namespace == "shop"
    assert parse_target("shop/deploy/web", "shop").namespace == "shop"
    with pytest.raises(UsageError, match="and -n bar name different namespaces"):
        parse_target("shop/deploy/web", "bar")


def test_a_workload_named_app_can_be_meant_in_a_namespace_named_like_a_kind() -> None:
    assert parse_target("job/web", None) == Target("Job", "", "web")
    assert parse_target("job/deploy/web", None) == Target("Deployment", "job", "web")


def test_the_nearest_name_is_told() -> None:
    run = prepared(*zones(), pod("checkout"))
    with pytest.raises(UsageError, match='pod "chekout" not found; did you mean shop/checkout\\?'):
        find(run, parse_target("chekout", None))


def test_the_same_name_of_another_kind_is_told_first() -> None:
    run = prepared(*zones(), pod("webb"), workload("Deployment", 1, spec()))
    with pytest.raises(UsageError, match="did you mean shop/deployment/web\\?"):
        find(run, parse_target("sts/web", None))


def test_where_nothing_is_alike_it_is_said_what_there_is() -> None:
    run = prepared(*zones(), workload("Deployment", 1, spec()))
    with pytest.raises(UsageError, match=r"pod .* not found; the input has shop/deployment/web"):
        find(run, parse_target("quite-another", None))


def test_one_name_in_two_namespaces_is_not_guessed() -> None:
    other = workload("Deployment", 1, spec())
    other["metadata"]["namespace"] = "test"
    run = prepared(*zones(), workload("Deployment", 1, spec()), other)
    with pytest.raises(UsageError, match="in several namespaces: shop, test; choose one with -n"):
        find(run, parse_target("deploy/web", None))
    assert find(run, parse_target("deploy/web", "test")).workload is not None


def test_a_pod_that_finished_is_nothing_to_explain() -> None:
    done = pod("done", "a") | {"status": {"phase": "Succeeded"}}
    with pytest.raises(UsageError, match="has finished"):
        find(prepared(*zones(), done), parse_target("done", None))


def test_a_pod_that_a_namespace_names_is_looked_up_among_its_workloads_pods() -> None:
    run = prepared(*zones(), pod("web-0", "a", owner=("StatefulSet", "web")), pod("bare", "a"), pod("away", "gone"))
    run.plan.bound = [each for each in run.plan.bound if each.name != "web-0"]
    names = ("web-0", "bare", "away")
    found = [find(run, parse_target(f"shop/{name}", None)).bound for name in names]
    assert [each.name for each in found if each is not None] == [*names]


def test_a_node_is_answered_with_the_commands_for_nodes() -> None:
    run = prepared(*zones("ab"))
    for text in ("a", "node/a"):
        with pytest.raises(UsageError, match=r"a is a node, and why explains pods; for nodes: .* drill --fail node=a$"):
            find(run, parse_target(text, None))
