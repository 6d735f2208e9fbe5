"""Cases of claims, pod groups and steps come to what the whole kube-scheduler makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.generators.extenders import answering
from conformance.judging.whole import judge_whole
from conformance.stored import stored

Json = dict[str, Any]


@pytest.mark.parametrize("name", ["whole-dra", "whole-dra-spread", "whole-devices"])
def test_pods_and_claims_end_where_kube_scheduler_has_them(name: str) -> None:
    cases, verdicts = stored(name)
    assert len(cases) >= 40
    for case, expected in zip(cases, verdicts, strict=True):
        found = judge_whole(case)
        for kind in ("pods", "claims"):
            items = {*expected.get(kind, {}), *found.get(kind, {})}
            for item in sorted(items):
                # Chance decides among equal nodes: then any value that was seen is right.
                seen = expected.get("varying", {}).get(f"{kind} {item}") or [expected.get(kind, {}).get(item)]
                assert found.get(kind, {}).get(item) in seen, (case["id"], kind, item)


def test_pods_end_where_kube_scheduler_has_them_with_what_extenders_answer() -> None:
    cases, verdicts = stored("whole-extenders")
    unjudged: list[str] = []
    with answering() as url:
        for asked, said in zip(cases, verdicts, strict=True):
            case, expected = (json.loads(json.dumps(each).replace("http://stub", url)) for each in (asked, said))
            found = judge_whole(case)
            unjudged += [found["error"]] if "error" in found else []
            for place in {} if "error" in found else {**found["pods"], **expected["pods"]}:
                seen = expected.get("varying", {}).get(f"pods {place}") or [expected["pods"].get(place, {})]
                assert found["pods"].get(place, {}) in seen, (case["id"], place)
    assert len(unjudged) < len(cases) // 5
    assert all(each.endswith("is not asked whether evictions make room") for each in unjudged)
    told = {pod.get("message", "") for each in verdicts for pod in each["pods"].values()}
    for words in ("says no", "for good", "no answer for", "code 503", '"nowhere" which is not found', "at least one"):
        assert any(words in each for each in told), words


def test_pods_end_where_kube_scheduler_has_them_with_scores_of_the_pods_before(monkeypatch: pytest.MonkeyPatch) -> None:
    cases, verdicts = stored("whole-batching")
    assert len(cases) >= 100
    for case, expected in zip(cases, verdicts, strict=True):
        found = judge_whole(case)["pods"]
        for item in sorted({*expected["pods"], *found}):
            seen = expected.get("varying", {}).get(f"pods {item}") or [expected["pods"].get(item)]
            assert (found.get(item) or {}) in [each or {} for each in seen], (case["id"], item)
    monkeypatch.setattr("topospread.scheduling.pod_signature.Signer.signs", False)
    others = [judge_whole(case)["pods"] != expected["pods"] for case, expected in zip(cases, verdicts, strict=True)]
    assert sum(others) > len(cases) // 4, "without batches many pods end elsewhere"


GROUPS = [
    *("whole-gangs", "whole-tas", "whole-alone"),
    *("whole-group-volumes", "whole-group-devices", "whole-group-gates", "whole-group-waiting"),
    *("whole-group-shared", "whole-group-policies"),
]


@pytest.mark.parametrize("name", GROUPS)
def test_groups_end_where_kube_scheduler_has_them(name: str) -> None:
    cases, verdicts = stored(name)
    for case, expected in zip(cases, verdicts, strict=True):
        found = judge_whole(case)
        assert "error" not in found, case["id"]
        for kind in ("pods", "claims", "podGroups", "volumes"):
            for item in sorted({*expected.get(kind, {}), *found.get(kind, {})}):
                seen = expected.get("varying", {}).get(f"{kind} {item}") or [expected.get(kind, {}).get(item)]
                assert (found.get(kind, {}).get(item) or {}) in [each or {} for each in seen], (case["id"], kind, item)


def test_stored_cases_show_what_may_become_of_a_group() -> None:
    verdicts = [each for name in GROUPS for each in stored(name)[1]]
    messages = [pod.get("message", "") for each in verdicts for pod in each["pods"].values()]
    needs = ("cannot allocate all claims", "max volume count", "enough free storage", "persistent volumes to bind")
    for words in (
        "minCount",
        "No preemption victims",
        "PodGroupPostFilter plugins: not found",
        "0/5 placements",
        *needs,
    ):
        assert any(words in message for message in messages), words


def test_stored_cases_show_what_may_become_of_a_claim() -> None:
    verdicts = [each for name in ("whole-dra", "whole-dra-spread", "whole-devices") for each in stored(name)[1]]
    claims = [claim for each in verdicts for claim in each.get("claims", {}).values()]
    devices = [device for claim in claims for device in claim["allocated"] or ()]
    assert {claim["isAllocated"] for claim in claims} == {True, False}
    assert {bool(device.get(key)) for device in devices for key in ("share", "consumed")} == {True, False}
    assert any("/" in device["request"] for device in devices), "an alternative"
    assert any(len(claim["reservedFor"] or ()) > 1 for claim in claims), "a shared claim"
    messages = [pod.get("message", "") for each in verdicts for pod in each["pods"].values()]
    for words in ("cannot allocate all claims", "not available on the node", "CEL runtime error", "claim constraint"):
        assert any(words in message for message in messages), words
