"""What Kubernetes' own admission plugins and controllers answered to random cases (`record.py`), and what we answer."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from topospread.admission.label_keys import invalid_label_keys
from topospread.admission.new_pods import NewPodRules
from topospread.admission.pod_admission import Admission
from topospread.admission.tolerations import daemon_tolerations
from topospread.api.inventory import Inventory
from topospread.api.labels import aggregated
from topospread.api.node import Node
from topospread.api.node_selection import Affinity, Toleration
from topospread.api.pod import Pod, PodSpec
from topospread.api.policy import LimitRange, PriorityClass, RuntimeClass
from topospread.api.quantity import parse_quantity
from topospread.api.timestamps import seconds
from topospread.api.validation.field import report
from topospread.api.validation.resources import check_resources
from topospread.api.validation.schema import decoded
from topospread.api.workload import DaemonSet
from topospread.config.gates import gates_for
from topospread.controllers.daemon_set import DaemonNodes, affinity_to_node
from topospread.controllers.removal import removal_order, removal_order_of_job
from topospread.errors import InvalidError

Json = dict[str, Any]

_LINES = gzip.decompress(Path(__file__).with_name("recorded.jsonl.gz").read_bytes()).splitlines()
_RECORDED: list[tuple[Json, Json]] = [
    (json.loads(case), json.loads(answer)) for case, answer in zip(_LINES[::2], _LINES[1::2], strict=True)
]


def recorded(kind: str) -> list[tuple[Json, Json]]:
    found = [(case[kind], answer) for case, answer in _RECORDED if kind in case]
    assert len(found) >= 200
    return found


def plain(value: Any, name: str = "") -> Any:
    """What an object says, without what is empty, amounts in thousandths, requirements once."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        if name in ("requests", "limits", "overhead"):
            return {key: parse_quantity(amount).milli_value() for key, amount in value.items()}
        items = {key: plain(item, key) for key, item in value.items()}
        return {
            key: item
            for key, item in items.items()
            if item not in (None, False, [], "") and (item != {} or key.endswith("elector"))
        }
    if isinstance(value, list):
        items = [plain(item) for item in value]
        return [each for i, each in enumerate(items) if name != "matchExpressions" or each not in items[:i]]
    return value


def plain_spec(spec: PodSpec) -> Json:
    """A spec as far as scheduling reads it: no limits of the whole pod, its bytes as whole ones, TCP and 0 left out."""
    result: Json = plain(spec)
    for container in (*result.get("containers", ()), *result.get("initContainers", ())):
        for port in container.get("ports", ()):
            port["hostPort"] = port.get("hostPort") or None
            port.setdefault("protocol", "TCP")
    if "resources" in result:
        requests = result["resources"].get("requests", {})
        result["resources"] = {k: v if k == "cpu" else -(-v // 1000) for k, v in requests.items()}
    result.setdefault("priority", 0)
    return result


def outcome(admission: Admission, pod: Pod) -> tuple[Pod, str]:
    """The pod after admission, or the words in which it is refused."""
    try:
        return admission.admit(pod), ""
    except InvalidError as error:
        return pod, error.message


def test_admission_answers_as_the_api_server():
    admitted = refused = warned = invalid = 0
    for case, answer in recorded("admit"):
        inventory = Inventory(
            limit_ranges=msgspec.convert(case["limitRanges"], list[LimitRange]),
            priority_classes=msgspec.convert(case["priorityClasses"], list[PriorityClass]),
            runtime_classes=msgspec.convert(case["runtimeClasses"], list[RuntimeClass]),
        )
        gates = gates_for("1.37", component="apiserver")
        admission = Admission(inventory, gates)
        rules = NewPodRules(inventory, gates, admission)
        pod, refusal = outcome(admission, msgspec.convert(case["pod"], Pod))
        if "error" in answer:
            refused += bool(refusal)
            warned += not refusal
            words = answer["error"].split("forbidden: ", 1)[1]
            assert refusal.partition(" is forbidden: ")[2] == words or any(
                words in each for each in admission.warnings
            ), (words, refusal, admission.warnings)
            continue
        assert not refusal
        # The recorded answers end before the API server validates the pod.
        refusal = rules.refusal(pod)[1]
        if " is invalid: " in refusal:
            invalid += 1
            whole = decoded(answer["spec"], "PodSpec")
            errors = report(check_resources("spec", whole)) if ".resources" in refusal else []
            errors += invalid_label_keys(pod.spec, gates)
            assert refusal.partition(" is invalid: ")[2] == aggregated([each.message for each in errors])
        admitted += 1
        assert plain_spec(pod.spec) == plain_spec(msgspec.convert(answer["spec"], PodSpec)), case
    assert min(admitted, refused, warned, invalid) > 20


def test_daemon_set_controller_picks_the_same_nodes():
    for case, answer in recorded("daemon"):
        spec = msgspec.convert(case["daemonSet"], DaemonSet).spec.template.spec
        spec = msgspec.structs.replace(spec, tolerations=daemon_tolerations(spec))
        nodes = msgspec.convert(case["nodes"], list[Node])
        run, stay = DaemonNodes(nodes, comparison_operators=False).for_pods_of(spec)
        assert {node.name: [node.name in run, node.name in stay] for node in nodes} == answer["nodes"], case
        assert plain(spec.tolerations) == plain(msgspec.convert(answer["tolerations"], list[Toleration]))
        assert plain(affinity_to_node(spec.affinity, "a-node")) == plain(msgspec.convert(answer["affinity"], Affinity))


@pytest.mark.parametrize("kind", ["ranked", "plain"])
def test_controllers_remove_pods_in_the_same_order(kind):
    for case, answer in recorded("remove"):
        pods = msgspec.convert(case["pods"], list[Pod])
        now = seconds(case["now"])
        order: Callable[[Sequence[Pod]], list[Pod]] = (
            partial(removal_order, related=pods, now=now) if kind == "ranked" else removal_order_of_job
        )
        less = answer[kind]
        for i, left in enumerate(pods):
            for j, right in enumerate(pods[:i]):
                first, second = (right, left) if less[j][i] else (left, right)
                assert order([first, second]) == [first, second], case
                assert order([second, first]) == [first, second] if less[i][j] or less[j][i] else [second, first]
