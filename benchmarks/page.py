"""How fast the page is on a large cluster: `topospread serve` and Chromium, as somebody uses them. It judges nothing.

python -m benchmarks.page

Prints a table; `docs/performance.md` has it. Needs the extra ``web``, Playwright and Chromium,
which `make browser` has.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.clusters import write_skewed
from tests.browser.conftest import ARGUMENTS, chromium

_COMMAND = (sys.executable, "-c", "import sys; from topospread.cli.main import main; sys.exit(main())")
_FRAME = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
_POINT = f"""async (at) => {{
  const cells = document.querySelector('#now svg.cells'), box = cells.getBoundingClientRect();
  const begun = performance.now();
  cells.dispatchEvent(new PointerEvent('pointermove', {{
    clientX: box.left + at * 37 % box.width, clientY: box.top + at * 11 % box.height, bubbles: true }}));
  {_FRAME}
  return [performance.now() - begun];
}}"""
_CHOOSE = f"""async (at) => {{
  const map = document.querySelector('#now .domains'), painted = map.dataset.painted, begun = performance.now();
  const panel = document.getElementById('panel');
  panel.querySelectorAll('.list button')[at].click();
  const until = async (is) => {{ while (!is()) await new Promise((done) => setTimeout(done, 1)); {_FRAME} }};
  await until(() => map.dataset.painted !== painted);
  const counts = performance.now() - begun;
  await until(() => panel.querySelector('h2')?.textContent.startsWith('Deployment'));
  const answered = performance.now() - begun;
  [...panel.querySelectorAll('button')].find((each) => each.textContent.includes('All workloads')).click();
  await until(() => panel.querySelector('h2')?.textContent === 'Workloads');
  return [counts, answered];
}}"""

_PARTS = ("#matrix tbody tr", "#now [data-painted]", "#panel h2")
_DRAWN = """new MutationObserver(() => {
  window.drawn ??= [null, null, null];
  PARTS.forEach((part, at) => { window.drawn[at] ??= document.querySelector(part) && performance.now(); });
}).observe(document, { childList: true, subtree: true, attributes: true })""".replace("PARTS", json.dumps(_PARTS))
"""Notes when each part is drawn first, in milliseconds since the address was opened."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What something took, several times.

    Attributes:
        seconds: each time, until it was seen.
        processor: seconds of the page's own processor time, on the average.
    """

    seconds: list[float]
    processor: float

    def __str__(self) -> str:
        middle = statistics.median(self.seconds)
        return f"{1000 * middle:,.0f} ms | {1000 * max(self.seconds):,.0f} ms | {1000 * self.processor:,.0f} ms"


_FIRST_LOAD = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, each) => sum + each.transferSize, 0)"""
_WHY = """async (at) => {
  const begun = performance.now();
  const answer = await fetch(`/api/why?target=ns/app-${at}`);
  if (!answer.ok) throw new Error(await answer.text());
  await answer.json();
  return [performance.now() - begun];
}"""


@contextmanager
def served(snapshot: Path) -> Iterator[tuple[str, float, int]]:
    """The page's address, how many seconds it took until it was printed, and the process."""
    words = [*_COMMAND, "serve", "--port", "0", "-f", str(snapshot)]
    begun = time.monotonic()
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        try:
            found = next((each for line in running.stderr if (each := re.search(r"http://\S+", line))), None)
            if found is None:
                raise SystemExit("topospread serve ended")
            yield found[0], time.monotonic() - begun, running.pid
        finally:
            running.terminate()


def _processor_time(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> int:
    """Return the bytes of a process and of its children; shared pages count once (PSS)."""
    line = next(each for each in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines() if each[:4] == "Pss:")
    children = Path(f"/proc/{process}/task").glob("*/children")
    return 1024 * int(line.split()[1]) + sum(_memory(int(pid)) for each in children for pid in each.read_text().split())


def failed_zone(browser: Browser, address: str, times: int) -> list[Taken]:
    """Until the progress of a zone's loss shows, and until its result does. Each time another node is lost first."""
    found, worked = [], []
    for number in range(times):
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        session = _metrics_of(page)
        begun = time.monotonic()
        page.goto(f"{address}&step=fail+node%3Dnode-{number:05d}&step=fail+zone%3Dzone-2", wait_until="commit")
        page.wait_for_selector("progress[aria-label=Playing]")
        first = time.monotonic() - begun
        page.wait_for_selector("#result > *")
        found.append([first, time.monotonic() - begun])
        worked.append(_own_time(session))
        page.close()
    return [Taken([*column], statistics.mean(worked)) for column in zip(*found, strict=True)]


def _own_time(session: CDPSession) -> float:
    """Seconds for which the page's main thread has worked."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def opened(browser: Browser, address: str, times: int) -> list[Taken]:
    """Until the figures and the table are drawn, until the map is, and until its panel is there too."""
    worked, found = [], []
    for _ in range(times):
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.add_init_script(_DRAWN)
        session = _metrics_of(page)
        page.goto(address, wait_until="commit")
        for selector in _PARTS:
            page.wait_for_selector(selector)
        found.append([each / 1000 for each in page.evaluate("window.drawn")])
        worked.append(_own_time(session))
        page.close()
    return [Taken([*column], statistics.mean(worked)) for column in zip(*found, strict=True)]


def acted(page: Page, session: CDPSession, script: str, times: int) -> list[Taken]:
    """Something done again and again, each time a little elsewhere; a row for each moment that the script tells."""
    before = _own_time(session)
    found: list[list[float]] = [page.evaluate(script, number) for number in range(times)]
    worked = (_own_time(session) - before) / times
    return [Taken([each / 1000 for each in column], worked) for column in zip(*found, strict=True)]


def _metrics_of(page: Page) -> CDPSession:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


def measured(snapshot: Path, times: int) -> None:
    """Print the table of a cluster that is looked at."""
    with sync_playwright() as playwright, served(snapshot) as (address, seconds, process):
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        say(f"| until the address is printed | {seconds:.1f} s | | {_processor_time(process):.1f} s, the command's |")
        table, drawn, panel = opened(browser, address, max(times // 2, 3))
        say(f"| first picture after the address is opened: figures and table | {table} |")
        say(f"| … and the map | {drawn} |")
        say(f"| … and its panel | {panel} |")
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        session = _metrics_of(page)
        page.goto(address)
        page.wait_for_selector("#panel h2")
        loaded = page.evaluate(_FIRST_LOAD)
        say(f"| pointing at a node, until it is drawn | {acted(page, session, _POINT, times)[0]} |")
        counts, answered = acted(page, session, _CHOOSE, times)
        say(f"| choosing a workload: its pods stand out, with their counts | {counts} |")
        say(f"| … and its panel is there | {answered} |")
        say(f"| why a pod is where it is, answered | {acted(page, session, _WHY, times)[0]} |")
        browser.close()
        say(f"\nFirst load: {loaded / 1000:,.0f} kB. Memory of the server: {_memory(process) / 1e6:,.0f} MB.")


def lost_zone(snapshot: Path, times: int) -> None:
    """Print the table of a zone's loss."""
    with sync_playwright() as playwright, served(snapshot) as (address, _, process):
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        progress, result = failed_zone(browser, address, times)
        browser.close()
        say(f"| a zone fails, 1,000 nodes and 20,000 pods: its progress shows | {progress} |")
        say(f"| … and its result | {result} |")
        say(f"\nMemory of the server and its trials: {_memory(process) / 1e6:,.0f} MB.")


def say(words: str) -> None:
    """Print a line at once."""
    print(words, flush=True)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--workloads", type=int, default=500)
    parser.add_argument("--replicas", type=int, default=200)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--snapshot", type=Path, help="another cluster, as topospread dump writes it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        snapshot = given.snapshot
        if snapshot is None:
            snapshot = Path(folder) / "cluster.json.gz"
            plain = snapshot.with_suffix("")
            write_skewed(plain, given.nodes, given.workloads, given.replicas)
            snapshot.write_bytes(gzip.compress(plain.read_bytes(), 1))
        say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        say("| | median | worst | the page's processor time |\n|---|--:|--:|--:|")
        measured(snapshot, given.times)
        smaller = Path(folder) / "smaller.json"
        write_skewed(smaller, 1_000, 100, 200)
        lost_zone(smaller, 3)


if __name__ == "__main__":
    main()
