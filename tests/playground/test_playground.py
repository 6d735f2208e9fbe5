"""The playground in Chromium gives the answers that are given here, and its page can be used."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conformance.compare import verdict_differences
from conformance.judge import judged, objects
from conformance.stored import stored
from release.playground import asking
from tests.browser import axe
from tests.browser.conftest import NewPage

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = json.loads((ROOT / "src" / "topospread" / "web" / "examples.json").read_bytes())
FLAVOURS = ["spread", "mixed", "corners", "requests", "volumes", "storage", "preemption", "profile", "sampling"]
FLAVOURS += ["sequences", "queue", "v1.27-every", "v1.35"]
EACH = 16
"""Cases of a flavour; with thirteen flavours 208."""

ASK = """async (questions) => {
  const worker = new Worker("playground/worker.js", { type: "module" });
  const told = (message) => new Promise((resolve, reject) => {
    worker.onerror = reject;
    worker.onmessage = ({ data }) => {
      if (data.failed) reject(new Error(data.failed));
      if (data.told) resolve(data.told);
    };
    worker.postMessage({ id: 1, ...message });
  });
  const answers = [];
  for (const question of questions) answers.push(await told(question));
  worker.terminate();
  return answers;
}"""
JUDGE = """async ({ archive, cases }) => {
  const { started } = await import(new URL("playground/python.js", location.href));
  const python = await started();
  const judge = Uint8Array.from(atob(archive), (letter) => letter.charCodeAt(0));
  python.unpackArchive(judge, "zip", { extractDir: "/lib/python3.12/site-packages" });
  python.globals.set("cases", cases);
  return python.runPython(`
import json
from conformance.judge import judged, objects
json.dumps([judged(case) for case in objects(cases)])
`);
}"""
KEPT = "caches.open('topospread-playground').then((cache) => cache.keys()).then(({ length }) => length)"


@pytest.fixture
def playground(page: Page, site: str) -> Page:
    page.goto(f"{site}/playground.html")
    expect(page.locator("#playground-ask")).to_be_enabled()
    return page


def _answered(page: Page, question: str) -> None:
    page.select_option("#playground-question", question)
    page.click("#playground-ask")
    expect(page.locator("#playground-status")).to_contain_text("Answered in")


def test_every_example_has_the_answers_that_it_has_here(
    playground: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    questions = [
        {"question": question, "manifest": each["manifest"], "cluster": each["cluster"], "target": ""}
        for each in EXAMPLES
        for question in ("simulate", "why", "lint")
    ]
    there = playground.evaluate(ASK, questions)
    here = [json.loads(asking.ask(**each)) for each in questions]
    assert len(there) == len(questions) > 80
    for asked, ours, theirs in zip(questions, here, there, strict=True):
        assert _told(ours) == _told(theirs), asked


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "seconds"}


def test_conformance_cases_are_judged_as_here(playground: Page) -> None:
    cases, verdicts = [], []
    for flavour in FLAVOURS:
        those, theirs = stored(flavour)
        step = max(1, len(those) // EACH)
        cases += those[::step][:EACH]
        verdicts += theirs[::step][:EACH]
    assert len(cases) >= 200
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in (ROOT / "conformance").rglob("*.py"):
            archive.write(path, path.relative_to(ROOT))
    text = "\n".join(map(json.dumps, cases))
    archive_text = base64.b64encode(packed.getvalue()).decode()
    there = json.loads(playground.evaluate(JUDGE, {"archive": archive_text, "cases": text}))
    here = [judged(case) for case in objects(text)]
    assert len(there) == len(cases)
    for case, ours, browsers, theirs in zip(cases, here, there, verdicts, strict=True):
        assert browsers == json.loads(json.dumps(ours)), case
        assert verdict_differences(browsers, theirs) == [], case


def test_the_page_says_what_it_loads_and_answers(playground: Page) -> None:
    sizes = json.loads((ROOT / "build" / "playground" / "assets" / "files.json").read_bytes())
    expect(playground.locator("#playground-status")).to_contain_text(f"{sum(sizes.values()) / 1e6:.1f} MB")
    expect(playground.locator("#playground-files tr")).to_have_count(len(sizes))
    verdicts = {"simulate": "no:", "why": "no:", "lint": "no:", "promise show": "unknown:"}
    for question, verdict in verdicts.items():
        _answered(playground, question)
        expect(playground.locator("#playground-answer h2")).to_contain_text(verdict)
        expect(playground.locator("#playground-command")).to_contain_text(f"topospread {question}")
    playground.fill("#playground-manifest", "kind: [")
    _answered(playground, "simulate")
    expect(playground.locator("#playground-answer")).to_contain_text("error: app.yaml")


def test_a_later_visit_starts_with_the_one_snapshot_that_the_browser_keeps(playground: Page) -> None:
    playground.evaluate("caches.open('topospread-playground').then((cache) => cache.put('old', new Response('')))")
    _answered(playground, "simulate")
    playground.wait_for_function(f"{KEPT}.then((count) => count === 1)")
    playground.route("**/snapshot-*", lambda route: route.abort())
    playground.reload()
    expect(playground.locator("#playground-status")).to_have_text("topospread runs.")
    _answered(playground, "why")
    assert playground.evaluate(KEPT) == 1


def test_an_example_fills_the_form(playground: Page) -> None:
    playground.select_option("#playground-example", "demo")
    assert playground.input_value("#playground-cluster") == EXAMPLES[0]["cluster"]
    _answered(playground, "simulate")
    expect(playground.locator("#playground-answer")).to_contain_text("checkout")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_it_is_read_in_both_schemes_and_on_a_phone(new_page: NewPage, site: str, scheme: str, width: int) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    page.goto(f"{site}/playground.html")
    expect(page.locator("#playground-ask")).to_be_enabled()
    _answered(page, "simulate")
    found = [line for line in axe.findings(page) if "playground" in line]
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=ROOT / "build" / "playground" / f"{scheme}-{width}.png", full_page=True)
