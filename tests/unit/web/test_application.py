"""The application's answers: compressed, as small as what the page shows, and given up when nobody waits."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

import topospread
from tests.browser.serving import many_nodes
from topospread.drill.held_process import AbandonedError
from topospread.simulation.options import SimulationOptions
from topospread.web.answers import PageQuestion
from topospread.web.application import MOST_OF_ONE, application, events_of
from topospread.web.pages import STATIC
from topospread.web.served import InputWords, ServedCluster
from topospread.web.trials import read_trial

FIRST_LOAD = ("/", "/static/page.css", "/api/trial", "/api/picture")
MOST_OF_FIRST_LOAD = 300_000
"""Bytes, compressed, that the page asks for before it is whole."""
MOST_OF_AN_ANSWER = 200_000
MOST_LINES = 4_900
"""Lines of the page's Python and JavaScript together."""


def many(folder: Path, nodes: int, workloads: int, replicas: int) -> Any:
    """The application about a synthetic cluster."""
    words = many_nodes(folder, nodes, workloads, replicas)
    inventory = topospread.load(words[1], cluster=words[3])
    return application(ServedCluster.begin(inventory, SimulationOptions(), InputWords("many")))


async def body(made: Any, path: str, query: str = "", leaves: bool = False) -> tuple[int, bytes, dict[bytes, bytes]]:
    """Status, bytes as they are sent, and headers; ``leaves``: the client goes away as soon as it has asked."""
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path, "root_path": "",
        "query_string": query.encode(), "headers": [(b"accept-encoding", b"gzip")], "raw_path": path.encode(),
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "app": made,
    }  # fmt: skip
    sent: list[Any] = []
    given = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        if not leaves:
            await asyncio.sleep(600)
        return next(given, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    await made(scope, receive, send)
    text = b"".join(each.get("body", b"") for each in sent)
    return sent[0]["status"], text, dict(sent[0]["headers"])


@pytest.fixture(scope="module")
def five_thousand(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return many(tmp_path_factory.mktemp("many"), 5_000, 500, 20)


def test_the_first_load_of_5000_nodes_is_small(five_thousand: Any) -> None:
    _, page, _ = asyncio.run(body(five_thousand, "/"))
    scripts = re.findall(r'src="(/script/[^"]+)"', gzip.decompress(page).decode())
    assert len(scripts) == 1
    sizes = {}
    for path in (*FIRST_LOAD, *scripts):
        status, text, headers = asyncio.run(body(five_thousand, path))
        assert (status, headers[b"content-encoding"]) == (200, b"gzip"), path
        sizes[path] = len(text)
    assert sum(sizes.values()) <= MOST_OF_FIRST_LOAD, sizes


def test_the_page_s_code_stays_small() -> None:
    code = [*STATIC.parent.glob("*.py"), *STATIC.rglob("*.js")]
    lines = {each.name: each.read_text().count("\n") for each in code}
    assert sum(lines.values()) <= MOST_LINES, lines


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/trial", "step=cordon+zone%3Dzone-a"),
        ("/api/workload", "kind=Deployment&namespace=default&name=app-000"),
        ("/api/node", "name=node-1"),
        ("/api/why", "target=default/deploy/nowhere"),
    ],
)
def test_an_answer_about_5000_nodes_is_small(five_thousand: Any, path: str, query: str) -> None:
    status, text, _ = asyncio.run(body(five_thousand, path, query))
    assert status == 200, gzip.decompress(text)
    assert len(text) <= MOST_OF_AN_ANSWER


def test_a_trial_ends_when_whoever_asked_goes_away(tmp_path: Path) -> None:
    made = many(tmp_path, 30, 3, 10)
    played = asyncio.run(body(made, "/api/trial", "step=wait+1s", leaves=True))
    assert played[0] in (200, 422)  # it may have been done before anybody noticed

    abandoned = threading.Event()
    abandoned.set()
    with pytest.raises(AbandonedError, match="cancelled"):
        made.state.answers.trial(PageQuestion(read_trial(["fail zone=zone-a"]), "", {}, abandoned))
    assert made.state.answers.trial(PageQuestion(read_trial(["fail zone=zone-a"]), "", {}))["stepsHtml"]


def test_nobody_waits_for_another_s_trial_which_says_how_far_it_is_and_ends_at_once(tmp_path: Path) -> None:
    answers = many(tmp_path, 300, 30, 20).state.answers
    answers.warm_up()
    long = PageQuestion(read_trial(["wait 1s", *["fail zone=zone-a", "recover zone=zone-a"] * 20]), "", {})
    ended = threading.Event()

    def play() -> None:
        with pytest.raises(AbandonedError):
            answers.trial(long)
        ended.set()

    thread = threading.Thread(target=play)
    thread.start()
    while "pods without a node" not in answers.progress(long)["says"]:
        assert thread.is_alive()
    assert "of 41" in answers.progress(long)["says"]
    assert answers.trial(PageQuestion(read_trial(["cordon zone=zone-a"]), "", {}))["stepsHtml"]
    assert answers.why(PageQuestion((), "0", {"target": "default/deploy/nowhere"}))["html"]
    assert not ended.is_set()
    long.abandoned.set()
    assert ended.wait(60)
    thread.join()


def test_one_address_leaves_room_for_others(tmp_path: Path) -> None:
    made = many(tmp_path, 3, 1, 1)
    made.state.at_work["a.example"] = MOST_OF_ONE
    assert asyncio.run(body(made, "/api/trial"))[0] == 200
    made.state.at_work[""] = made.state.at_work["127.0.0.1"] = MOST_OF_ONE
    assert asyncio.run(body(made, "/api/trial"))[0] == 503


def test_a_newer_state_is_pushed_as_what_changed_in_the_picture() -> None:
    before = topospread.load(cluster="zones=3,nodes=600")
    served = ServedCluster.begin(before, SimulationOptions(), InputWords("many"))
    state = application(served).state
    later = topospread.load(cluster="zones=3,nodes=601")

    async def gone() -> bool:
        return False

    async def told() -> list[Any]:
        stream = events_of(served, state.pages.state, state.answers.changes, gone)
        first = await anext(stream)
        served.replace(later)
        return [json.loads(each.split("data: ")[1]) for each in (first, await anext(stream))]

    first, second = asyncio.run(told())
    assert (first["revision"], first["changes"]) == (1, None)
    assert second["changes"]["from"] == first["revision"]
    assert second["changes"]["to"] == second["revision"] == 2
    assert second["changes"]["picture"]["nodes"]["name"] == [600, 0, ["node-601"]]
    assert len(json.dumps(second)) < 2_000
