"""A platform team's admission policy: a small YAML file, read and checked. No object is judged here.

::

    kubeVersion: "1.37"               the version that manifests are for
    level: warning                    findings below it are not told (error, warning, hint)
    ignore: [RULE, …]                 rules that are not asked
    deny: [RULE, …]                   rules whose findings deny an object that is new, or worse than before
    mayIgnore: [RULE, …]              rules whose denial the annotation topospread.dev/ignore lifts; by default none
    onTimeout: allow                  the answer for an object that was not judged in time: allow (warn) or deny
    excludeNamespaces: [NAME, …]      never judged or changed, like kube-system
    defaults:                         constraints for workloads that are created without any; the first that fits
      - kinds: [Deployment, StatefulSet]
        namespaces: [NAME, …]         by default all
        minReplicas: 2
        constraints:                  without labelSelector and matchLabelKeys: these are the workload's
          - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from topospread.api.validation import validate_pod_template
from topospread.api.validation.schema import WrongTypeError
from topospread.config.versions import NEWEST, KubeVersion
from topospread.errors import ConfigError, Place
from topospread.lint.rule import SEVERITIES, Severity
from topospread.lint.rules import RULES
from topospread.lint.settings import unknown_rule
from topospread.sources.files import Source, read_text
from topospread.sources.yaml import read_documents

Json = dict[str, Any]

ASKED: Final = frozenset(each.id for each in RULES if each.needs == "manifest")
"""The rules that one object is enough for: at admission there is nothing beside it."""
NEVER: Final = frozenset({"kube-system"})
"""Namespaces that are left alone whatever a policy says: a cluster must be able to mend itself."""
DEFAULTED_KINDS: Final = ("Deployment", "ReplicaSet", "StatefulSet")
_MADE: Final = ("labelSelector", "matchLabelKeys")
_FIELDS: Final = ("kubeVersion", "level", "ignore", "deny", "mayIgnore", "onTimeout", "excludeNamespaces", "defaults")
OnTimeout = Literal["allow", "deny"]
_OF_DEFAULTS: Final = ("kinds", "namespaces", "minReplicas", "constraints")


@dataclass(frozen=True, slots=True)
class WorkloadDefaults:
    """Constraints for workloads without any.

    Attributes:
        constraints: as the API has them, without labelSelector and matchLabelKeys.
        kinds: of the workloads.
        namespaces: where they are; None for everywhere.
        min_replicas: how many they have at least.
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
    exclude_namespaces: frozenset[str] = NEVER
    defaults: tuple[WorkloadDefaults, ...] = ()


def read_policy(path: str) -> AdmissionPolicy:
    """The policy of a file.

    Raises:
        InputError: it cannot be read, or says what means nothing.
    """
    documents = [each.value for each in read_documents(read_text(Source(path, None)))]
    given = documents[0] if documents else {}
    return _PolicyParser(path).policy(given or {})


class _PolicyParser:
    """Turns plain data into a policy; whatever it does not know is refused with its place."""

    def __init__(self, path: str) -> None:
        self._path = path

    def policy(self, value: Any) -> AdmissionPolicy:
        given = self._mapping(value, "", _FIELDS)
        version = KubeVersion.parse(str(given.get("kubeVersion", NEWEST)), self._place("kubeVersion"))
        level = given.get("level", "warning")
        if level not in SEVERITIES:
            raise self._error(f"expected one of {', '.join(SEVERITIES)}", "level")
        on_timeout = given.get("onTimeout", "allow")
        if on_timeout not in get_args(OnTimeout):
            raise self._error(f"expected one of {', '.join(get_args(OnTimeout))}", "onTimeout")
        return AdmissionPolicy(
            version,
            level,
            self._rules(given.get("ignore"), "ignore"),
            self._rules(given.get("deny"), "deny"),
            self._rules(given.get("mayIgnore"), "mayIgnore"),
            on_timeout,
            NEVER | frozenset(self._strings(given.get("excludeNamespaces"), "excludeNamespaces")),
            tuple(self._defaults(each, f"defaults[{i}]") for i, each in enumerate(self._list(given, "defaults", ""))),
        )

    def _defaults(self, value: Any, where: str) -> WorkloadDefaults:
        given = self._mapping(value, where, _OF_DEFAULTS)
        kinds = self._strings(given.get("kinds", ["Deployment", "StatefulSet"]), f"{where}.kinds")
        for kind in kinds:
            if kind not in DEFAULTED_KINDS:
                raise self._error(f"'{kind}' is none of {', '.join(DEFAULTED_KINDS)}", f"{where}.kinds")
        least = given.get("minReplicas", 2)
        if not isinstance(least, int) or isinstance(least, bool) or least < 0:
            raise self._error(f"expected a number of replicas, got {least!r}", f"{where}.minReplicas")
        namespaces = given.get("namespaces")
        return WorkloadDefaults(
            self._constraints(self._list(given, "constraints", where), f"{where}.constraints"),
            frozenset(kinds),
            None if namespaces is None else frozenset(self._strings(namespaces, f"{where}.namespaces")),
            least,
        )

    def _constraints(self, given: list[Any], where: str) -> tuple[Json, ...]:
        if not given:
            raise self._error("expected constraints", where)
        for i, each in enumerate(given):
            for name in _MADE:
                if name in self._mapping(each, f"{where}[{i}]", None):
                    raise self._error("it is made of the workload's own selector: leave it out", f"{where}[{i}].{name}")
        spec = {"containers": [{"name": "a", "image": "a"}], "topologySpreadConstraints": given}
        template = {"metadata": {"labels": {"app": "a"}}, "spec": {"restartPolicy": "Always", **spec}}
        try:
            problems = validate_pod_template(template, "template")
        except WrongTypeError as error:
            raise self._error(str(error), where) from None
        for problem in problems:
            field = problem.field.removeprefix("template.spec.topologySpreadConstraints")
            raise self._error(problem.message, f"{where}{field}")
        return tuple(given)

    def _rules(self, value: Any, where: str) -> frozenset[str]:
        names = self._strings(value, where)
        for i, name in enumerate(names):
            problem = unknown_rule(name)
            if not problem and name not in ASKED:
                problem = f"'{name}' needs more than the one object that there is at admission"
            if problem:
                raise self._error(problem, f"{where}[{i}]")
        return frozenset(names)

    def _strings(self, value: Any, where: str) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._error("expected a list of strings", where)
        return value

    def _list(self, given: Mapping[str, Any], name: str, where: str) -> list[Any]:
        value = given.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._error("expected a list", f"{where}.{name}".lstrip("."))
        return value

    def _mapping(self, value: Any, where: str, known: tuple[str, ...] | None) -> Json:
        if not isinstance(value, dict):
            raise self._error("expected a mapping", where)
        for name in value:
            if known is not None and name not in known:
                raise self._error(f"there is no field '{name}'; there are {', '.join(known)}", where)
        return value

    def _error(self, words: str, where: str) -> ConfigError:
        return ConfigError(words, self._place(where))

    def _place(self, where: str) -> Place:
        return Place(self._path, field=where)
