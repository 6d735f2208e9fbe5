"""A platform team's admission policy: a small YAML file, read and checked.

::

    kubeVersion: "1.37"               the version that manifests are for
    level: warning                    lowest severity that is reported: error, warning or hint
    ignore: [RULE, …]                 rules that do not run
    deny: [RULE, …]                   rules whose findings deny an object that is new, or worse than before
    mayIgnore: [RULE, …]              rules whose denial the annotation topospread.dev/ignore lifts; by default none
    onTimeout: allow                  the answer for an object that was not judged in time: allow (warn) or deny
    spreadFrom: 3                     minimum replicas of a workload that rule no-spread finds
    spreadOver: KEY                   topology key that rule no-spread wants; by default any
    excludeNamespaces: [NAME, …]      never judged or changed, like kube-system
    defaults:                         constraints for workloads that are created without any; the first that fits
      - kinds: [Deployment, StatefulSet]
        namespaces: [NAME, …]         by default all
        minReplicas: 2
        constraints:                  without labelSelector and matchLabelKeys: these are the workload's
          - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from topospread.api.validation import validate_pod_template
from topospread.api.validation.schema import WrongTypeError
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import Place
from topospread.lint.rule import SEVERITIES, Severity
from topospread.lint.rules import RULES
from topospread.lint.settings import unknown_rule
from topospread.sources.files import Source, read_text
from topospread.sources.typed_fields import TypedFields
from topospread.sources.yaml import read_documents

Json = dict[str, Any]

ASKED: Final = frozenset(each.id for each in RULES if each.needs == "manifest" or each.id == "no-spread")
"""Rules that need only one object, because admission has no others. `no-spread` takes `replicas` for the number of an
autoscaler, too."""
NEVER: Final = frozenset({"kube-system"})
"""Namespaces that no policy affects, so the cluster can repair itself."""
DEFAULTED_KINDS: Final = ("Deployment", "ReplicaSet", "StatefulSet")
_FIELDS: Final = (
    "kubeVersion",
    "level",
    "ignore",
    "deny",
    "mayIgnore",
    "onTimeout",
    "spreadFrom",
    "spreadOver",
    "excludeNamespaces",
    "defaults",
)
OnTimeout = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class WorkloadDefaults:
    """Constraints for workloads without any.

    Attributes:
        constraints: the constraints without labelSelector and matchLabelKeys.
        namespaces: namespaces of the workloads; None for all.
    """

    constraints: tuple[Json, ...]
    kinds: frozenset[str] = frozenset({"Deployment", "StatefulSet"})
    namespaces: frozenset[str] | None = None
    min_replicas: int = 2


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """A platform team's decisions; the attributes are the file's fields."""

    kube_version: KubeVersion = NEWEST
    level: Severity = "warning"
    ignore: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    may_ignore: frozenset[str] = frozenset()
    on_timeout: OnTimeout = "allow"
    spread_from: int = 3
    spread_over: str = ""
    exclude_namespaces: frozenset[str] = NEVER
    defaults: tuple[WorkloadDefaults, ...] = ()


def read_policy(path: str) -> AdmissionPolicy:
    """Return the policy in a file. Raise InputError if it cannot be read, or is not a valid policy."""
    documents = [each.value for each in read_documents(read_text(Source(path, None)))]
    given = documents[0] if documents else {}
    return _PolicyParser(path).policy(given or {})


class _PolicyParser(TypedFields):
    """Parses plain data to a policy. An unknown field raises an error with its place."""

    def __init__(self, path: str) -> None:
        self._path = path

    def policy(self, value: Any) -> AdmissionPolicy:
        given = self._given(value, "", _FIELDS)
        version = KubeVersion.parse(str(given.get("kubeVersion", NEWEST)), self.place("kubeVersion"))
        defaults = self.items(given.get("defaults", []), "defaults")
        return AdmissionPolicy(
            version,
            self.choice(given.get("level", "warning"), SEVERITIES, "level"),
            self._rules(given.get("ignore", []), "ignore"),
            self._rules(given.get("deny", []), "deny"),
            self._rules(given.get("mayIgnore", []), "mayIgnore"),
            self.choice(given.get("onTimeout", "allow"), get_args(OnTimeout), "onTimeout"),
            self.number(given.get("spreadFrom", 3), "spreadFrom", 2),
            self.label_key(given["spreadOver"], "spreadOver") if "spreadOver" in given else "",
            NEVER | frozenset(self.strings(given.get("excludeNamespaces", []), "excludeNamespaces")),
            tuple(self._defaults(each, f"defaults[{i}]") for i, each in enumerate(defaults)),
        )

    def _given(self, value: Any, where: str, known: Sequence[str]) -> Json:
        given = {name: each for name, each in self.mapping(value, where).items() if each is not None}
        self.known(given, known, where)
        return given

    def _defaults(self, value: Any, where: str) -> WorkloadDefaults:
        given = self._given(value, where, ("kinds", "namespaces", "minReplicas", "constraints"))
        kinds = self.strings(given.get("kinds", ["Deployment", "StatefulSet"]), f"{where}.kinds")
        for kind in kinds:
            self.choice(kind, DEFAULTED_KINDS, f"{where}.kinds")
        namespaces = given.get("namespaces")
        return WorkloadDefaults(
            self._constraints(self.items(given.get("constraints", []), f"{where}.constraints"), f"{where}.constraints"),
            frozenset(kinds),
            None if namespaces is None else frozenset(self.strings(namespaces, f"{where}.namespaces")),
            self.number(given.get("minReplicas", 2), f"{where}.minReplicas"),
        )

    def _constraints(self, given: list[Any], where: str) -> tuple[Json, ...]:
        if not given:
            raise self.error("expected constraints", where)
        for i, each in enumerate(given):
            for name in ("labelSelector", "matchLabelKeys"):
                if name in self.mapping(each, f"{where}[{i}]"):
                    raise self.error("remove it: the webhook uses the workload's own selector", f"{where}[{i}].{name}")
        spec = {"containers": [{"name": "a", "image": "a"}], "topologySpreadConstraints": given}
        template = {"metadata": {"labels": {"app": "a"}}, "spec": {"restartPolicy": "Always", **spec}}
        try:
            problems = validate_pod_template(template, "template")
        except WrongTypeError as error:
            raise self.error(str(error), where) from None
        for problem in problems:
            field = problem.field.removeprefix("template.spec.topologySpreadConstraints")
            raise self.error(problem.message, f"{where}{field}")
        return tuple(given)

    def _rules(self, value: Any, where: str) -> frozenset[str]:
        names = self.strings(value, where)
        for i, name in enumerate(names):
            problem = unknown_rule(name)
            if not problem and name not in ASKED:
                problem = f"'{name}' needs other objects, which admission does not have"
            if problem:
                raise self.error(problem, f"{where}[{i}]")
        return frozenset(names)

    def place(self, where: str) -> Place:
        """Return the place of a field."""
        return Place(self._path, field=where)
