"""Situations made by hand: one for each thing about spread constraints that is easily read otherwise."""

from __future__ import annotations

from typing import Any

from conformance.field.drawn import DEDICATED, RACK, TIER
from conformance.field.situations import HOST, ZONE

Json = dict[str, Any]

LABELS = {"app": "web", "pod-template-hash": "new"}
OLD = LABELS | {"pod-template-hash": "old"}
WEB = {"matchLabels": {"app": "web"}}
BATCH = {"key": DEDICATED, "value": "batch", "effect": "NoSchedule"}


def constraint(key: str = ZONE, **fields: Any) -> Json:
    """A hard constraint over zones with maxSkew 1, but for what is said; a field that is None is left out."""
    whole = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB} | fields
    return {name: value for name, value in whole.items() if value is not None}


def at(name: str, **fields: Any) -> Json:
    """A node without room, in the zone of its name's first letter."""
    labels = {ZONE: name[0], **fields.pop("labels", {})}
    return {"name": name, "labels": labels, "full": True, **fields}


def open_at(name: str, **fields: Any) -> Json:
    """The same with room."""
    return {key: value for key, value in at(name, **fields).items() if key != "full"}


def pool(zones: str, name: str = "one", **fields: Any) -> Json:
    """A pool that makes nodes in zones of one letter each."""
    return {"name": name, "zones": list(zones), **fields}


def trap(name: str, nodes: list[Json], on: str, constraints: list[Json], pools: list[Json], **asked: Any) -> Json:
    """The situation; ``on``: the nodes that pods stand on."""
    pods = [{"on": each} for each in on.split()]
    pod = {"labels": LABELS, "constraints": constraints} | asked
    return {"name": name, "nodes": nodes, "pods": pods, "pod": pod, "pools": pools}


def among(situation: Json, *pods: Json) -> Json:
    """The situation with some more pods that are not like the others."""
    return situation | {"pods": [*situation["pods"], *pods]}


def situations() -> list[Json]:
    """All of them."""
    return [*_domains(), *_policies(), *_selectors(), *_several(), *_standing()]


def _domains() -> list[Json]:
    two, soft = [at("a1"), at("b1")], {"whenUnsatisfiable": "ScheduleAnyway"}
    return [
        trap("even", two, "a1 b1", [constraint()], [pool("ab")]),
        trap("skewed", two, "a1 a1 b1", [constraint()], [pool("ab")]),
        trap("skewed-by-two", two, "a1 a1 a1 b1", [constraint()], [pool("a")]),
        trap("zone-scaled-to-zero", two, "a1 b1", [constraint()], [pool("abc")]),
        trap("zone-scaled-to-zero-and-room", [open_at("a1"), open_at("b1")], "a1 b1", [constraint()], [pool("abc")]),
        trap("zone-without-room-in-the-pool", two, "a1 a1", [constraint()], [pool("a")]),
        trap("no-node-at-all", [], "", [constraint()], [pool("ab")]),
        trap("min-domains-unmet", two, "a1 b1", [constraint(minDomains=3)], [pool("ab")]),
        trap("min-domains-met-by-a-new-zone", two, "a1 b1", [constraint(minDomains=3)], [pool("abc")]),
        trap("min-domains-met-by-two-new-zones", two, "a1 b1", [constraint(minDomains=4)], [pool("cd")]),
        trap("min-domains-and-room", [open_at("a1"), open_at("b1")], "a1 b1", [constraint(minDomains=3)], [pool("a")]),
        trap("min-domains-one", two, "a1 b1", [constraint(minDomains=1)], [pool("ab")]),
        trap("hostname-one-each", [open_at("a1"), open_at("a2")], "a1 a2", [constraint(HOST)], [pool("a")]),
        trap("hostname-full", [at("a1"), at("a2")], "a1 a2", [constraint(HOST)], [pool("a")]),
        trap("hostname-skewed", [open_at("a1"), open_at("a2")], "a1 a1 a2", [constraint(HOST)], [pool("a")]),
        trap("hostname-min-domains", [open_at("a1")], "a1", [constraint(HOST, minDomains=2)], [pool("a")]),
        trap("soft", [open_at("a1"), open_at("b1")], "a1 a1", [constraint(**soft)], [pool("ab")]),
        trap("soft-full", two, "a1 a1", [constraint(**soft)], [pool("a")]),
        trap("soft-only-room-in-the-fuller", [open_at("a1"), at("b1")], "a1 a1", [constraint(**soft)], [pool("b")]),
        trap("empty-value", [at("a1"), at("b1", labels={ZONE: ""})], "a1", [constraint()], [pool("a")]),
        trap("empty-value-with-room", [at("a1"), open_at("b1", labels={ZONE: ""})], "a1", [constraint()], [pool("a")]),
        trap("key-on-no-node", two, "a1", [constraint(RACK)], [pool("ab")]),
        trap("key-of-the-pool", two, "", [constraint(TIER)], [pool("ab", labels={TIER: "front"})]),
        trap("custom-key", _racks(), "a1 a2", [constraint(RACK)], [pool("a", labels={RACK: "r3"})]),
        trap("custom-key-full", _racks(full=True), "a1 a2", [constraint(RACK)], [pool("a", labels={RACK: "r1"})]),
        trap("custom-key-not-in-the-pool", _racks(full=True), "a1 a2", [constraint(RACK)], [pool("ab")]),
    ]


def _racks(full: bool = False) -> list[Json]:
    make = at if full else open_at
    return [make("a1", labels={RACK: "r1"}), make("a2", labels={RACK: "r2"})]


def _policies() -> list[Json]:
    honor, ignore = {"nodeTaintsPolicy": "Honor"}, {"nodeTaintsPolicy": "Ignore"}
    tainted = [at("a1"), at("b1", taints=[BATCH])]
    softly = [at("a1"), at("b1", taints=[BATCH | {"effect": "PreferNoSchedule"}])]
    leaving = [at("a1"), at("b1", taints=[BATCH | {"effect": "NoExecute"}])]
    cordoned = [at("a1"), at("b1", unschedulable=True)]
    tiers = [at("a1", labels={TIER: "front"}), at("b1", labels={TIER: "back"})]
    front: Json = {"nodeSelector": {TIER: "front"}}
    at_front: Json = {"labels": {TIER: "front"}}
    tolerant = {"tolerations": [{"key": DEDICATED, "operator": "Exists"}]}
    in_front = pool("a", **at_front)
    return [
        trap("tainted-zone-counts", tainted, "a1", [constraint(**ignore)], [pool("a")]),
        trap("tainted-zone-honoured", tainted, "a1", [constraint(**honor)], [pool("a")]),
        trap("tainted-zone-tolerated", tainted, "a1", [constraint(**honor)], [pool("a")], **tolerant),
        trap("tainted-zone-with-pods", tainted, "a1 a1 a1 b1", [constraint(**honor)], [pool("a")]),
        trap("prefer-no-schedule-honoured", softly, "a1", [constraint(**honor)], [pool("a")]),
        trap("no-execute-honoured", leaving, "a1", [constraint(**honor)], [pool("a")]),
        trap("cordoned-zone-counts", cordoned, "a1", [constraint()], [pool("a")]),
        trap("cordoned-zone-honoured", cordoned, "a1", [constraint(**honor)], [pool("a")]),
        trap("tainted-pool-honoured", [at("a1")], "a1", [constraint(**honor)], _kept_pools()),
        trap("tainted-pool-counts", [at("a1")], "a1", [constraint()], _kept_pools()),
        trap("affinity-honoured", tiers, "a1", [constraint()], [in_front], **front),
        trap("affinity-ignored", tiers, "a1", [constraint(nodeAffinityPolicy="Ignore")], [in_front], **front),
        trap("pool-out-of-reach", [at("a1", **at_front)], "a1", [constraint()], _two_pools(), **front),
        trap("pool-out-of-reach-two-zones", _fronts(), "a1 b1", [constraint()], _two_pools("ab", "abc"), **front),
        trap("tolerates-cordon", [open_at("a1", unschedulable=True)], "", [constraint()], [pool("a")], **_any_taint()),
    ]


def _kept_pools() -> list[Json]:
    return [pool("a"), pool("ab", "two", taints=[BATCH])]


def _two_pools(reached: str = "a", other: str = "ab") -> list[Json]:
    return [pool(reached, labels={TIER: "front"}), pool(other, "two", labels={TIER: "back"})]


def _fronts() -> list[Json]:
    return [at("a1", labels={TIER: "front"}), at("b1", labels={TIER: "front"})]


def _any_taint() -> Json:
    return {"tolerations": [{"operator": "Exists"}]}


def _selectors() -> list[Json]:
    two = [at("a1"), at("b1")]
    keyed: Json = {"matchLabelKeys": ["pod-template-hash"]}
    old = [{"on": "a1", "labels": OLD}, {"on": "a1", "labels": OLD}]
    return [
        trap("selector-missing", two, "a1 a1", [constraint(labelSelector=None)], [pool("a")]),
        trap("selector-empty", two, "a1 a1", [constraint(labelSelector={})], [pool("a")]),
        trap("selector-not-own", two, "a1 a1", [constraint(labelSelector=_of("api"))], [pool("a")]),
        among(
            trap("selector-of-others", two, "", [constraint(labelSelector=_of("api"))], [pool("a")]),
            {"on": "a1", "labels": {"app": "api"}, "plain": True},
            {"on": "a1", "labels": {"app": "api"}, "plain": True},
        ),
        among(trap("old-pods-count", two, "b1", [constraint()], [pool("ab")]), *old),
        among(trap("old-pods-left-out", two, "b1", [constraint(**keyed)], [pool("ab")]), *old),
        trap("match-label-key-missing", two, "a1", [constraint(matchLabelKeys=["version"])], [pool("a")]),
        trap("not-in-selector", two, "a1", [constraint(labelSelector=_not("api"))], [pool("a")]),
    ]


def _of(app: str) -> Json:
    return {"matchLabels": {"app": app}}


def _not(app: str) -> Json:
    return {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]}


def _several() -> list[Json]:
    racked = [at("a1", labels={RACK: "r1"}), at("b1")]
    soft = {"whenUnsatisfiable": "ScheduleAnyway"}
    both = [constraint(), constraint(HOST)]
    hosts = [open_at("a1"), open_at("a2"), open_at("b1")]
    return [
        trap("zone-and-host", hosts, "a1 b1", both, [pool("ab")]),
        trap("zone-and-host-full", [at("a1"), at("b1")], "a1 b1", both, [pool("ab")]),
        trap("second-key-missing-on-a-node", racked, "b1", [constraint(), constraint(RACK)], [pool("a")]),
        trap("second-key-missing-zone-counts", racked, "a1", [constraint(), constraint(RACK)], [_racked_pool()]),
        trap("second-key-soft", racked, "a1", [constraint(), constraint(RACK, **soft)], [pool("a")]),
        trap("hard-and-soft-on-one-key", [at("a1"), at("b1")], "a1", _twice(), [pool("a")]),
        trap("soft-first-min-domains", [at("a1")], "a1", _twice()[::-1], [pool("a")]),
        trap("two-skews", [at("a1"), at("b1")], "a1 a1", [constraint(maxSkew=3), constraint(HOST)], [pool("a")]),
    ]


def _racked_pool() -> Json:
    return pool("a", labels={RACK: "r1"})


def _twice() -> list[Json]:
    return [constraint(minDomains=2), constraint(whenUnsatisfiable="ScheduleAnyway")]


def _standing() -> list[Json]:
    two, bare = [at("a1"), at("b1")], {"bare": True, "plain": True}
    room = [open_at("a1"), open_at("b1")]
    return [
        among(trap("terminating", two, "b1", [constraint()], [pool("a")]), {"on": "a1", "terminating": True}),
        among(trap("bare-pods-count", room, "b1", [constraint()], [pool("a")]), *_bare("a1", 2)),
        among(trap("bare-pods-balance", room, "a1 a1 a1", [constraint()], [pool("a")]), *_bare("b1", 2)),
        among(
            trap("another-workload", room, "a1", [constraint(labelSelector={})], [pool("b")]),
            {"on": "a1", "labels": {"app": "api"}, "plain": True},
        ),
        trap("evict-to-full-nodes", [open_at("a1"), at("b1")], "a1 a1 a1", [constraint()], [pool("b")]),
        trap("evict-without-a-place", [at("a1"), at("b1")], "a1 a1 a1", [constraint()], [pool("b")]),
        trap("skewed-with-room", room, "a1 a1 a1", [constraint()], [pool("b")]),
        trap("min-domains-standing", room, "a1 a1 b1 b1", [constraint(minDomains=3)], [pool("c")]),
        among(trap("bare-alone", room, "a1", [constraint()], [pool("a")]), {"on": "a1", **bare}),
    ]


def _bare(node: str, count: int) -> list[Json]:
    return [{"on": node, "bare": True, "plain": True} for _ in range(count)]
