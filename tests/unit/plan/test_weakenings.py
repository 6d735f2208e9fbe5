"""`plan` on one edit at a time: what weakens a promise is a no that names the line, what weakens none is a yes."""

from __future__ import annotations

import json
from itertools import permutations
from operator import gt
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from topospread.cli.plan import plan as command
from topospread.cli.promise_show import show_promises

OLD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 6
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels:
        app: web
        tier: front
    spec:
      containers:
      - name: web
        image: web:1
        resources: {requests: {cpu: 100m}}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {tier: front}}
        nodeTaintsPolicy: Honor
        matchLabelKeys: [pod-template-hash]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 5
  selector: {matchLabels: {app: web}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: db}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: db}}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: wide
spec:
  replicas: 6
  strategy: {rollingUpdate: {maxUnavailable: 1}}
  selector: {matchLabels: {app: wide}}
  template:
    metadata: {labels: {app: wide}}
    spec:
      containers: [{name: wide, image: wide}]
      topologySpreadConstraints:
      - maxSkew: 2
        minDomains: 4
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: wide}}
        matchLabelKeys: [pod-template-hash]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: slim
spec:
  replicas: 3
  selector: {matchLabels: {app: slim}}
  template:
    metadata: {labels: {app: slim}}
    spec:
      containers: [{name: slim, image: slim}]
      topologySpreadConstraints:
      - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule,
         labelSelector: {matchLabels: {app: slim}}, maxSkew: 1}
"""
"""Rollouts leave `slim` as few pods with a larger maxSkew. Only its orders without a rollout get worse."""
CLUSTER = ("--on", "zones=3,nodes=12,cpu=4")
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB_CONSTRAINT = OLD[OLD.index("      topologySpreadConstraints") : OLD.index("---")]
BUDGET = OLD[OLD.index("---\napiVersion: policy") : OLD.index("---\napiVersion: apps/v1\nkind: StatefulSet")]
AFFINITY = OLD[
    OLD.index("      affinity") : OLD.index("---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: w")
]
PROMISES = {
    "web": "zone-loss>=4 drain>=5 rollout>=5",
    "db": "quorum",
    "wide": "zone-loss>=4 rollout>=5",
}


class Edit(NamedTuple):
    """One edit of the manifests.

    Attributes:
        old, new: text and what replaces it.
        line: beginning of the line that the answer names, in the new text or in the old one; "" for none.
        says: the change as the answer tells it.
    """

    name: str
    old: str
    new: str
    line: str = ""
    says: str = ""


WEAKER = (
    Edit("constraint removed", WEB_CONSTRAINT, "", "      topologySpreadConstraints",
         "topologySpreadConstraints removed"),
    Edit("soft", "DoNotSchedule", "ScheduleAnyway", "        whenUnsatisfiable", "DoNotSchedule → ScheduleAnyway"),
    Edit("maxSkew up", "maxSkew: 1", "maxSkew: 5", "      - maxSkew: 5", "maxSkew 1 → 5"),
    Edit("hostname", f"topologyKey: {ZONE}", f"topologyKey: {HOST}", "        topologyKey: kubernetes.io/hostname",
         f"topologyKey {ZONE} → {HOST}"),
    Edit("fewer replicas", "replicas: 6", "replicas: 2", "  replicas: 2", "replicas 6 → 2"),
    Edit("budget removed", BUDGET, "", "apiVersion: policy/v1", "PodDisruptionBudget web removed"),
    Edit("budget loosened", "minAvailable: 5", "minAvailable: 1", "  minAvailable: 1", "minAvailable 5 → 1"),
    Edit("budget of others", "minAvailable: 5\n  selector: {matchLabels: {app: web}}",
         "minAvailable: 5\n  selector: {matchLabels: {app: wib}}", "  selector: {matchLabels: {app: wib}}",
         "app web → wib"),
    Edit("matchLabelKeys dropped", "        matchLabelKeys: [pod-template-hash]\n---", "---",
         "        matchLabelKeys", "matchLabelKeys on topology.kubernetes.io/zone removed"),
    Edit("nodeTaintsPolicy dropped", "        nodeTaintsPolicy: Honor\n", "", "        nodeTaintsPolicy",
         "nodeTaintsPolicy on topology.kubernetes.io/zone removed"),
    Edit("selector matches none", "{matchLabels: {tier: front}}", "{matchLabels: {tier: back}}",
         "        labelSelector: {matchLabels: {tier: back}}", "tier front → back"),
    Edit("template label", "        tier: front\n", "        tier: edge\n", "        tier: edge", "tier front → edge"),
    Edit("anti-affinity removed", AFFINITY, "", "      affinity", "affinity removed"),
    Edit("anti-affinity by node", f"topologyKey: {ZONE}, labelSelector", f"topologyKey: {HOST}, labelSelector",
         "          - {topologyKey: kubernetes.io/hostname", HOST),
    Edit("no quorum", "replicas: 3", "replicas: 2", "  replicas: 2", "replicas 3 → 2"),
    Edit("minDomains dropped", "        minDomains: 4\n", "", "        minDomains",
         "minDomains on topology.kubernetes.io/zone removed"),
    Edit("maxSkew up, but not after a rollout", "maxSkew: 1}", "maxSkew: 2}", "         labelSelector",
         "maxSkew 1 → 2"),
    Edit("rollout takes more", "{maxUnavailable: 1}", "{maxUnavailable: 4}", "  strategy", "maxUnavailable 1 → 4"),
)  # fmt: skip
FAULTS = (
    Edit("field", "topologySpreadConstraints:", "topologySpreadConstraint:", "      topologySpreadConstraint:",
         "unknown-field"),
    Edit("key", f"topologyKey: {ZONE}", f"topologyKey: {ZONE}s", f"        topologyKey: {ZONE}s",
         "topology-key-on-no-node"),
    Edit("own selector", "{matchLabels: {tier: front}}", "{matchLabels: {tier: frnt}}",
         "        labelSelector: {matchLabels: {tier: frnt}}", "selector-not-own"),
    Edit("budget's field", "minAvailable: 5", "minAvailble: 5", "  minAvailble: 5", "unknown-field"),
)  # fmt: skip
"""Faults of the new manifests because of which fewer pods are left."""
HARMLESS = (
    Edit("image", "image: web:1", "image: web:2"),
    Edit("comment", "replicas: 6", "replicas: 6  # of three zones"),
    Edit("more replicas", "replicas: 6", "replicas: 9"),
    Edit("label of the object", "  name: web\n", "  name: web\n  labels: {team: shop}\n"),
    Edit("annotation of pods",
         "    metadata:\n      labels:", "    metadata:\n      annotations: {a: b}\n      labels:"),
    Edit("environment", "image: web:1", "image: web:1\n        env: [{name: A, value: b}]"),
    Edit("container renamed", "- name: web\n", "- name: shop\n"),
    Edit("maxSkew down", "maxSkew: 2\n        minDomains: 4", "maxSkew: 1\n        minDomains: 3"),
    Edit("a stricter budget", "minAvailable: 5", "maxUnavailable: 1"),
    Edit("a soft constraint more", "      topologySpreadConstraints:\n      - maxSkew: 1",
         f"      topologySpreadConstraints:\n      - {{maxSkew: 1, topologyKey: {HOST}, "
         "whenUnsatisfiable: ScheduleAnyway, "
         "labelSelector: {matchLabels: {app: web}}}\n      - maxSkew: 1"),
    Edit("toleration", "      containers:\n", "      tolerations: [{key: a, operator: Exists}]\n      containers:\n"),
    Edit("a rollout takes less", "{maxUnavailable: 1}", "{maxUnavailable: 0}"),
    Edit("another order of objects", BUDGET, ""),
    Edit("cpu", "cpu: 100m", "cpu: 110m"),
    Edit("matchLabelKeys added", "maxSkew: 1}", "maxSkew: 1, matchLabelKeys: [pod-template-hash]}"),
    Edit("one more replica", "replicas: 3\n  selector: {matchLabels: {app: slim}}",
         "replicas: 4\n  selector: {matchLabels: {app: slim}}"),
    Edit("image of slim", "image: slim", "image: slim:2"),
    Edit("nodeTaintsPolicy added", "        minDomains: 4\n",
         "        minDomains: 4\n        nodeTaintsPolicy: Honor\n"),
)  # fmt: skip


def declared(text: str) -> str:
    for name, wants in PROMISES.items():
        text = text.replace(
            f"  name: {name}\nspec", f'  name: {name}\n  annotations: {{topospread.dev/promise: "{wants}"}}\nspec'
        )
    return text


def planned(folder: Path, old: str, new: str, *words: str) -> tuple[int, str]:
    for name, text in (("old", old), ("new", new)):
        (folder / name).mkdir(parents=True)
        (folder / name / "app.yaml").write_text(text)
    states = [str(folder / name) for name in ("old", "new")]
    done = CliRunner().invoke(command, [*states, *CLUSTER, *words], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.return_value, done.stdout


def answer_of(folder: Path, old: str, new: str) -> dict[str, Any]:
    code, text = planned(folder, old, new, "-o", "json")
    found: dict[str, Any] = json.loads(text)
    assert code == {"yes": 0, "no": 1, "unknown": 4}[found["verdict"]]
    return found


@pytest.mark.parametrize("with_promise", [False, True], ids=["undeclared", "declared"])
@pytest.mark.parametrize("edit", WEAKER, ids=[each.name for each in WEAKER])
def test_what_weakens_a_promise_is_named_with_its_line(tmp_path: Path, edit: Edit, *, with_promise: bool) -> None:
    old = declared(OLD) if with_promise else OLD
    new = old.replace(edit.old, edit.new, 1)
    assert new != old
    answer = answer_of(tmp_path, old, new)
    assert answer["verdict"] == "no", answer["says"]
    worse = [each for each in answer["promises"] if each["verdict"] == "no"]
    (line, *_) = worse[0]["lines"]
    assert edit.says in line["says"]
    text = new if line["file"].startswith(str(tmp_path / "new")) else old
    assert text.splitlines()[line["line"] - 1].startswith(edit.line)
    assert any(f"app.yaml:{line['line']}" in each["says"] for each in answer["causes"])


@pytest.mark.parametrize("old", [OLD, declared(OLD)], ids=["undeclared", "declared"])
def test_a_promise_that_only_the_new_state_declares_accepts_nothing(tmp_path: Path, old: str) -> None:
    weaker = OLD.replace("maxSkew: 1}", "maxSkew: 3}", 1)
    new = weaker.replace(
        "  name: slim\nspec", '  name: slim\n  annotations: {topospread.dev/promise: "zone-loss>=0"}\nspec'
    )
    assert new not in (OLD, weaker)
    assert answer_of(tmp_path, old, new)["verdict"] == "no"


@pytest.mark.parametrize("edit", FAULTS, ids=[each.name for each in FAULTS])
def test_a_fault_because_of_which_fewer_pods_are_left_is_named_first_and_not_to_be_accepted(
    tmp_path: Path, edit: Edit
) -> None:
    new = OLD.replace(edit.old, edit.new, 1)
    code, text = planned(tmp_path, OLD, new, "-o", "json", "-o", f"text={tmp_path / 'told'}")
    place, rule = json.loads(text)["causes"][0]["says"].split(": ")[0].rsplit(" ", 1)
    assert (code, rule) == (1, edit.says)
    line = int(place.removeprefix(str(tmp_path / "new/app.yaml:")).split(":")[0])
    assert new.splitlines()[line - 1].startswith(edit.line)
    told = (tmp_path / "told").read_text()
    assert "it may be why fewer pods are left" in told
    assert "topospread.dev/promise" not in told


@pytest.mark.parametrize("with_promise", [False, True], ids=["undeclared", "declared"])
@pytest.mark.parametrize("edit", HARMLESS, ids=[each.name for each in HARMLESS])
def test_what_weakens_no_promise_makes_no_noise(tmp_path: Path, edit: Edit, *, with_promise: bool) -> None:
    old = declared(OLD) if with_promise else OLD
    new = old.replace(edit.old, edit.new, 1)
    new += BUDGET if edit.old == BUDGET else ""
    assert new != old
    answer = answer_of(tmp_path, old, new)
    assert answer["verdict"] == "yes", answer["says"]
    assert [each for each in answer["promises"] if each["after"]["least"] < each["before"]["least"]] == []


@pytest.mark.parametrize("replicas", [3, 4])
def test_plan_says_no_if_a_count_of_promise_show_falls(tmp_path: Path, replicas: int) -> None:
    own = OLD[OLD.rindex("---\n") :].replace("replicas: 3", f"replicas: {replicas}")
    texts = [
        own.replace("maxSkew: 1}", f"maxSkew: {skew}{keys}}}")
        for skew in (1, 2)
        for keys in ("", ", matchLabelKeys: [pod-template-hash]")
    ]
    shown = []
    for at, text in enumerate(texts):
        (path := tmp_path / f"{at}.yaml").write_text(text)
        done = CliRunner().invoke(show_promises, ["-f", str(path), *CLUSTER, "-o", "json"], standalone_mode=False)
        rows = [each for each in json.loads(done.stdout)["workloads"][0]["events"] if each["when"].endswith("loss")]
        shown.append([(each[part] or each["orders"])["least"] for each in rows for part in ("orders", "rolled")])
    for (old, before), (new, after) in permutations(enumerate(shown), 2):
        states = [str(tmp_path / f"{at}.yaml") for at in (old, new)]
        code = CliRunner().invoke(command, [*states, *CLUSTER], standalone_mode=False).return_value
        assert code == 1 or not any(map(gt, before, after)), (texts[old], texts[new], before, after)


@pytest.mark.parametrize(("least", "verdict"), [(2, "no"), (5, "no"), (6, "yes"), (7, "yes")])
def test_an_autoscaler_with_a_smaller_minimum_is_a_weakening(tmp_path: Path, least: int, verdict: str) -> None:
    """The autoscaler may go down to it without another change of the manifests."""
    scaler = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 6
  maxReplicas: 12
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
"""
    old, new = OLD + scaler, OLD + scaler.replace("minReplicas: 6", f"minReplicas: {least}")
    answer = answer_of(tmp_path, old, new)
    assert answer["verdict"] == verdict, answer["says"]
    worse = [each for each in answer["promises"] if each["verdict"] == "no"]
    assert {each["name"] for each in worse} == ({"web"} if verdict == "no" else set())
    for each in worse:
        assert [line["says"] for line in each["lines"]] == [f"minReplicas 6 → {least}"]
    removed = answer_of(tmp_path / "removed", old.replace("replicas: 6", "replicas: 5", 1), OLD)
    assert removed["verdict"] == "yes", "the manifest has as many replicas as the autoscaler's minimum"


def test_many_workloads_that_keep_less_make_one_short_line(tmp_path: Path) -> None:
    own = OLD[OLD.rindex("---\n") :]
    old = "".join(own.replace("slim", f"slim-{each}") for each in range(6))
    answer = answer_of(tmp_path, old, old.replace("DoNotSchedule", "ScheduleAnyway"))
    assert len(answer["reasons"]) == 6
    assert answer["says"].endswith("; 3 more workloads keep less")


def test_causes_begin_with_one_of_each_worse_workload_in_the_order_of_the_verdict(tmp_path: Path) -> None:
    new = OLD.replace("DoNotSchedule", "ScheduleAnyway").replace("        minDomains: 4\n", "")
    answer = answer_of(tmp_path, OLD, new)
    assert [each["objects"][0].rpartition("/")[2] for each in answer["causes"]] == ["web", "wide", "slim"]
    told = [each.partition(" ")[0] for each in answer["reasons"]]
    assert told[:3] == ["default/web", "default/wide", "default/slim"]


def test_an_equal_skew_is_shown_with_the_changed_limit_and_worse_workloads_come_first(tmp_path: Path) -> None:
    old = OLD.replace("  minAvailable: 5", "  minAvailable: 4")
    new = OLD.replace("maxSkew: 1}", "maxSkew: 2}")
    text = planned(tmp_path, old, new, "--no-lint", "-o", "wide")[1]
    table = " ".join(text.partition("WORKLOAD")[2].split())
    assert table.index("default/slim") < table.index("default/web")
    assert "0 (max 1 → 2, zone)" in table
