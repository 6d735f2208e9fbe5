"""Random objects of every kind that policies are asked of, drawn so that each rule finds something in some of them."""

from __future__ import annotations

from random import Random
from typing import Any

from topospread.extender.declared import ANNOTATIONS
from topospread.lint.policies.cel import KINDS, SCALED
from topospread.lint.rules.constraint_fields import OF_ONE_POD, RENAMED
from topospread.lint.rules.selectors import OF_ONE_WORKLOAD

Json = dict[str, Any]
_ZONE, _REGION, _HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
_KEYS = (_ZONE, _ZONE, _REGION, _HOST, _HOST, "example.com/rack", "zone", "rack", *RENAMED)
_LABELS = {"app": ("web", "api"), "tier": ("front", "back"), "track": ("stable", "canary")}
_MATCH = (*_LABELS, "pod-template-hash", *OF_ONE_WORKLOAD, *sorted(OF_ONE_POD))
_IGNORES = (
    "{}",
    "{} because",
    "{}, hard-and-soft: both",
    "hard-and-soft,{}",
    "other {}",
    "x\n{} y",
    "x; {}",
    "{}x",
    "",
)


class Drawn:
    """Objects, one after another."""

    def __init__(self, random: Random, rules: list[str]) -> None:
        self._random, self._rules = random, rules

    def item(self, number: int) -> Json:
        """One object, with a name of its own."""
        draw = self._random
        if draw.random() < 0.06:
            return self._node(number)
        kind = draw.choice((*KINDS, "Deployment", "Pod"))
        labels = self._labels()
        template = {"metadata": {"labels": labels}, "spec": self._spec(labels)}
        version = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}
        found: Json = {
            "apiVersion": version.get(kind, "apps/v1"),
            "kind": kind,
            "metadata": {"name": f"case-{number}", "namespace": "default", **self._metadata()},
        }
        if kind == "Pod":
            return {
                **found,
                "metadata": {**found["metadata"], "labels": labels},
                "spec": template["spec"],
            }
        return {**found, "spec": self._around(kind, template, labels)}

    def _around(self, kind: str, template: Json, labels: Json) -> Json:
        draw = self._random
        spec: Json = {"template": template}
        if kind in ("Job", "CronJob"):
            template["spec"]["restartPolicy"] = "Never"
            return {"schedule": "0 4 * * *", "jobTemplate": {"spec": spec}} if kind == "CronJob" else spec
        spec["selector"] = labels if kind == "ReplicationController" else {"matchLabels": labels}
        if kind in SCALED and draw.random() < 0.8:
            spec["replicas"] = draw.choice((0, 1, 2, 3, 6))
        if kind == "Deployment" and draw.random() < 0.2:
            spec["strategy"] = {"type": draw.choice(("Recreate", "RollingUpdate"))}
        if kind == "StatefulSet":
            spec["serviceName"] = "web"
        return spec

    def _node(self, number: int) -> Json:
        name = f"case-{number}"
        hostname = self._random.choice((name, f"{name}.example.com", name.upper(), "localhost", "case", "", None))
        labels = {} if hostname is None else {_HOST: hostname}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels, **self._metadata(of_nodes=True)},
        }

    def _metadata(self, *, of_nodes: bool = False) -> Json:
        draw, found = self._random, {}
        if draw.random() < 0.1:
            entry = draw.choice(_IGNORES).format(draw.choice(self._rules))
            found["annotations"] = {"topospread.dev/ignore": entry}
        if not of_nodes and draw.random() < 0.05:
            found.setdefault("annotations", {})[draw.choice(ANNOTATIONS)] = "kubernetes.io/hostname: 1"
        if not of_nodes and draw.random() < 0.05:
            owner = {"apiVersion": "example.com/v1", "kind": "Group", "name": "a", "uid": "b"}
            found["ownerReferences"] = [{**owner, **draw.choice(({}, {"controller": True}, {"controller": False}))}]
        return found

    def _labels(self) -> Json:
        draw = self._random
        return {"app": draw.choice(_LABELS["app"])} | {
            key: draw.choice(values) for key, values in _LABELS.items() if key != "app" and draw.random() < 0.5
        }

    def _spec(self, labels: Json) -> Json:
        draw = self._random
        spec: Json = {"containers": [{"name": "main", "image": "pause"}]}
        if draw.random() < 0.85:
            spec["topologySpreadConstraints"] = self._constraints(labels)
        if draw.random() < 0.1:
            spec["nodeName"] = "node-1"
        if draw.random() < 0.15:
            spec["nodeSelector"] = {draw.choice((_ZONE, _HOST, "disk")): "a"}
        affinity: Json = {}
        if draw.random() < 0.15:
            affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": self._node_terms()}
        for kind in ("podAffinity", "podAntiAffinity"):
            if draw.random() < 0.3:
                terms = [self._term(labels) for _ in range(draw.randint(1, 2))]
                affinity[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        if affinity:
            spec["affinity"] = affinity
        return spec

    def _constraints(self, labels: Json) -> list[Json]:
        found: dict[tuple[str, str], Json] = {}
        for _ in range(self._random.choice((1, 1, 2, 3))):
            each = self._constraint(labels)
            found[each["topologyKey"], each["whenUnsatisfiable"]] = each
        return list(found.values())

    def _constraint(self, labels: Json) -> Json:
        draw = self._random
        hard = draw.random() < 0.65
        found: Json = {
            "maxSkew": draw.choice((1, 1, 1, 2, 3, 6)),
            "topologyKey": draw.choice(_KEYS),
            "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        }
        if draw.random() < 0.92:
            found["labelSelector"] = self._selector(labels)
            if draw.random() < 0.45:
                taken = {*found["labelSelector"].get("matchLabels", ()), *self._expressed(found["labelSelector"])}
                keys = [key for key in draw.sample(_MATCH, draw.randint(1, 2)) if key not in taken]
                found["matchLabelKeys"] = list(dict.fromkeys(keys))
        if hard and draw.random() < 0.2:
            found["minDomains"] = draw.choice((1, 3, 7))
        if draw.random() < 0.2:
            found["nodeAffinityPolicy"] = draw.choice(("Honor", "Ignore"))
        return found

    @staticmethod
    def _expressed(selector: Json) -> list[str]:
        return [each["key"] for each in selector.get("matchExpressions", ())]

    def _selector(self, labels: Json) -> Json:
        draw = self._random
        form = draw.random()
        if form < 0.1:
            return draw.choice(({}, {"matchLabels": {}}, {"matchExpressions": []}))
        if form < 0.55:
            return {"matchLabels": dict(labels)}
        found: Json = {}
        if form < 0.8:
            found["matchLabels"] = {key: draw.choice(_LABELS[key]) for key in draw.sample(list(_LABELS), 1)}
        if form > 0.7:
            found["matchExpressions"] = [self._expression() for _ in range(draw.randint(1, 2))]
        return found

    def _expression(self) -> Json:
        draw = self._random
        key, operator = draw.choice(list(_LABELS)), draw.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        values = draw.sample(_LABELS[key], draw.randint(1, 2))
        return {"key": key, "operator": operator} | ({"values": values} if operator in ("In", "NotIn") else {})

    def _node_terms(self) -> Json:
        draw = self._random
        terms = []
        for _ in range(draw.choice((1, 1, 2))):
            key, operator = draw.choice((_ZONE, _HOST, "disk")), draw.choice(("In", "In", "In", "NotIn", "Exists"))
            values = {} if operator == "Exists" else {"values": draw.choice((["a"], ["a"], ["a", "a"], ["a", "b"]))}
            terms.append({"matchExpressions": [{"key": key, "operator": operator, **values}]})
            if draw.random() < 0.3:
                more = {"key": key, "operator": "In", "values": draw.choice((["a"], ["b"], ["b", "a"]))}
                terms[-1]["matchExpressions"].append(more)
        return {"nodeSelectorTerms": terms}

    def _term(self, labels: Json) -> Json:
        draw = self._random
        found: Json = {"topologyKey": draw.choice((_ZONE, _ZONE, _REGION, _HOST, _HOST))}
        if draw.random() < 0.9:
            found["labelSelector"] = self._selector(labels)
            taken = {*found["labelSelector"].get("matchLabels", ()), *self._expressed(found["labelSelector"])}
            for name in ("matchLabelKeys", "mismatchLabelKeys"):
                if draw.random() < 0.15:
                    found[name] = [key for key in [draw.choice((*_LABELS, "pod-template-hash"))] if key not in taken]
                    taken.update(found[name])
        if draw.random() < 0.15:
            found["namespaces"] = draw.choice((["default"], ["other"], ["other", "default"]))
        if draw.random() < 0.15:
            found["namespaceSelector"] = draw.choice(({}, {"matchLabels": {"team": "a"}}))
        return found
