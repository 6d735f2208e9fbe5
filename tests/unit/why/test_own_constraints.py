"""Constraints written into a pod that did not bring them."""

from __future__ import annotations

from topospread.api.labels import Requirement, Selector
from topospread.why.own_constraints import in_force, label_selector, written

from .builders import HOST, ZONE, constraint, pod, prepared, replica_set, replicas, spec, zones


def test_those_in_force_come_by_their_place_in_the_pod_whether_hard_or_soft() -> None:
    of = spec(constraint(ZONE, "ScheduleAnyway"), constraint(HOST))
    run = prepared(*zones(), pod("web", of=of))
    view = run.scheduler.view(run.cluster.shared_class(run.queue[0].pod))
    assert [each.topology_key for each in in_force(view)] == [ZONE, HOST]


def test_a_selector_as_a_manifest_writes_it() -> None:
    selector = Selector((Requirement("app", "=", ("web",)), Requirement("tier", "NotIn", ("a", "b"))))
    found = label_selector(selector)
    assert found is not None
    assert found.match_labels == {"app": "web"}
    (expression,) = found.match_expressions or ()
    assert (expression.key, expression.operator, expression.values) == ("tier", "NotIn", ["a", "b"])


def test_the_hash_of_a_revision_becomes_a_key_of_match_label_keys() -> None:
    of = spec()
    run = prepared(*zones(), replica_set("abc", 1, of), *replicas("abc", of, [""]))
    view = run.scheduler.view(run.cluster.shared_class(run.queue[0].pod))
    constraints = in_force(view)
    assert [each.origin for each in constraints] == ["system", "system"]
    for each in written(constraints):
        assert each.match_label_keys == ["pod-template-hash"]
        assert each.label_selector is not None
        assert each.label_selector.match_labels == {"app": "web"}
