"""JSON patches and apply configurations of mutating policies."""

from __future__ import annotations

import pytest

from tests.unit.admission.test_mutating import policy
from tests.unit.admission.test_validating import deployment, found_by
from topospread.admission import patches


def test_lists_are_merged_in_the_order_of_structured_merge_diff() -> None:
    def merged(left: str, right: str) -> str:
        given, part = ({"spec": {"containers": [{"name": each} for each in names]}} for names in (left, right))
        return "".join(each["name"] for each in patches.applied("Pod", given, part)["spec"]["containers"])

    assert [merged(*each.split()) for each in ("abc b", "abc cx", "abc xa", "abc ca", "ab xy")] == [
        "abc", "abcx", "xabc", "bca", "abxy",
    ]  # fmt: skip


COPIES = ", ".join(
    f'JSONPatch{{op: "copy", from: "/metadata/labels", path: "/metadata/annotations/a{level}"}}, '
    f'JSONPatch{{op: "copy", from: "/metadata/annotations", path: "/metadata/labels/b{level}"}}'
    for level in range(60)
)


def test_copies_of_copies_end_where_the_api_server_ends_them() -> None:
    annotated = '[JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, ' + COPIES + "]"
    verdict, message = found_by(*policy(annotated), deployment())
    assert (verdict, "denied request: JSON Patch: …" in message) == ("no", True), message


@pytest.mark.parametrize("value", [[1], [1, 2, 3], [2, 1], [True, 2], {"0": 1, "1": 2}, None])
def test_a_test_operation_compares_as_json_does(value: object) -> None:
    given = {"a": [1, 2]}
    assert patches.patched(given, [{"op": "test", "path": "/a", "value": [1, 2.0]}]) == given
    with pytest.raises(patches.TestFailedError):
        patches.patched(given, [{"op": "test", "path": "/a", "value": value}])
