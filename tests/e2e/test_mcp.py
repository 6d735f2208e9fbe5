"""`topospread mcp` asked by the protocol library's own client over its pipes, as an assistant asks it."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from topospread import Session
from topospread.cli.mcp import _answered, mcp, started
from topospread.cli.mcp_tools import TOOLS, Call, Reply, Started, answer_to, escaped
from topospread.drill.steps import Fail, NodeChoice
from topospread.errors import UsageError

ROOT = Path(__file__).parent.parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
HOW_TO = ROOT / "docs/how-to"
Json = dict[str, Any]
SYNTHETIC = "zones=3,nodes=6,cpu=4"
APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a snapshot and a manifest, beside one that may not be read."""
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    allowed.mkdir()
    other.mkdir()
    shutil.copy(HOW_TO / "shop.json", allowed)
    (allowed / "app.yaml").write_text(APP)
    (other / "secret.yaml").write_text(APP)
    return allowed


def asked(folder: Path, calls: Sequence[tuple[str, Json]], *words: str) -> tuple[list[Any], list[Any]]:
    """Return the tools of a server, and its answers to calls."""

    async def ask() -> tuple[list[Any], list[Any]]:
        server = StdioServerParameters(command=str(TOPOSPREAD), args=["mcp", *words], cwd=folder)
        async with Client(stdio_client(server)) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(ask())


CALLS: list[tuple[str, Json, Callable[[Session, Session], Any]]] = [
    ("status", {"targets": ["shop/deploy/web"]}, lambda shop, _: shop.status("shop/deploy/web")),
    ("why", {"target": "shop/deploy/web"}, lambda shop, _: shop.why("shop/deploy/web")),
    ("why", {}, lambda shop, _: shop.why()),
    ("simulate", {"on": SYNTHETIC, "manifests": ["app.yaml"]}, lambda _, made: made.simulate("app.yaml")),
    ("plan", {"on": SYNTHETIC, "manifests": ["app.yaml"]}, lambda _, made: made.plan("app.yaml")),
    (
        "drill",
        {"steps": ["fail zone=eu-1a"]},
        lambda shop, _: shop.drill(Fail(NodeChoice("zone", "eu-1a"))),
    ),
    ("drill_each", {"each": "zone"}, lambda shop, _: shop.drill_each("zone")),
    ("capacity", {"targets": ["shop/deploy/web"], "more": 2}, lambda shop, _: shop.capacity("shop/deploy/web", more=2)),
    ("rebalance", {}, lambda shop, _: shop.rebalance()),
    ("lint", {"on": SYNTHETIC, "paths": ["app.yaml"]}, lambda _, made: made.lint("app.yaml")),
    ("promise_show", {"targets": ["shop/deploy/web"]}, lambda shop, _: shop.promises.show("shop/deploy/web")),
    (
        "promise_check",
        {"targets": ["shop/deploy/web"], "want": "zone-loss>=50%"},
        lambda shop, _: shop.promises.check("shop/deploy/web", want="zone-loss>=50%"),
    ),
]


def test_every_tool_answers_as_a_session_does_and_only_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = {each: each.read_bytes() for each in folder.iterdir()}
    tools, answers = asked(folder, [(name, call) for name, call, _ in CALLS], "--on", "shop.json")
    assert {each.name for each in tools} == TOOLS.keys() == {name for name, *_ in CALLS} | {"explain"}
    assert all(each.annotations.read_only_hint and not each.annotations.destructive_hint for each in tools)
    schemas = {each.name: each.output_schema for each in tools}
    for each in tools:
        jsonschema.Draft202012Validator.check_schema(each.input_schema)
    shop, made = Session(str(folder / "shop.json")), Session(SYNTHETIC)
    for (name, call, ask), answer in zip(CALLS, answers, strict=True):
        assert not answer.is_error, (name, answer.content[0].text)
        jsonschema.Draft202012Validator(schemas[name]).validate(answer.structured_content)
        assert without_times(answer.structured_content) == without_times(ask(shop, made).to_dict()), (name, call)
        assert answer.content[0].text.startswith(answer.structured_content["verdict"] + ": ")
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


def without_times(answer: Json) -> Json:
    """Return an answer without what differs from run to run: seconds that a search took."""
    return {key: value for key, value in answer.items() if key not in ("seconds", "took")}


def replies(calls: Sequence[tuple[str, Json]], *roots: Path) -> list[Reply]:
    """Return the answers to calls in this process, whose working directory is the first of the folders."""
    started = Started(tuple(map(str, roots)))
    return [answer_to(Call(name, arguments, started)) for name, arguments in calls]


def test_files_are_read_in_the_allowed_folders_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "out.yaml").symlink_to("../other/secret.yaml")
    (folder / "in.yaml").symlink_to("app.yaml")
    (folder / "linked").mkdir()
    (folder / "linked" / "deep.yaml").symlink_to("../../other/secret.yaml")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("")
    refused = [
        "../other/secret.yaml",
        str(folder.parent / "other" / "secret.yaml"),
        "out.yaml",
        ".git/config",
        "linked",
        ".",
        "",
        "no\0path",
    ]
    calls: list[tuple[str, Json]] = [("lint", {"paths": [each]}) for each in refused]
    calls += [("status", {"on": "/etc/passwd"}), ("status", {"on": "-"}), ("status", {"on": "live"})]
    calls += [("simulate", {"on": SYNTHETIC, "manifests": ["app.yaml"], "pools": ["../other/secret.yaml"]})]
    calls += [("status", {"on": SYNTHETIC, "config": "../other/secret.yaml"})]
    calls += [("drill", {"on": SYNTHETIC, "steps": ["rollout deploy/web=../other/secret.yaml"]})]
    good: list[tuple[str, Json]] = [("lint", {"paths": ["in.yaml"]})]
    answers = replies([*calls, *good], folder)
    for (name, call), answer in zip(calls, answers, strict=False):
        assert answer.error, (name, call)
        assert answer.data is None
        assert "replicas" not in answer.text
    assert all("this server reads" in each.text for each in answers[: len(refused)])
    assert not answers[-1].error
    answers = replies([("lint", {"paths": ["../other/secret.yaml"]})], folder, folder.parent / "other")
    assert not answers[0].error


def test_modules_in_the_folder_are_not_run(folder: Path) -> None:
    for name in ("click", "msgspec", "topospread", "json"):
        (folder / f"{name}.py").write_text("raise SystemExit('run')")
    _, (answer,) = asked(folder, [("lint", {"paths": ["app.yaml"]})])
    assert not answer.is_error


def test_what_is_wrong_with_a_call_is_said_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    calls: list[tuple[str, Json]] = [
        ("status", {}),
        ("status", {"other": 1}),
        ("capacity", {"on": SYNTHETIC, "targets": []}),
        ("drill", {"on": SYNTHETIC, "steps": ["explode"]}),
        ("drill", {"on": SYNTHETIC, "steps": ['patch Node/n [{"op": "remove"}]']}),
        ("explain", {"name": "options"}),
        ("explain", {"name": "no-such-rule"}),
        ("plan", {"manifests": ["shop.json"]}),
        ("other", {}),
    ]
    answers = replies(calls, folder)
    texts = [each.text for each in answers]
    assert all(each.error for each in answers)
    assert all(each.startswith("error: ") and "\n" not in each for each in texts)
    assert "name a cluster" in texts[0]
    assert "unknown field `other`" in texts[1]
    assert "unknown tool other" in texts[-1]


def test_explanations_are_those_of_the_command(folder: Path) -> None:
    names = ["spread-domain-full", "topologySpreadConstraints.minDomains", "selector-not-own", "clusters"]
    answers = replies([("explain", {"name": name}) for name in names], folder)
    for name, answer in zip(names, answers, strict=True):
        done = subprocess.run([TOPOSPREAD, "explain", name], capture_output=True, text=True, check=True)
        assert answer.text == done.stdout


def test_text_of_a_cluster_cannot_act_on_who_shows_it(folder: Path) -> None:
    snapshot = json.loads((folder / "shop.json").read_text())
    for each in snapshot["items"]:
        if each["kind"] == "Node" and each["metadata"]["name"] == "node-a1":
            each["metadata"]["labels"]["topology.kubernetes.io/zone"] = "eu\x1b[31m\u202e"
    (folder / "hostile.json").write_text(json.dumps(snapshot))
    _, (answer,) = asked(folder, [("status", {"on": "hostile.json"})])
    shown = answer.content[0].text + json.dumps(answer.structured_content, ensure_ascii=False)
    assert not {"\x1b", "\u202e"} & set(shown)
    assert escaped({"a": ["\x1b", "::error::x"], "b": 1}) == {"a": ["\\u001b", "\\u003a:error::x"], "b": 1}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--root", "missing"), "--root missing: folder not found"),
        (("--on", "a.json", "--context", "prod"), "cannot be combined with --on a.json"),
    ],
)
def test_what_cannot_be_started_is_said(folder: Path, words: tuple[str, ...], problem: str) -> None:
    done = subprocess.run([TOPOSPREAD, "mcp", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert problem in done.stderr


def test_a_live_cluster_is_read_only_if_a_context_names_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("KUBECONFIG", str(folder / "no-such-kubeconfig"))
    allowed = started((), None, "prod")
    assert allowed == Started((str(folder.resolve()),), "live", "prod")
    assert "no-such-kubeconfig" in answer_to(Call("status", {}, allowed)).text
    made = answer_to(Call("status", {"on": SYNTHETIC}, allowed))
    assert not made.error


def test_a_call_that_nobody_waits_for_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[asyncio.subprocess.Process] = []
    create = asyncio.create_subprocess_exec

    async def noted(*words: Any, **how: Any) -> asyncio.subprocess.Process:
        begun.append(await create(*words, **how))
        return begun[0]

    async def given_up() -> int:
        call = Call("drill_each", {"on": "zones=3,nodes=3000", "each": "node"}, Started((str(folder),)))
        asking = asyncio.create_task(_answered(call))
        while not begun:
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])
        return await begun[0].wait()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    assert asyncio.run(given_up()) == -signal.SIGKILL


@pytest.mark.parametrize("where", ["/", "home"])
def test_everything_is_not_allowed_by_accident(folder: Path, where: str) -> None:
    done = subprocess.run(
        [TOPOSPREAD, "mcp"],
        cwd=folder if where == "home" else where,
        env={"PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "name the folders that may be read, --root DIR" in done.stderr


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mcp.callback is not None
    monkeypatch.setattr("topospread.extras.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'topospread\[mcp\]'"):
        mcp.callback((), None, None)
