"""Random label selectors, spread constraints and affinity terms: what a pod asks of nodes and of other pods."""

from __future__ import annotations

from conformance.generators.draw import APPS, HASHES, KEYS, NAMESPACES, RACK, TIERS, ZONE, Draw, Json

Labels = dict[str, str]


def selector(draw: Draw, own: Labels | None = None, odd: bool = True) -> Json | None:
    """A label selector, mostly one that matches ``own`` labels.

    ``odd`` adds the two that users do not mean: none at all (None) and the one that matches everything.
    """
    x = draw.random()
    if odd and x < 0.03:
        return None
    if odd and x < 0.06:
        return {}
    app = own["app"] if own and "app" in own and not draw.chance(0.2) else draw.choice(APPS)
    if x < 0.6:
        labels = {"app": app}
        if draw.chance(0.2):
            labels["tier"] = draw.choice(TIERS)
        return {"matchLabels": labels}
    expressions: list[Json] = [
        {"key": "app", "operator": "In", "values": draw.sample(APPS, draw.randint(1, 3))},
        {"key": "app", "operator": "NotIn", "values": [draw.choice(APPS)]},
        {"key": "tier", "operator": "Exists"},
        {"key": "tier", "operator": "DoesNotExist"},
        {"key": "pod-template-hash", "operator": "In", "values": [draw.choice(HASHES)]},
    ]
    chosen: Json = {"matchExpressions": draw.sample(expressions, draw.randint(1, 2))}
    if draw.chance(0.4):
        chosen["matchLabels"] = {"app": app}
    return chosen


def constraints(draw: Draw, labels: Labels, count: int) -> list[Json]:
    """At most ``count`` topology spread constraints, no (topologyKey, whenUnsatisfiable) twice."""
    tried: set[tuple[str, str]] = set()
    drawn = [_constraint(draw, labels, tried) for _ in range(count)]
    by_identity: dict[tuple[str, str], Json] = {}
    for constraint in drawn:
        by_identity.setdefault((constraint["topologyKey"], constraint["whenUnsatisfiable"]), constraint)
    return list(by_identity.values())


def _constraint(draw: Draw, labels: Labels, tried: set[tuple[str, str]]) -> Json:
    for _ in range(10):
        key = draw.choices(KEYS, [5, 4, 1, 2])[0]
        when = draw.choice(["DoNotSchedule", "ScheduleAnyway"])
        if (key, when) not in tried:
            break
    tried.add((key, when))
    constraint: Json = {"maxSkew": draw.choice([1, 1, 1, 2, 3, 5]), "topologyKey": key, "whenUnsatisfiable": when}
    matching = selector(draw, labels)
    if matching is not None:
        constraint["labelSelector"] = matching
    if when == "DoNotSchedule" and draw.chance(0.25):
        constraint["minDomains"] = draw.choice([1, 2, 3, 5, 10])
    if draw.chance(0.3):
        constraint["nodeAffinityPolicy"] = draw.choice(["Honor", "Ignore"])
    if draw.chance(0.3):
        constraint["nodeTaintsPolicy"] = draw.choice(["Honor", "Ignore"])
    if matching is not None and draw.chance(0.25):
        taken = set(matching.get("matchLabels", {})) | {e["key"] for e in matching.get("matchExpressions", [])}
        keys = [key for key in ["pod-template-hash", "tier", "not-there"] if key not in taken]
        if keys:
            constraint["matchLabelKeys"] = draw.sample(keys, draw.randint(1, min(2, len(keys))))
    return constraint


def _node_requirement(draw: Draw) -> Json:
    return draw.choice(
        [
            {"key": "disk", "operator": "In", "values": draw.sample(["ssd", "hdd"], draw.randint(1, 2))},
            {"key": "gen", "operator": "Gt", "values": [str(draw.randint(1, 6))]},
            {"key": "gen", "operator": "Lt", "values": [str(draw.randint(4, 9))]},
            {"key": ZONE, "operator": "NotIn", "values": [f"z{draw.randint(0, 4)}"]},
            {"key": RACK, "operator": "Exists"},
            {"key": "zone-typo", "operator": "DoesNotExist"},
        ]
    )


def _node_term(draw: Draw) -> Json:
    term: Json = {"matchExpressions": [_node_requirement(draw) for _ in range(draw.randint(1, 2))]}
    if draw.chance(0.05):
        name = f"n{draw.randint(0, 9):03d}"
        term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [name]}]
    return term


def _pod_term(draw: Draw, labels: Labels) -> Json:
    term: Json = {"topologyKey": draw.choice(KEYS)}
    matching = selector(draw, labels)
    if matching is not None:
        term["labelSelector"] = matching
    if draw.chance(0.2):
        term["namespaces"] = draw.sample(NAMESPACES, draw.randint(1, 2))
    if draw.chance(0.15):
        term["namespaceSelector"] = draw.choice([{}, {"matchLabels": {"env": "prod"}}])
    return term


def affinity(draw: Draw, labels: Labels, pods_only: bool = False) -> Json:
    """Node and pod affinity of a pod with these labels; often empty. ``pods_only`` leaves node affinity out."""
    out: Json = {}
    if not pods_only and draw.chance(0.35):
        node_affinity = _node_affinity(draw)
        if node_affinity:
            out["nodeAffinity"] = node_affinity
    for kind in ("podAffinity", "podAntiAffinity"):
        if draw.chance(0.18):
            pod_affinity = _pod_affinity(draw, labels)
            if pod_affinity:
                out[kind] = pod_affinity
    return out


def _node_affinity(draw: Draw) -> Json:
    out: Json = {}
    if draw.chance(0.6):
        terms = [_node_term(draw) for _ in range(draw.randint(1, 2))]
        out["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if draw.chance(0.6):
        out["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.randint(1, 100), "preference": _node_term(draw)} for _ in range(draw.randint(1, 2))
        ]
    return out


def _pod_affinity(draw: Draw, labels: Labels) -> Json:
    out: Json = {}
    if draw.chance(0.5):
        out["requiredDuringSchedulingIgnoredDuringExecution"] = [
            _pod_term(draw, labels) for _ in range(draw.randint(1, 2))
        ]
    if draw.chance(0.6):
        out["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.randint(1, 100), "podAffinityTerm": _pod_term(draw, labels)}
            for _ in range(draw.randint(1, 2))
        ]
    return out
