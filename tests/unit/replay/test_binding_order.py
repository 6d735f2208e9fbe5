"""Bindings over maxSkew, and the order of decisions that explains them."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tests.unit.drill.builders import node
from tests.unit.replay.builders import bound, pod, record, replayed
from topospread.answers.why_history import history_answer
from topospread.cli.main import topospread as command


def test_a_binding_over_max_skew_is_explained_by_pods_that_were_decided_before_it(tmp_path: Path) -> None:
    created = [record(1, "create", pod(f"web-{number}")) for number in (1, 2, 3)]
    # web-1 and web-3 go to b, web-2 to a: decided as 1, 2, 3, bound as 1, 3, 2.
    sent = [bound(2, "web-1", "b1"), bound(3, "web-3", "b1"), bound(4, "web-2", "a1")]
    found = replayed(tmp_path / "log", *created, *sent)
    assert [(each.pod, each.domain, each.skew, each.explained) for each in found.over_skew] == []
    sent = [bound(2, "web-1", "a1"), bound(3, "web-2", "b1"), bound(4, "web-3", "b1")]
    found = replayed(tmp_path / "log", *created, *sent)
    assert [(each.pod, each.domain, each.skew, each.explained) for each in found.over_skew] == [
        ("shop/web-1", "a", 2, True)
    ]
    answer = history_answer(found)
    assert (answer.verdict, len(answer.over_skew)) == ("yes", 1)


def test_a_pod_that_did_not_exist_yet_explains_no_binding(tmp_path: Path) -> None:
    early, late = record(1, "create", pod("web-1")), record(3, "create", pod("web-2"))
    found = replayed(tmp_path / "log", early, bound(2, "web-1", "a1"), late, bound(4, "web-2", "b1"))
    assert [(each.pod, each.explained) for each in found.over_skew] == [("shop/web-1", False)]


def test_the_page_counts_bindings_over_max_skew(tmp_path: Path) -> None:
    log, cluster = tmp_path / "log", tmp_path / "cluster.json"
    created = [record(1, "create", pod(f"web-{number}")) for number in (1, 2)]
    records = [*created, bound(2, "web-1", "a1"), bound(3, "web-2", "b1")]
    log.write_text("".join(f"{json.dumps(each)}\n" for each in records))
    there = {"apiVersion": "v1", "kind": "List", "items": [node("a1", "a"), node("b1", "b"), pod("web-0", "a1")]}
    cluster.write_text(json.dumps(there))
    done = CliRunner().invoke(command, ["why", "--on", str(cluster), "--audit", str(log)])
    assert "1 of 2 bindings exceeded maxSkew on arrival" in " ".join(done.output.split())
    assert "none does in that" in " ".join(done.output.split())
