"""Results as text: the lines that a run prints, and the tables of docs/performance.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.chart import svg

Json = dict[str, Any]


def engine_line(row: Json) -> str:
    """One measured row; the ratio is by CPU time, to kube-scheduler at its sampling default."""
    ours, theirs = row["pods_per_second"], row["kubeScheduler"]
    mine = f"{ours:>8,.0f} pods/s  p50 {row['median']:>5.0f} µs  p99 {row['p99']:>6.0f} µs  {row['peak_mb']:>5.0f} MB"
    beside = f"kube-scheduler {_figure(theirs):>5}{_figure(row['kubeScheduler100']):>5} {_ratio(row):>6}"
    return f"{row['name']:<66}{mine}  {beside}"


def command_line(row: Json) -> str:
    """One measured command."""
    runs = row["seconds"]
    spread = f"({runs[0]:.2f} … {runs[-1]:.2f}, target {row['target']:g}), {row['peak_mb']:,.0f} MB"
    return f"{row['name']:<66}{runs[len(runs) // 2]:>8.2f} s  {spread}"


def state_lines(measured: Json) -> list[str]:
    """What changing, going back and living long cost, as a table."""
    drill, days, losses = measured["drill"], measured["churn"], measured["losses"]
    lines = [
        "| 5,000 nodes, 100,000 pods | median | target |",
        "|---|--:|--:|",
        f"| a savepoint, a node of 20 pods fails, they are placed again, and back | {drill['failure']:.1f} ms | 5 ms |",
        f"| a heartbeat of a node | {drill['heartbeat']:.0f} µs | |",
        f"| each of 20,000 like replicas that fit nowhere, simulated | {measured['pending']:.0f} µs | |",
        f"| every node lost in turn (N-1): {losses['nodes']:,} nodes, {losses['pods']:,} pods, {losses['processes']} "
        f"processes | {losses['seconds']:.0f} s ({losses['cpu']:.0f} s of CPU) | 60 s |",
        "",
        "| end of day | resident | a placement |",
        "|--:|--:|--:|",
    ]
    for number, day in ((1, days[0]), (len(days), days[-1])):
        lines.append(f"| {number} | {day['resident_mb']:,.0f} MB | {day['microseconds']:.0f} µs |")
    if measured["volumes"]:
        lines += [
            "",
            "| 5,000 nodes, 20,000 pods with a claim each | the event | a placement after it |",
            "|---|--:|--:|",
        ]
    for name, spent in measured["volumes"].items():
        lines.append(f"| {name} | {spent['alone']:.0f} µs | {spent['placement']:,.0f} µs |")
    return lines


def write_documentation(results: Json, docs: Path) -> None:
    """Put the tables between the markers of ``performance.md``, and the chart beside it."""
    page = docs / "performance.md"
    text = page.read_text()
    sections = {
        "engine": _engine(results),
        "state": state_lines({**results["state"], "volumes": {}}),
        "commands": _commands(results),
        "growth": _growth(results),
    }
    for name, lines in sections.items():
        begin, end = f"<!-- {name}: written by make bench -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise RuntimeError(f"{page} has no place for {name}")
        text = before + "\n".join([begin, "", *lines, "", end]) + after
    page.write_text(text)
    growth = results["growth"]
    panels = {
        title: {
            "topospread": [(row[key], row["pods_per_second"]) for row in growth[key]],
            "kube-scheduler": [(row[key], row["kubeScheduler"]) for row in growth[key] if row["kubeScheduler"]],
        }
        for title, key in (("By nodes", "nodes"), ("By pods there", "init"))
    }
    (docs / "growth.svg").write_text(svg(panels, "pods placed per second"))


def _engine(results: Json) -> list[str]:
    lines = [
        f"Measured on {results['date']} with topospread {results['topospread']}, Python {results['python']}, "
        f"{results['machine']}. The ratio is of pods per second of CPU time.",
        "",
        "| work | pods/s | p50 | p99 | peak | kube-scheduler | at 100 % | ratio |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in results["rows"]:
        theirs = f"{_figure(row['kubeScheduler'])} | {_figure(row['kubeScheduler100'])}"
        lines.append(
            f"| {row['name']} | {row['pods_per_second']:,.0f} | {row['median']:.0f} µs "
            f"| {row['p99']:.0f} µs | {row['peak_mb']:,.0f} MB | {theirs} | {_ratio(row)} |"
        )
    return lines


def _commands(results: Json) -> list[str]:
    lines = ["| command | median | peak |", "|---|--:|--:|"]
    for row in results["commands"]:
        runs = row["seconds"]
        lines.append(f"| {row['name']} | {runs[len(runs) // 2]:.2f} s | {row['peak_mb']:,.0f} MB |")
    return lines


def _growth(results: Json) -> list[str]:
    node, pod = results["growth"]["nodes"][-1]["bytes_per_node"], results["growth"]["init"][-1]["bytes_per_pod"]
    return [f"Memory: a node takes {node:,.0f} bytes, a pod that is there {pod:,.0f} bytes, before any view."]


def _figure(value: float | None) -> str:
    return f"{value:,.0f}" if value else ""


def _ratio(row: Json) -> str:
    theirs = row["kubeSchedulerCpu"]
    return f"{row['pods_per_cpu_second'] / theirs:,.0f}×" if theirs else ""
