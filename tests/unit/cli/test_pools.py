"""``--pools`` of lint and explain: whether a minDomains that is not met ever can be."""

from __future__ import annotations

from pathlib import Path

from tests.command import forked

ROOT = Path(__file__).parents[3]
AT_ZERO = ROOT / "docs/how-to/pools-at-zero"
TWO = ["--on", "zones=2,nodes=2"]


def run(*words: str) -> str:
    done = forked(*words)
    assert done.returncode == 1, done.stderr
    return " ".join(done.stdout.split())


def test_lint_says_whether_min_domains_can_be_met(tmp_path: Path) -> None:
    lint = ["lint", str(AT_ZERO / "web.yaml"), *TWO, "--select", "min-domains-over-cluster"]
    assert "scale-up" not in run(*lint)
    assert "is met only after a scale-up: 2 domains exist, new nodes of the pools would add zone-c" in run(
        *lint, "--pools", str(AT_ZERO / "pools.yaml")
    )
    few = tmp_path / "pools.yaml"
    few.write_text((AT_ZERO / "pools.yaml").read_text().split("  - name: web-c")[0])
    assert "can never be met: 2 domains exist, no pool could add another domain" in run(*lint, "--pools", str(few))


def test_explain_says_it_of_the_pod() -> None:
    explain = ["why", "deploy/web", "-f", str(AT_ZERO / "web.yaml"), *TWO, "--no-suggestions", "-o", "wide"]
    assert "scale-up" not in run(*explain)
    assert "note: minDomains 3 of topology.kubernetes.io/zone is met only after a scale-up" in run(
        *explain, "--pools", str(AT_ZERO / "pools.yaml")
    )


def test_a_file_that_is_none_is_bad_input() -> None:
    words = ["simulate", "-f", str(AT_ZERO / "web.yaml"), *TWO, "--pools", str(AT_ZERO / "web.yaml")]
    done = forked(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected kind Pools" in done.stderr


def test_a_pool_whose_nodes_match_ends_the_finding(tmp_path: Path) -> None:
    pools, manifest = tmp_path / "pools.yaml", tmp_path / "web.yaml"
    text = (AT_ZERO / "web.yaml").read_text()
    manifest.write_text(text.replace("      containers:", "      nodeSelector: {disk: ssd}\n      containers:"))
    lint = ["lint", str(manifest), *TWO, "--select", "no-node-matches"]
    assert "none of 2 nodes has disk=ssd" in run(*lint)
    pools.write_text((AT_ZERO / "pools.yaml").read_text())
    assert "none of 2 nodes and no pool has disk=ssd" in run(*lint, "--pools", str(pools))
    pools.write_text(pools.read_text().replace("    max: 3", "    max: 3\n    labels: {disk: ssd}"))
    assert forked(*lint, "--pools", str(pools)).returncode == 0
