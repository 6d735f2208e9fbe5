"""MutatingAdmissionPolicies: their changes to new objects, and their denials in the API server's words.

The API server calls policies in an unspecified order. If the result depends on the order, the result is unknown. After
the first round, the other admission plugins process the changed object. Then the policies with
``reinvocationPolicy: IfNeeded`` are called again in the same order. Sources: k8s.io/apiserver
pkg/admission/plugin/policy/mutating/{dispatcher,reinvocationcontext}.go, patch/json_patch.go, patch/smd.go,
pkg/admission/reinvocation.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import permutations
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from topospread.api.admission_policy import AdmissionPolicy, AdmissionPolicyBinding, Mutation
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.validation import validate_decoded
from topospread.api.validation.field import Options
from topospread.api.validation.schema import WrongTypeError, decoded, unknown_fields
from topospread.cel.evaluation import Budget
from topospread.cel.values import CannotEvaluateError, CelError, Message, Uint, Unknown
from topospread.errors import InvalidError

from .new_objects import RESOURCES
from .patches import OPEN, PatchError, TestFailedError, applied, patched, steps_of
from .pod_admission import Admission, status_message
from .requests import GENERATION, STORED, NotWrittenError, Requests, Target, without_token
from .validating import Decision, Evaluation, Parameters, resulted
from .whole_text import ENCODER, WHOLE, note_whole
from .written_objects import completed_fields

Json = dict[str, Any]
Invocation = tuple[AdmissionPolicy, AdmissionPolicyBinding]

_MOST: Final = 4
"""Maximum number of policies for one object, because every order of them is evaluated."""
_ORDER: Final = "several policies change it, and the result depends on their order, which is unknown"
_FOR_PLUGINS: Final = tuple(
    """containers init_containers priority_class_name priority preemption_policy runtime_class_name overhead tolerations
    node_selector resources""".split()  # noqa: SIM905 - a list of strings is harder to read
)
"""Fields of a pod's spec that other admission plugins change."""
_UNDECIDED: Final = "a policy that is called again overrides other admission plugins"
_PROFILES: Final = re.compile(r"(?:apparmor\.security\.beta|seccomp\.security\.alpha)\.kubernetes\.io/")
_EXACT: Final = 2**53
_SORTED: Final = msgspec.json.Encoder(enc_hook=str, order="deterministic")
"""Encoder that gives equal texts for equal objects."""


class Admitted(NamedTuple):
    """The result of mutating policies for a new object.

    Attributes:
        item: the object with the policies' changes.
        denial: the API server's message if it denies the object; "" if it admits it.
        open: why the result is unknown, "" if it is known.
    """

    item: KubeObject
    denial: str = ""
    open: str = ""


class _RefusedError(Exception):
    """A denial after which the API server calls no further policies; the message is the API server's."""


class MutatingPolicies:
    """Applies mutating policies to new objects.

    Args:
        requests: builds the objects that policies read.
        parameters: parameters of the policies.
        admission: other admission plugins that change pods.
    """

    def __init__(self, requests: Requests, parameters: Parameters, admission: Admission) -> None:
        self._requests = requests
        self._parameters = parameters
        self._admission = admission

    def on_pod(self, pod: Pod, invocations: Sequence[Invocation]) -> Admitted:
        """Return the result of the matching policies for a new pod that the other admission plugins have processed."""

        def readmitted(plain: Json) -> Pod:
            return self._admission.admit(_typed_pod(pod, plain))

        try:
            targets = self._requests.of_new_pod(pod)
            found = [
                self._outcome(pod, each, invocations, readmitted, partial(self._again, at))
                for at, each in enumerate(targets)
            ]
        except (CannotEvaluateError, NotWrittenError) as error:
            return Admitted(pod, open=str(error))
        if any(each != found[0] for each in found):
            return Admitted(pod, open="it is unknown whether the service account's token is mounted")
        return found[0]

    def _again(self, alternative: int, pod: Pod) -> Target:
        return self._requests.of_new_pod(pod)[alternative]

    def on_workload(self, kind: str, item: KubeObject, invocations: Sequence[Invocation]) -> Admitted:
        """Return the result of the matching policies for a new workload."""
        try:
            return self._outcome(
                item,
                self._requests.of_new_workload(kind, item),
                invocations,
                lambda plain: _typed_workload(kind, item, plain),
                lambda made: self._requests.of_new_workload(kind, made),
            )
        except (CannotEvaluateError, NotWrittenError) as error:
            return Admitted(item, open=str(error))

    def on_replica_set(self, deployment: KubeObject, invocations: Sequence[Invocation]) -> tuple[str, str]:
        """Return (denial of a new Deployment's ReplicaSet, why the result is unknown); "" stands for none.

        The result is unknown if a policy changes the ReplicaSet.
        """
        denials: set[str] = set()
        try:
            target = self._requests.of_new_replica_set(deployment)
            with self._parameters.budget() as budget:
                for order in _orders(invocations):
                    course = _Course(order, self._parameters, budget)
                    changed = course.run(target)
                    changed = course.run(changed, course.again) if course.again else changed
                    if changed.plain["spec"] != target.plain["spec"]:
                        return "", "it changes the ReplicaSet"
                    denials.add(course.denials[0] if course.denials else "")
        except _RefusedError as error:
            denials.add(str(error))
        except (CannotEvaluateError, NotWrittenError) as error:
            return "", str(error)
        return (denials.pop(), "") if len(denials) == 1 else ("", _ORDER)

    def _outcome(
        self,
        item: Any,
        target: Target,
        invocations: Sequence[Invocation],
        typed: Callable[[Json], Any],
        again: Callable[[Any], Target],
    ) -> Admitted:
        outcomes: list[Admitted] = []
        with self._parameters.budget() as budget:
            for order in _orders(invocations):
                course = _Course(order, self._parameters, budget)
                try:
                    made = _played(course, item, target, typed, again)
                    denial = course.denials[0] if course.denials else ""
                    if len(set(course.denials)) > 1:
                        denial = OPEN
                except _RefusedError as error:
                    made, denial = item, str(error)
                except InvalidError as error:
                    made, denial = item, error.message
                outcomes.append(Admitted(item, denial) if denial else Admitted(made))
        if all(each == outcomes[0] for each in outcomes):
            return outcomes[0]
        return Admitted(item, OPEN) if all(each.denial for each in outcomes) else Admitted(item, open=_ORDER)


def _orders(invocations: Sequence[Invocation]) -> Iterator[tuple[Invocation, ...]]:
    """Return every order of the policies.

    Raises:
        CannotEvaluateError: if there are more than `_MOST` policies.
    """
    if len(invocations) > _MOST:
        raise CannotEvaluateError(f"more than {_MOST} policies change it")
    return permutations(invocations)


def _played(
    course: _Course, item: Any, target: Target, typed: Callable[[Json], Any], again: Callable[[Any], Target]
) -> Any:
    """Return the object after all rounds; the given object if no policy changes it or a policy denies it.

    ``typed``: decodes a changed object; for a pod, also admits it again. ``again``: returns the second round's object.
    """
    first = course.run(target)
    if course.denials or not course.is_dirty:
        return item
    made = item if first.plain == target.plain else typed(first.plain)
    if course.again:
        before = again(made)
        second = course.run(before, course.again)
        if course.denials:
            return item
        if second.plain != before.plain:
            try:
                made = typed(second.plain)
            except InvalidError:
                raise CannotEvaluateError(_UNDECIDED) from None
            if isinstance(made, Pod):
                alone = _typed_pod(made, second.plain).spec
                if any(getattr(made.spec, name) != getattr(alone, name) for name in _FOR_PLUGINS):
                    raise CannotEvaluateError(_UNDECIDED)
    if made is not item:
        _validate(target.kind, made, again(made).plain)
    return made


class _Course:
    """The policies in one order, over up to two rounds.

    Attributes:
        denials: messages of the policies that deny the object.
        is_dirty: whether any mutation was applied.
        again: positions of the policies to call in the second round.
    """

    def __init__(self, order: Sequence[Invocation], parameters: Parameters, budget: Budget) -> None:
        self._order = order
        self._parameters = parameters
        self._budget = budget
        self.denials: list[str] = []
        self.is_dirty = False
        self.again: set[int] = set()

    def run(self, target: Target, only: Collection[int] | None = None) -> Target:
        """Return the object after a round; ``only``: positions of the policies to call, by default all."""
        invoked: set[int] = set()
        only = None if only is None else set(only)
        for at, (policy, binding) in enumerate(self._order):
            names = self._parameters.names(policy, binding, target.request)
            evaluation = Evaluation(policy, binding, {**names, "object": target.seen}, target.namespace, self._budget)
            matched = evaluation.matching(policy.spec.match_conditions or ())
            if matched is not None and matched.open:
                raise CannotEvaluateError(matched.open)
            if matched is not None:
                self.denials += [matched.denial] if matched.denial else []
                continue
            if evaluation.perhaps:
                raise CannotEvaluateError(evaluation.perhaps)
            if only is not None and at not in only:
                continue
            before = target.plain
            for each in policy.spec.mutations or ():
                evaluation = Evaluation(
                    policy, binding, {**names, "object": target.seen}, target.namespace, self._budget
                )
                try:
                    target = _changed(target, each, evaluation)
                    self.is_dirty = True
                except PatchError as error:
                    if not evaluation.ignores:
                        self.denials.append(evaluation.denied(str(error)).denial)
            if target.plain != before:
                self._again(invoked)
            if policy.spec.reinvocation_policy == "IfNeeded":
                invoked.add(at)
        if self.is_dirty:
            self._again(invoked)
        return target

    def _again(self, invoked: set[int]) -> None:
        self.again |= invoked
        invoked.clear()


def _changed(target: Target, mutation: Mutation, evaluation: Evaluation) -> Target:
    """Return the object after one mutation.

    Raises:
        PatchError: if the mutation's expression fails, or its patch does not apply.
    """
    of_patch = mutation.patch_type == "JSONPatch"
    given = mutation.json_patch if of_patch else mutation.apply_configuration
    if given is None:
        return target
    value = evaluation.evaluated(given.expression, evaluation.with_variables(target.namespace))
    if isinstance(value, Decision):
        raise CannotEvaluateError(value.open)
    if isinstance(value, CelError):
        raise PatchError(resulted(given.expression, value))
    evaluation.spend_on_change(target.plain, value, merges=not of_patch)
    plain = _json_patched(target, value) if of_patch else _applied(target, value)
    try:
        made = completed_fields(target.kind, plain)
    except (WrongTypeError, ValueError, TypeError, KeyError, AttributeError):
        if of_patch:
            raise _RefusedError(f"Internal error occurred: {OPEN}") from None
        raise PatchError(OPEN) from None
    for name in STORED & made["metadata"].keys():
        del made["metadata"][name]
    for name in {*target.plain["metadata"], *made["metadata"]} - {"labels", "annotations"}:
        if made["metadata"].get(name) != target.plain["metadata"].get(name):
            raise CannotEvaluateError(f"a policy changes metadata.{name}")
    return target._replace(seen=_seen(target.seen, target.plain, made), plain=made)


def _json_patched(target: Target, value: Any) -> Json:
    if not isinstance(value, list) or not all(isinstance(each, Message) for each in value):
        raise CannotEvaluateError("its patch is not a list of operations")
    operations = []
    for each in value:
        texts = [each.get(name, "") for name in ("op", "path", "from")]
        if not all(isinstance(text, str) for text in texts):
            raise CannotEvaluateError("a path or an operation in its patch is unknown")
        if '"' in "".join(texts) or "\\" in "".join(texts) or not "".join(texts).isprintable():
            raise CannotEvaluateError("a path in its patch has special characters, which topospread cannot evaluate")
        for path in texts[1:]:
            _check_known(target, steps_of(path))
        operation = dict(zip(("op", "path", "from"), texts, strict=True))
        if "value" in each:
            _check_types(each["value"], None)
            operation["value"] = _plain(each["value"], _parts(target.seen))
        operations.append(operation)
    try:
        found = patched(target.plain, operations)
    except TestFailedError:
        return target.plain
    except PatchError as error:
        raise PatchError(f"JSON Patch: {error}") from None
    unknown = unknown_fields(found, target.kind)
    if unknown:
        said = ", ".join(f'unknown field "{path}"' for path in unknown)
        raise _RefusedError(f"Internal error occurred: strict decoding error: {said}")
    return found


def _applied(target: Target, value: Any) -> Json:
    if not isinstance(value, Message) or value.name != "Object":
        raise CannotEvaluateError("its expression does not return an Object")
    wrong = _check_types(value, "Object")
    if wrong:
        raise PatchError(f"type mismatch: {wrong}")
    part = _plain(value, _parts(target.seen))
    _check_part(target.seen, part)
    part |= {name: target.plain[name] for name in ("apiVersion", "kind")}
    try:
        return applied(target.kind, target.plain, part)
    except PatchError as error:
        raise PatchError(f"error applying patch: {error}") from None


def _check_types(value: Any, expected: str | None) -> str:
    """Return the API server's message if an object's type does not match its field; "" if every type matches.

    ``expected``: required type of ``value`` itself; None accepts any type. A mismatch inside the value raises
    PatchError.
    """
    found: list[str] = []

    def walk(value: Any, path: str) -> None:
        if isinstance(value, Message):
            if value.name != path:
                words = (
                    f'unexpected type name "{value.name}", expected "{path}", which matches field name path from root '
                )
                found.append(f"{words}Object type")
            for name, each in value.items():
                walk(each, f"{path}.{name}")
        elif isinstance(value, list):
            for each in value:
                walk(each, path)
        elif isinstance(value, dict):
            for each in value.values():
                walk(each, path)

    walk(value, expected or (value.name if isinstance(value, Message) else ""))
    if expected is None and found and isinstance(value, Message):
        raise PatchError(f"type mismatch: {found[0] if len(found) == 1 else OPEN}")
    return "" if not found else found[0] if len(found) == 1 else OPEN


def _plain(value: Any, parts: Collection[int]) -> Any:
    """Return a CEL value as JSON.

    ``parts``: `id` of each list and map of the policy's object. In Go, these have other types than new lists and maps,
    so a patch that contains one of them cannot be evaluated.
    """
    if isinstance(value, Unknown):
        raise CannotEvaluateError(f"not known: {value.what}")
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, dict | list) and id(value) in parts:
        raise CannotEvaluateError("its patch copies a part of the object, which topospread cannot evaluate")
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(each, parts) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, parts) for each in value]
    if isinstance(value, Uint | int | float) and abs(value) < _EXACT:
        return int(value) if value == int(value) else value
    raise CannotEvaluateError("its patch has a value that topospread cannot evaluate")


def _parts(value: Any) -> set[int]:
    if not isinstance(value, dict | list):
        return set()
    inner = value.values() if isinstance(value, dict) else value
    return {id(value)}.union(*map(_parts, inner))


def _check_known(target: Target, steps: Sequence[str]) -> None:
    """Raise CannotEvaluateError if a path leads through an unknown part of the object."""
    if steps[:1] == ["metadata"] and steps[1:2] not in (["labels"], ["annotations"]):
        raise CannotEvaluateError("its patch changes metadata, which topospread cannot evaluate")
    if tuple(steps[:2]) in target.partly_known:
        raise CannotEvaluateError(f"not known: {'.'.join(steps[:2])}")
    value: Any = target.seen
    for each in steps:
        if isinstance(value, dict):
            value = value.get(each)
        elif isinstance(value, list) and each.isdigit() and int(each) < len(value):
            value = value[int(each)]
        else:
            return
        if isinstance(value, Unknown):
            raise CannotEvaluateError(f"not known: {value.what}")


def _check_part(seen: Any, part: Any) -> None:
    """Raise CannotEvaluateError if ``part`` of an apply configuration meets an unknown value of the object."""
    if isinstance(seen, Unknown) and not seen.may_be_absent:
        raise CannotEvaluateError(f"not known: {seen.what}")
    if isinstance(part, dict) and isinstance(seen, dict):
        for name, each in part.items():
            _check_part(seen.get(name), each)


def _seen(seen: Any, old: Any, new: Any) -> Any:
    """Return the object as expressions see it after a change: `Unknown` values remain in its unchanged parts."""
    if old == new:
        return seen
    if isinstance(seen, dict) and isinstance(old, dict) and isinstance(new, dict):
        kept = {name: each for name, each in seen.items() if name not in old}
        return kept | {
            name: _seen(seen[name], old[name], each) if name in old and name in seen else each
            for name, each in new.items()
        }
    if isinstance(seen, list) and isinstance(old, list) and isinstance(new, list) and len(seen) == len(old):
        named = {each["name"]: at for at, each in enumerate(old) if isinstance(each, dict) and "name" in each}
        found = []
        for each in new:
            at = old.index(each) if each in old else -1
            if at < 0 and isinstance(each, dict):
                at = named.get(each.get("name"), -1)
            found.append(each if at < 0 else _seen(seen[at], old[at], each))
        return found
    return new


def _typed_pod(pod: Pod, plain: Json) -> Pod:
    """Return the pod with the labels, annotations and spec of the changed object ``plain``."""
    metadata, spec = plain["metadata"], without_token(plain["spec"])
    annotations = metadata.get("annotations") or {}
    if any(_PROFILES.match(key) for key in annotations):
        raise CannotEvaluateError("it sets a seccomp or AppArmor annotation, which topospread cannot evaluate")
    kept = {name: metadata[name] for name in ("labels", "annotations") if name in metadata}
    text = _SORTED.encode({"metadata": kept, "spec": spec}).decode()
    made: Json = {"metadata": {**kept, "annotations": {**annotations, WHOLE: text}}, "spec": spec}
    read = msgspec.json.decode(ENCODER.encode(made), type=Pod)
    new = replace(pod.metadata, labels=read.metadata.labels, annotations=read.metadata.annotations)
    return replace(pod, metadata=new, spec=read.spec)


def _typed_workload(kind: str, item: KubeObject, plain: Json) -> KubeObject:
    """Return the workload with the labels, annotations and spec of the changed object ``plain``."""
    checked: Json = msgspec.json.decode(_SORTED.encode(decoded(plain, kind)))
    checked["metadata"].get("annotations", {}).pop(GENERATION, None)
    note_whole(checked, kind)
    read: KubeObject = msgspec.json.decode(ENCODER.encode(checked), type=KINDS[kind].struct)
    metadata = replace(item.metadata, labels=read.metadata.labels, annotations=read.metadata.annotations)
    return replace(read, metadata=metadata)


def _validate(kind: str, item: KubeObject, plain: Json) -> None:
    """Validate a changed object, as the API server does before it stores it.

    Raises:
        _RefusedError: if the object is invalid.
    """
    checked = decoded({**plain, "spec": without_token(plain["spec"]) if kind == "Pod" else plain["spec"]}, kind)
    metadata = checked["metadata"]
    if not metadata.get("name"):
        metadata["generateName"] = item.metadata.generate_name or "x"
    said = [each.message for each in validate_decoded(kind, checked, Options(allow_privileged=True))]
    if not said:
        return
    words = said[0] if len(said) == 1 else OPEN
    if isinstance(item, Pod):
        raise _RefusedError(status_message(item, words, is_invalid=True))
    group = RESOURCES[kind][0]
    raise _RefusedError(f'{kind}{f".{group}" if group else ""} "{item.name}" is invalid: {words}')
