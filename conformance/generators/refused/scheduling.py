"""What a pod asks of nodes and other pods, right and wrong: selectors, affinity, spread, tolerations."""

from __future__ import annotations

from conformance.generators.draw import Json
from conformance.generators.refused.words import VALUES, Words

OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"]


def requirement(words: Words) -> Json:
    """One requirement on labels."""
    operator = words.mostly(OPERATORS, ["Gt", "in", "", "<"])
    made: Json = {"key": words.key(), "operator": operator}
    if (operator in ("In", "NotIn") and not words.chance(0.1)) or words.chance(0.06):
        made["values"] = words.listed(words.value)
    if words.chance(0.02):
        del made[words.choice(list(made))]
    return made


def selector(words: Words) -> Json:
    """A label selector."""
    made: Json = {}
    draw = words.random()
    if draw < 0.7:
        made["matchLabels"] = words.labels(2)
    if draw > 0.5:
        made["matchExpressions"] = words.listed(lambda: requirement(words))
    return made


def _label_keys(words: Words) -> list[str]:
    return [words.key() for _ in range(words.randint(1, 3))]


def constraint(words: Words) -> Json:
    """A topology spread constraint."""
    made: Json = {
        "maxSkew": words.number([1, 1, 2, 5]),
        "topologyKey": words.key(),
        "whenUnsatisfiable": words.mostly(["DoNotSchedule", "ScheduleAnyway"], ["", "Never", "donotschedule", "a<b"]),
    }
    if words.chance(0.03):
        del made[words.choice(list(made))]
    made |= words.some(
        {
            "minDomains": lambda: words.number([1, 2, 3], [0, -2, 2**31 - 1]),
            "nodeAffinityPolicy": lambda: words.mostly(["Honor", "Ignore"], ["Honour", "", "honor"]),
            "nodeTaintsPolicy": lambda: words.mostly(["Honor", "Ignore"], ["honor", ""]),
            "matchLabelKeys": lambda: _label_keys(words),
        },
        0.3,
    )
    if words.chance(0.85):
        made["labelSelector"] = selector(words)
    return made


def node_requirement(words: Words) -> Json:
    """One requirement on a node's labels."""
    operator = words.mostly([*OPERATORS, "Gt", "Lt"], ["gt", "", "=="])
    made: Json = {"key": words.key(), "operator": operator}
    if operator in ("In", "NotIn"):
        made["values"] = words.listed(words.value)
    elif operator in ("Gt", "Lt"):
        made["values"] = words.choice([["1"], ["1"], ["x"], ["1", "2"], []])
    elif words.chance(0.1):
        made["values"] = [words.choice(VALUES)]
    return made


def _node_field(words: Words) -> Json:
    return {
        "key": words.mostly(["metadata.name"], ["metadata.namespace", "", "Metadata.name"], 0.2),
        "operator": words.mostly(["In", "NotIn"], ["Exists", "", "Gt"]),
        "values": words.choice([["n1"], ["n1"], ["n1", "n2"], [], ["N_1"], [""]]),
    }


def _node_term(words: Words) -> Json:
    return words.some(
        {
            "matchExpressions": lambda: words.listed(lambda: node_requirement(words)),
            "matchFields": lambda: words.listed(lambda: _node_field(words), 1),
        },
        0.6,
    )


def _pod_term(words: Words) -> Json:
    made: Json = {"topologyKey": words.key()}
    if words.chance(0.03):
        made = {}
    return made | words.some(
        {
            "labelSelector": lambda: selector(words),
            "namespaceSelector": lambda: selector(words),
            "namespaces": lambda: words.listed(lambda: words.mostly(["default"], ["Bad_NS", "", "a.b", "n" * 64])),
            "matchLabelKeys": lambda: _label_keys(words),
            "mismatchLabelKeys": lambda: _label_keys(words),
        },
        0.4,
    )


def _weight(words: Words) -> int:
    return words.number([1, 50, 100], [0, -1, 101])


def _pod_affinity(words: Words) -> Json:
    return words.some(
        {
            "requiredDuringSchedulingIgnoredDuringExecution": lambda: words.listed(lambda: _pod_term(words)),
            "preferredDuringSchedulingIgnoredDuringExecution": lambda: words.listed(
                lambda: {"weight": _weight(words), "podAffinityTerm": _pod_term(words)}
            ),
        },
        0.6,
    )


def _node_affinity(words: Words) -> Json:
    return words.some(
        {
            "requiredDuringSchedulingIgnoredDuringExecution": lambda: {
                "nodeSelectorTerms": words.listed(lambda: _node_term(words))
            },
            "preferredDuringSchedulingIgnoredDuringExecution": lambda: words.listed(
                lambda: {"weight": _weight(words), "preference": _node_term(words)}
            ),
        },
        0.6,
    )


def affinity(words: Words) -> Json:
    """``spec.affinity``."""
    return words.some(
        {
            "nodeAffinity": lambda: _node_affinity(words),
            "podAffinity": lambda: _pod_affinity(words),
            "podAntiAffinity": lambda: _pod_affinity(words),
        },
        0.5,
    )


def toleration(words: Words) -> Json:
    """A toleration."""
    made = words.some(
        {
            "key": words.key,
            "operator": lambda: words.mostly(["Exists", "Equal"], ["equal", "", "Lt", "Gt"], 0.2),
            "effect": lambda: words.mostly(["NoSchedule", "NoExecute", "PreferNoSchedule"], ["Never", "", "<"]),
        },
        0.75,
    )
    return made | words.some({"value": words.value, "tolerationSeconds": lambda: words.choice([30, 0, -1])}, 0.3)
