"""Prints the page `metrics.md` from the table of the exporter's metrics; a test holds the page to it.

python docs/reference/write_metrics.py > docs/reference/metrics.md
"""

from __future__ import annotations

from collections.abc import Iterator

from topospread.exporter.metric_families import FAMILIES

HEAD = """\
# Metrics of the exporter

Printed from the table by `python docs/reference/write_metrics.py`.

`topospread run exporter` and `topospread run scheduler --export` serve these under `/metrics` ([how to scrape
them](../how-to/prometheus.md)).

- `workload` is the controller, such as `Deployment/web`. For a bare pod it is `Pod/web-0`.
- *constraint* stands for the labels `namespace`, `workload`, `topology_key` and `when_unsatisfiable`. If revisions of a
  workload differ, the series is of the revision that exceeds the constraint most.
- `topospread_workload_lost_pods` exists for workloads of more than one pod, without DaemonSets.

"""
TAIL = """
`/healthz` and `/livez` show that the process answers. `/readyz` succeeds once the first figures are complete, and also
while the API server is away.
"""
CONSTRAINT = "`namespace`, `workload`, `topology_key`, `when_unsatisfiable`"


def page() -> Iterator[str]:
    """The page, in parts."""
    yield HEAD
    for each in FAMILIES:
        labels = ", ".join(f"`{label}`" for label in each.labels).replace(CONSTRAINT, "*constraint*")
        by = f" by {labels}" if labels else ""
        yield f"- `{each.name}` ({each.kind}{by}): {each.help.replace('<', '`<').replace('>', '>`')}\n"
    yield TAIL


if __name__ == "__main__":
    print("".join(page()), end="")
