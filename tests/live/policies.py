"""The policies that `topospread policies --for vap` prints beside the linter, each object asked of a real API server.

python -m tests.live.policies --count 2000 --seed 7
"""

from __future__ import annotations

import argparse
import copy
import http.client
import json
import re
import ssl
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import local
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.live.api_server import api_server
from tests.live.policy_cases import Drawn
from topospread.lint.policies.cel import EXPRESSED, SCALED
from topospread.lint.policies.policies import name_of, policies
from topospread.lint.reading import Question
from topospread.lint.rules import BY_ID
from topospread.lint.run import run
from topospread.lint.settings import Settings

Json = dict[str, Any]
_POLICY = re.compile(r"ValidatingAdmissionPolicy 'topospread-([a-z-]+)'")
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
_PATIENCE = 60.0
"""Seconds until every policy has to be in force."""


class ApiServer:
    """An API server of a kubeconfig, asked from several threads over connections that stay."""

    def __init__(self, kubeconfig: Path) -> None:
        read = yaml.safe_load(kubeconfig.read_text())
        self._host = urlsplit(read["clusters"][0]["cluster"]["server"]).netloc
        self._token = read["users"][0]["user"]["token"]
        self._context = ssl.create_default_context(cafile=read["clusters"][0]["cluster"]["certificate-authority"])
        self._own = local()
        self._connections: list[http.client.HTTPSConnection] = []

    def close(self) -> None:
        """Close every thread's connection."""
        for each in self._connections:
            each.close()

    def post(self, path: str, body: Json) -> tuple[int, list[str], str]:
        """Status, warnings and answer."""
        return self._request("POST", path, body)

    def get(self, path: str) -> Json:
        """What stands there."""
        status, _, answer = self._request("GET", path, {})
        assert status == 200, answer
        found: Json = json.loads(answer)
        return found

    def delete(self, path: str) -> None:
        """Take away what stands there, a whole collection too."""
        status, _, answer = self._request("DELETE", path, {})
        assert status == 200, answer

    def refusal(self, item: Json, **headers: str) -> str:
        """Return the answer to the creation of an object in a dry run, if a policy denies it; otherwise \"\"."""
        status, _, answer = self._request("POST", f"{_collection(item)}?dryRun=All", item, headers)
        assert status in (201, 422), answer
        return answer if status == 422 else ""

    def until_refused(self, item: Json, words: str) -> None:
        """Try to create an object, in dry runs, until a policy denies it with these words."""
        until = time.monotonic() + _PATIENCE
        while words not in (answer := self.refusal(item)):
            assert time.monotonic() < until, answer
            time.sleep(0.1)

    def _request(
        self, method: str, path: str, body: Json, more: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[int, list[str], str]:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = http.client.HTTPSConnection(self._host, context=self._context, timeout=60)
            self._own.connection = connection
            self._connections.append(connection)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), {**headers, **more})
        answer = connection.getresponse()
        return answer.status, answer.headers.get_all("Warning") or [], answer.read().decode()


@dataclass(frozen=True)
class Judged:
    """What came of some objects.

    Attributes:
        found: rule → how many objects it found something in.
        refused: how many objects the API server itself refuses, which do not count.
        asked: how many do.
        differences: object and what only one of the two found, as text.
    """

    found: Counter[str]
    refused: int
    asked: int
    differences: list[str]


def install(server: ApiServer) -> None:
    """Create every policy, answering with warnings whatever the rule's severity, and wait until each is in force."""
    for each in policies([(BY_ID[rule], "warning") for rule in EXPRESSED], "vap", Settings()):
        status, _, answer = server.post(f"{_ADMISSION}/{_PLURALS[each['kind']]}", each)
        assert status == 201, answer
    until = time.monotonic() + _PATIENCE
    for rule in EXPRESSED:
        wrong = list(yaml.safe_load_all(BY_ID[rule].wrong.manifests))
        while not any(rule in (ask(server, each) or ()) for each in wrong if each):
            assert time.monotonic() < until, f"{name_of(rule)} finds nothing in the rule's own example"
            time.sleep(0.1)


def ask(server: ApiServer, item: Json) -> frozenset[str] | None:
    """The rules whose policies warn when the object is created, in a dry run; None when the API server refuses it."""
    status, warnings, answer = server.post(f"{_collection(item)}?dryRun=All", item)
    if status == 422:
        return None
    assert status == 201, answer
    told = [match[1] for match in map(_POLICY.search, warnings) if match]
    assert not any("resulted in error" in each for each in warnings), warnings
    return frozenset(told)


def _collection(item: Json) -> str:
    version, plural = item["apiVersion"], f"{item['kind'].lower()}s"
    root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    return f"{root}/{plural}" if item["kind"] == "Node" else f"{root}/namespaces/default/{plural}"


def linted(items: Sequence[Json]) -> dict[str, frozenset[str]]:
    """Return the linter's findings by object, given as the API server completes it: with its replicas.

    The linter skips objects with an owner. Policies do not: the user here is no controller.
    """
    completed = copy.deepcopy(list(items))
    for each in completed:
        each["metadata"].pop("ownerReferences", None)
        if each["kind"] in SCALED:
            each["spec"].setdefault("replicas", 1)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": completed}, file)
        file.flush()
        outcome = run(Question(paths=[file.name], settings=Settings(select=frozenset(EXPRESSED))))
    found: dict[str, set[str]] = {each["metadata"]["name"]: set() for each in items}
    for finding in outcome.findings:
        found[finding.place.object.rpartition("/")[2].rpartition(" ")[2]].add(finding.rule)
    return {name: frozenset(rules) for name, rules in found.items()}


def judge(server: ApiServer, count: int, seed: int) -> Judged:
    """Ask both about random objects."""
    drawn = Drawn(Random(seed), list(EXPRESSED))
    items = [drawn.item(number) for number in range(count)]
    expected = linted(items)
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda item: ask(server, item), items))
    found: Counter[str] = Counter()
    for answer in answers:
        found.update(answer or ())
    refused = sum(answer is None for answer in answers)
    return Judged(found, refused, count - refused, list(_differences(items, answers, expected)))


def _differences(
    items: Iterable[Json], answers: Iterable[frozenset[str] | None], expected: dict[str, frozenset[str]]
) -> Iterator[str]:
    for item, answer in zip(items, answers, strict=True):
        linter = expected[item["metadata"]["name"]]
        if answer is not None and answer != linter:
            only = f"only the linter: {sorted(linter - answer)}, only policies: {sorted(answer - linter)}"
            yield f"{only}\n{json.dumps(item)}"


def main() -> int:
    """Judge as many objects as are asked for; 1 when linter and policies differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    programs = Path(__file__).parent.parent.parent / "build" / "live"
    with (
        tempfile.TemporaryDirectory() as folder,
        api_server(programs, Path(folder)) as kubeconfig,
        closing(ApiServer(kubeconfig)) as server,
    ):
        install(server)
        begin = time.monotonic()
        judged = judge(server, given.count, given.seed)
    for each in judged.differences[:5]:
        print(each)
    print(
        f"{judged.asked} objects in {time.monotonic() - begin:.0f} s, {judged.refused} more that the API server refuses"
    )
    print(f"found: {dict(sorted(judged.found.items()))}")
    print(f"{len(judged.differences)} differ (seed {given.seed})")
    return int(bool(judged.differences))


if __name__ == "__main__":
    sys.exit(main())
