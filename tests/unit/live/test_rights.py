"""Which rights are asked for, and how those that are missing are told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from topospread.live.api_error import ApiError
from topospread.live.client import ApiClient
from topospread.live.kinds import WATCHED
from topospread.live.rights import Right, leading, listed, missing, placing, reading

RBAC = Path(__file__).parents[3] / "docs" / "how-to" / "second-scheduler" / "rbac.yaml"


class Granting:
    """An API server that grants what it is given."""

    def __init__(self, *granted: Right) -> None:
        self.granted = granted

    async def request(self, method: str, path: str, *, body: Any) -> bytes:
        asked = body["spec"]["resourceAttributes"]
        assert (method, path) == ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
        resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        right = Right(
            asked["verb"], resource, asked.get("group", ""), asked.get("namespace", ""), asked.get("name", "")
        )
        return json.dumps({"status": {"allowed": right in self.granted}}).encode()


def test_what_is_not_granted_is_missing() -> None:
    every = [*reading(), *placing(), *leading("kube-system", "own")]
    without = [each for each in every if each.resource != "pods/binding"]
    found = asyncio.run(missing(cast(ApiClient, Granting(*without)), every))
    assert found == [Right("create", "pods/binding")]
    assert asyncio.run(missing(cast(ApiClient, Granting(*every)), every)) == []


@pytest.mark.parametrize("body", [b"{}", b"<html>", b'{"status": {"allowed": "yes"}}'])
def test_what_answers_something_else_is_told_as_no_api_server(body: bytes) -> None:
    class Other(Granting):
        async def request(self, method: str, path: str, *, body: Any, answer: bytes = body) -> bytes:
            return answer

    with pytest.raises(ApiError, match="no review of an access, so it is no API server"):
        asyncio.run(missing(cast(ApiClient, Other()), reading()))


def test_verbs_of_one_resource_are_told_together() -> None:
    rights = [Right("list", "nodes"), Right("create", "leases", "coordination.k8s.io", "ns"), Right("watch", "nodes")]
    assert listed(rights) == ["list, watch nodes", "create leases.coordination.k8s.io in namespace ns"]


def test_every_kind_that_is_followed_is_asked_for() -> None:
    names = {each.resource for each in reading()}
    assert names == {each.name for each in WATCHED if not each.optional}


def test_the_how_tos_file_grants_all_that_is_asked_for_and_nothing_is_written_beside() -> None:
    documents = [each for each in yaml.safe_load_all(RBAC.read_text()) if each["kind"] in ("ClusterRole", "Role")]
    granted = {
        (verb, resource, group, role["metadata"].get("namespace", ""))
        for role in documents
        for rule in role["rules"]
        for verb in rule["verbs"]
        for resource in rule["resources"]
        for group in rule["apiGroups"]
    }
    asked = {
        (each.verb, each.resource, each.group, each.namespace)
        for each in (*reading(), *placing(), *leading("kube-system", "topospread"))
    }
    assert asked - granted == set()
    writing = {each for each in granted - asked if each[0] not in ("get", "list", "watch")}
    assert writing == set()
