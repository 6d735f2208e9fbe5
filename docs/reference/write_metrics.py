"""Prints the page `metrics.md` from the table of the exporter's metrics; a test holds the page to it.

python docs/reference/write_metrics.py > docs/reference/metrics.md
"""

from __future__ import annotations

from collections.abc import Iterator

from topospread.exporter.metric_families import FAMILIES

HEAD = """\
# Metrics of the exporter

Printed from the table by `python docs/reference/write_metrics.py`.

[`topospread run exporter`](cli.md#topospread-run-exporter) serves these under `/metrics`, `topospread run scheduler
--export` beside its own. They are Prometheus' text, or OpenMetrics where the request accepts it. How to scrape them,
the alerts and the dashboard are in [the how-to](../how-to/prometheus.md).

- `workload` is the controller as `topospread status` names it, `Deployment/web`; a bare pod is `Pod/web-0`.
- A constraint has one series. Where older pods bring it with other values, it is the revision that exceeds it most.
- `topospread_workload_lost_pods` is there for workloads of more than one pod, and not for DaemonSets.
- `topospread_constraint_blocked_pods` counts pods that are there and have no node. It is judged by kube-scheduler's
  rules as the cluster is now, not read from the pods' conditions.
- What is gone has no series at the next scrape. Of more workloads than `--max-workloads` those in most trouble have
  series, in the order of `topospread status`; `topospread_workloads_not_shown` says how many have none.

| metric | type | labels | |
|---|---|---|---|
"""
TAIL = """
`/healthz` and `/livez` say that the process answers. `/readyz` is well once everything was listed and is in the
figures; it stays so while the API server is away, as the last known state is shown.
"""


def page() -> Iterator[str]:
    """The page, in parts."""
    yield HEAD
    for each in FAMILIES:
        labels = ", ".join(f"`{label}`" for label in each.labels)
        yield f"| `{each.name}` | {each.kind} | {labels} | {each.help.replace('<', '`<').replace('>', '>`')} |\n"
    yield TAIL


if __name__ == "__main__":
    print("".join(page()), end="")
