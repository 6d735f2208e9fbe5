"""A situation as the page shows it: a few lines of text; asks nobody."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.field.situations import HOST, ZONE

Json = dict[str, Any]

PLAIN_SELECTOR = {"matchLabels": {"app": "web"}}
SHORT_KEYS = {ZONE: "zone", HOST: "hostname", "example.com/rack": "rack"}


def constraint_line(given: Json) -> str:
    """A constraint in one line, with what is not said by default."""
    words = ["hard" if given["whenUnsatisfiable"] == "DoNotSchedule" else "soft", f"maxSkew {given['maxSkew']}"]
    words.append(f"over {SHORT_KEYS.get(given['topologyKey'], given['topologyKey'])}")
    for key in ("minDomains", "nodeTaintsPolicy", "nodeAffinityPolicy"):
        words += [f"{key} {given[key]}"] if key in given else []
    words += [f"matchLabelKeys {', '.join(given['matchLabelKeys'])}"] if "matchLabelKeys" in given else []
    if "labelSelector" not in given:
        words.append("no labelSelector")
    elif given["labelSelector"] != PLAIN_SELECTOR:
        words.append(f"labelSelector {plain(given['labelSelector'])}")
    return ", ".join(words)


def plain(value: Any) -> str:
    """Nested data in one line without quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{SHORT_KEYS.get(key, key)}: {plain(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(plain(each) for each in value) + "]"
    return str(value) or '""'


def taints_of(given: Json) -> list[str]:
    """Taints as kubectl writes them."""
    return [f"taint {each['key']}={each['value']}:{each['effect']}" for each in given.get("taints", ())]


def node_line(node: Json, situation: Json) -> str:
    """A node and who stands on it."""
    words = [f"{SHORT_KEYS.get(key, key)}={value or chr(34) * 2}" for key, value in node["labels"].items()]
    words += taints_of(node) + (["cordoned"] if node.get("unschedulable") else [])
    words += ["no room"] if node.get("full") else []
    standing = Counter(pod_words(each, situation) for each in situation["pods"] if each["on"] == node["name"])
    pods = ", ".join(f"{count} {what}{'s' if count > 1 else ''}" for what, count in standing.items())
    return f"node {node['name']}: {', '.join(words) or 'no labels'}; {pods or 'no pod'}"


def pod_words(given: Json, situation: Json) -> str:
    """What kind of pod stands there."""
    words = [each for each in ("terminating", "bare") if given.get(each)]
    if given.get("plain") and not given.get("bare"):
        words.append("unconstrained")
    labels = given.get("labels", situation["pod"]["labels"])
    changed = {key: value for key, value in labels.items() if situation["pod"]["labels"].get(key) != value}
    words += ["pod"] + ([f"({plain(changed)})"] if changed else [])
    return " ".join(words)


def case_lines(situation: Json) -> list[str]:
    """A situation as text."""
    lines = [node_line(each, situation) for each in situation["nodes"]] or ["no nodes"]
    asked = situation["pod"]
    lines += [f"constraint: {constraint_line(each)}" for each in asked["constraints"]]
    lines += [f"{key}: {plain(asked[key])}" for key in ("nodeSelector", "affinity", "tolerations") if key in asked]
    for pool in situation["pools"]:
        words = [
            f"zones {', '.join(pool['zones'])}",
            *([f"labels {plain(pool['labels'])}"] if "labels" in pool else []),
        ]
        lines.append(f"pool {pool['name']}: {'; '.join(words + taints_of(pool))}")
    return lines
