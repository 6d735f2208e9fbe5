"""A report opens from a disk: the page itself, every answer in the file, nobody asked."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import COMMAND, DEMO, many_nodes

EVIL = "</script><img src=x onerror=alert(1)>"
NAMES = ("storefront", "checkout", "orders-db", "node-a1", "eu-west", "shop")


BY_OUTPUT = ("simulate", "status", "why", "drill")
"""Commands whose page is a format of -o."""


def run(*words: str) -> None:
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr


def said(path: Path) -> str:
    """The whole text of a report, its answers unpacked."""
    text = path.read_text()
    packed = re.search(r'id="recorded"[^>]*>([^<]*)<', text)
    assert packed is not None
    return text + gzip.decompress(base64.b64decode(packed[1])).decode()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    run("serve", *DEMO, "--export", str(path))
    return path


def test_it_is_the_page_without_a_server(page: Page, report: Path) -> None:
    page.goto(report.as_uri())

    page.locator("#panel button", has_text="shop/checkout").click()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/checkout")
    page.locator("#panel button[data-pod]").first.click()
    expect(page.locator("#panel h2")).to_contain_text("shop/checkout-")
    expect(page.locator("#panel")).to_contain_text("maxSkew 1")
    page.go_back()
    expect(page.locator("#panel h2")).to_have_text("Deployment shop/checkout")


def test_its_moments_can_be_gone_through(page: Page, report: Path) -> None:
    page.goto(report.as_uri())

    page.get_by_role("button", name=re.compile("As read")).click()
    expect(page.locator("#frames [aria-current=step]")).to_contain_text("As read")


def test_its_policy_lets_nothing_else_run(page: Page, report: Path) -> None:
    page.goto(report.as_uri())
    expect(page.locator("#panel h2")).to_be_visible()
    policy = page.locator('meta[http-equiv="Content-Security-Policy"]').get_attribute("content")

    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?:", policy)


def test_names_are_hashed_when_that_is_asked_for(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "hashed.html"
    run("serve", *DEMO, "--export", str(path), "--anonymous")
    text = said(path)
    page.goto(path.as_uri())

    expect(page.locator("#state")).to_contain_text("an anonymous cluster")
    assert [name for name in NAMES if name in text] == []


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("simulate", *DEMO), "After scheduling"),
        (("status", *DEMO), "As read"),
        (("why", "shop/deploy/checkout", *DEMO), "Scores of its node and of the next best"),
        (("drill", *DEMO, "--fail", "zone=eu-west-1a"), "fail zone=eu-west-1a"),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_what_a_command_was_asked_is_shown(page: Page, tmp_path: Path, words: tuple[str, ...], shown: str) -> None:
    path = tmp_path / "report.html"
    run(*words, *(["-o", f"html={path}"] if words[0] in BY_OUTPUT else ["--html", str(path), "-o", "summary"]))
    page.goto(path.as_uri())

    expect(page.locator("main")).to_contain_text(shown)


def test_a_drill_can_be_taken_out_of_its_report(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run("drill", *DEMO, "--fail", "zone=eu-west-1a", "-o", f"html={path}")
    page.goto(path.as_uri())
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as a drill").click()

    assert "fail" in Path(download.value.path()).read_text()


def test_a_thousand_nodes_are_less_than_two_megabytes(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run("serve", *many_nodes(tmp_path, nodes=1_000, workloads=20, replicas=500), "--export", str(path))
    page.goto(path.as_uri())

    expect(page.locator("#panel h2")).to_be_visible()
    assert path.stat().st_size < 2_000_000


def test_a_name_in_it_is_text(page: Page, tmp_path: Path) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "uid": "1", "resourceVersion": "1", "labels": {"topology.kubernetes.io/zone": EVIL}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
    }
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]}))
    path = tmp_path / "report.html"
    run("serve", "-f", str(cluster), "--export", str(path))
    page.goto(path.as_uri())
    expect(page.locator("#panel h2")).to_be_visible()

    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert "onerror=" not in path.read_text()
