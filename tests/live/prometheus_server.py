"""Prometheus and promtool, installed from Debian's package where they are missing, and a server that scrapes a port."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.live.api_server import free_port
from topospread.exporter.metric_families import BY_NAME

DEPLOY = Path(__file__).parents[2] / "deploy" / "prometheus"


def program(name: str) -> str:
    """``prometheus`` or ``promtool``; installed by root where it is missing, and never done without."""
    found = shutil.which(name)
    if found is None and os.geteuid() == 0:
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True, stdout=subprocess.DEVNULL)
        words = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "prometheus"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, env=environment)
        found = shutil.which(name)
    assert found is not None, f"{name} is missing: install Debian's package prometheus (apt-get install prometheus)"
    return found


def promtool(*words: str, given: str | None = None, folder: Path = DEPLOY) -> str:
    """What promtool says; it has to be content."""
    done = subprocess.run(
        [program("promtool"), *words], input=given, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Prometheus:
    """A server that runs."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str, **params: str) -> Any:
        """The data of an answer; ``None`` while it does not answer, or refuses."""
        url = f"http://127.0.0.1:{self._port}/api/v1/{path}?{urllib.parse.urlencode(params)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it begins
                return None
            raise AssertionError(f"{params}: {error.read().decode()}") from None
        except OSError:
            return None

    def query(self, expression: str) -> list[Any]:
        """The samples of an expression now."""
        found: list[Any] = (self.get("query", query=expression) or {}).get("result", [])
        return found


@contextmanager
def prometheus(target: int, folder: Path) -> Iterator[Prometheus]:
    """One that scrapes a port of this machine each second, with our rules."""
    port = free_port()
    config = folder / "prometheus.json"
    scraped = {"job_name": "topospread", "honor_labels": True, "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}
    config.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(DEPLOY / "rules.yaml")],
                "scrape_configs": [scraped],
            }
        )
    )
    words = [
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "prometheus.log").open("w") as log:
        running = subprocess.Popen([program("prometheus"), *words], stdout=log, stderr=log)
    try:
        yield Prometheus(port)
    finally:
        running.terminate()
        running.wait()


def dashboard_is_answered(server: Prometheus) -> None:
    """Every query of the dashboard is one, of metrics that there are; those that always have an answer have one."""
    dashboard = json.loads((DEPLOY / "dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(queries) > 15
    for query in queries:
        expression = re.sub(r"\$(namespace|workload)", ".*", query)
        assert set(re.findall(r"\btopospread_\w+", expression)) <= set(BY_NAME)
        told = server.query(expression)
        may_be_nothing = any(words in expression for words in ("rate(", "> 0", "blocked_pods", "> topo"))
        assert told or (may_be_nothing and "or vector(0)" not in expression), expression
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+).*, (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
            assert server.get(f"label/{label}/values", **{"match[]": metric})
