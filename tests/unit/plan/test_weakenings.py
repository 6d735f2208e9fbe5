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
from topospread.cli.simulate import simulate

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


CROWD = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: crowd}
spec:
  replicas: 15
  selector: {matchLabels: {app: crowd}}
  template:
    metadata: {labels: {app: crowd}}
    spec:
      containers: [{name: crowd, image: crowd, resources: {requests: {cpu: 1050m}}}]
"""
"""Pods that can fill a zone, so that in some orders `web` gets no node there."""


@pytest.mark.parametrize("name", ["constraint removed", "maxSkew up", "fewer replicas"])
def test_a_weaker_constraint_is_a_no_although_other_workloads_may_take_the_room(tmp_path: Path, name: str) -> None:
    (edit,) = (each for each in WEAKER if each.name == name)
    old, new = OLD + CROWD, OLD.replace(edit.old, edit.new, 1) + CROWD
    code, text = planned(tmp_path, old, new, "-o", "json", "--seconds", "0.2")
    answer = json.loads(text)
    worse = [each for each in answer["promises"] if each["verdict"] == "no"]
    assert code == 1
    # With the constraint, at least one pod is left even if the crowd fills a zone; without it, surely none.
    is_certain = name == "constraint removed"
    assert ("if other workloads leave room" in answer["says"]) is not is_certain
    assert (worse[0]["ground"] == "alone") is not is_certain
    assert edit.says in worse[0]["lines"][0]["says"]


@pytest.mark.parametrize("name", ["toleration", "cpu", "a soft constraint more"])
def test_other_workloads_that_may_take_the_room_make_no_noise(tmp_path: Path, name: str) -> None:
    (edit,) = (each for each in HARMLESS if each.name == name)
    old, new = OLD + CROWD, OLD.replace(edit.old, edit.new, 1) + CROWD
    assert planned(tmp_path, old, new, "--seconds", "0.2")[0] == 0


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
    assert "it may be the cause" in told
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


TO_ZERO = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 0
  maxReplicas: 6
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: External, external: {metric: {name: q}, target: {type: Value, value: "1"}}}]
"""
SAYS = {
    "scaled to zero": "replicas 6 → 0",
    "paused": "paused True added",
    "autoscaled to zero": "HorizontalPodAutoscaler web added",
}


@pytest.mark.parametrize("cluster", [CLUSTER, ()], ids=["made up", "snapshot"])
@pytest.mark.parametrize(
    "how", ["renamed", "removed", "scaled to zero", "another kind", "paused", "autoscaled to zero"]
)
def test_a_workload_that_is_gone_takes_its_promise_with_it(
    tmp_path: Path, how: str, cluster: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = OLD[: OLD.index("---")]
    new = {
        "renamed": own.replace("name: web\nspec", "name: web2\nspec"),
        "removed": BUDGET.removeprefix("---\n"),
        "scaled to zero": own.replace("replicas: 6", "replicas: 0"),
        "another kind": own.replace("Deployment", "StatefulSet"),
        "paused": own.replace("  replicas: 6", "  paused: true\n  replicas: 6"),
        "autoscaled to zero": own + TO_ZERO,
    }[how]
    if not cluster and how == "paused":
        pytest.skip("the pods of a paused Deployment stay")
    if not cluster:
        saved = tmp_path / "cluster.json"
        (tmp_path / "own.yaml").write_text(own)
        words = ["-f", str(tmp_path / "own.yaml"), *CLUSTER, "--save", str(saved)]
        assert CliRunner().invoke(simulate, words, standalone_mode=False).exception is None
        monkeypatch.setattr("tests.unit.plan.test_weakenings.CLUSTER", ("--on", str(saved)))
    answer = answer_of(tmp_path / "declared", declared(own), new)
    assert answer["verdict"] == "no"
    assert answer["says"].startswith("default/web has no pods for its promise zone-loss>=4")
    (line, *_) = answer["promises"][0]["lines"]
    assert line["says"] == SAYS.get(how, "Deployment web removed")
    if how != "autoscaled to zero":
        answer = answer_of(tmp_path / "undeclared", own, new)
        added = {"renamed": "; new: default/web2", "another kind": "; new: default/web"}.get(how, "")
        assert f"; without pods: default/web{added}" in answer["says"]


def test_nodes_of_the_new_state_are_told(tmp_path: Path) -> None:
    meta = f"metadata: {{name: big, labels: {{{ZONE}: a, {HOST}: big}}}}"
    node = f"---\napiVersion: v1\nkind: Node\n{meta}\nstatus: {{allocatable: {{cpu: 64, pods: 5}}}}\n"
    own = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n"
    answer = answer_of(tmp_path, own, own + node)
    assert answer["verdict"] == "unknown"
    assert answer["says"].endswith("; nodes of NEW are not judged; counts what only NEW has: Node big")
    assert answer_of(tmp_path / "changed", own + node, own + node.replace("64", "65"))["verdict"] == "unknown"
    assert answer_of(tmp_path / "fewer", own + node, own)["verdict"] == "yes"
    assert answer_of(tmp_path / "both", own + node, own + node)["says"] == "nothing gets worse"


CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 1 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, %s containers: [{name: a, image: a}]}}}}
"""
SPREAD = f"topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {ZONE}, whenUnsatisfiable: DoNotSchedule}}],"
KAFKA = """\
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: events}
spec: {kafka: {template: {pod: {%s}}}}
"""


def test_changed_objects_whose_promises_are_not_compared_are_told(tmp_path: Path) -> None:
    """The constraint of a CronJob and of a custom resource of unknown kind is removed."""
    old, new = CRON % SPREAD + KAFKA % SPREAD.removesuffix(","), CRON % "" + KAFKA % ""
    answer = answer_of(tmp_path, old, new)
    modelled = "changed, and compared only by where pods are placed: CronJob default/nightly"
    unknown = "not modelled, and other than in OLD: Kafka default/events"
    assert answer["says"] == f"nothing gets worse; {unknown}; {modelled}"
    assert answer_of(tmp_path / "same", new, new)["says"] == "nothing gets worse"


def test_objects_that_only_one_state_has_are_told(tmp_path: Path) -> None:
    own, classes = OLD[: OLD.index("---")], "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nvalue: 1\n"
    old, new = (f"{own}{classes}metadata: {{name: {name}}}\n" for name in ("low", "high"))
    told = "changed, and compared only by where pods are placed: PriorityClass low (removed), PriorityClass high (new)"
    assert answer_of(tmp_path, old, new)["says"] == f"nothing gets worse; {told}"


@pytest.mark.parametrize("is_new", [True, False])
def test_a_namespace_whose_labels_end_an_anti_affinity_is_a_weakening(tmp_path: Path, *, is_new: bool) -> None:
    """The namespace that a state lacks has no labels."""
    pods = "labelSelector: {matchLabels: {app: db}}"
    operator = "DoesNotExist" if is_new else "Exists"
    own = OLD[OLD.index("---\napiVersion: apps/v1\nkind: StatefulSet") :].replace(
        pods, f"{pods}, namespaceSelector: {{matchExpressions: [{{key: team, operator: {operator}}}]}}", 1
    )
    space = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: x}}\n"
    answer = answer_of(tmp_path, *((own, own + space) if is_new else (own + space, own)))
    assert answer["verdict"] == "no"
    assert "default/db keeps less: losing a zone leaves at least 0 of 3, not 2" in answer["says"]


def slim(annotations: str, in_pods: str = "", skew: int = 1) -> str:
    own = OLD[OLD.rindex("---\n") :].replace("maxSkew: 1}", f"maxSkew: {skew}, matchLabelKeys: [pod-template-hash]}}")
    return own.replace("  name: slim\nspec", f"  name: slim\n{annotations}spec").replace(
        "metadata: {labels: {app: slim}}", f"metadata: {{labels: {{app: slim}}{in_pods}}}"
    )


DECLARING = slim('  annotations: {topospread.dev/promise: "zone-loss>=2 rollout>=2"}\n')
IN_PODS = ', annotations: {topospread.dev/promise: "zone-loss>=2"}'


@pytest.mark.parametrize(
    ("new", "dropped"),
    [
        (slim(""), "promises zone-loss>=2 rollout>=2"),
        (slim("", IN_PODS), "promises zone-loss>=2 rollout>=2"),
        (slim('  annotations: {topospread.dev/promises: "zone-loss>=2"}\n'), "promises zone-loss>=2 rollout>=2"),
        (slim('  annotations: {topospread.dev/promise: "zone-loss>=2"}\n'), "promise rollout>=2"),
    ],
    ids=["removed", "on the pods", "misspelled key", "one of two"],
)
def test_a_promise_that_is_no_longer_declared_is_a_no_that_names_its_line(
    tmp_path: Path, new: str, dropped: str
) -> None:
    assert new != DECLARING
    answer = json.loads(planned(tmp_path, DECLARING, new, "--no-lint", "-o", "json")[1])
    assert (answer["verdict"], answer["says"]) == ("no", f"default/slim no longer declares its {dropped}")
    line = next(at for at, each in enumerate(DECLARING.splitlines(), 1) if "promise" in each)
    assert answer["causes"][0]["says"].startswith(f"{tmp_path}/old/app.yaml:{line}  ")
    assert [each["promise"] for each in answer["undeclared"]] == dropped.split()[1:]


def test_a_dropped_declaration_is_said_beside_the_promise_that_it_declared_and_the_change_breaks(
    tmp_path: Path,
) -> None:
    code, text = planned(tmp_path, DECLARING, slim("", skew=3), "--no-lint")
    told = " ".join(text.split())
    assert code == 1
    assert "does not keep its promise zone-loss>=2; default/slim no longer declares its promises" in told
    assert 'topospread.dev/promise: "zone-loss>=2 rollout>=2" declares it again' in told


@pytest.mark.parametrize(
    ("wants", "says"),
    [
        ("zone-loss>=1 rollout>=2", "default/slim declares zone-loss>=1 instead of zone-loss>=2"),
        ("quorum rollout>=66%", ""),
        ("rollout>=3 zone-loss>=2 never-waits", ""),
    ],
)
def test_a_lowered_promise_is_said_and_an_equal_or_stronger_one_is_not(tmp_path: Path, wants: str, says: str) -> None:
    answer = answer_of(tmp_path, DECLARING, slim(f'  annotations: {{topospread.dev/promise: "{wants}"}}\n'))
    assert answer["verdict"] == "yes"
    assert answer["says"] == "; ".join(filter(None, ["nothing gets worse", says]))


def test_a_promise_of_the_settings_is_dropped_by_labels_that_they_do_not_select(tmp_path: Path) -> None:
    labelled = slim("  labels: {tier: front}\n")
    (tmp_path / "old").mkdir()
    settings = tmp_path / "old" / ".topospread.yaml"
    settings.write_text("promises: [{select: tier=front, want: zone-loss>=2}]\n")
    states = [tmp_path / "old" / "app.yaml", tmp_path / "new.yaml"]
    states[0].write_text(labelled)
    for text, verdict in ((labelled, "yes"), (slim(""), "no")):
        states[1].write_text(text)
        done = CliRunner().invoke(command, [*map(str, states), *CLUSTER, "-o", "json"], standalone_mode=False)
        answer = json.loads(done.stdout)
        assert answer["verdict"] == verdict
    assert answer["reasons"] == ["default/slim no longer declares its promise zone-loss>=2"]
    assert ".topospread.yaml:1" in answer["causes"][0]["says"]


@pytest.mark.parametrize("new", ["zone-los>=2", "zone-loss"])
def test_an_annotation_that_is_no_promise_is_bad_input_of_the_new_state_and_a_note_on_the_old(
    tmp_path: Path, new: str
) -> None:
    bad = DECLARING.replace("zone-loss>=2 rollout>=2", new)
    line = next(at for at, each in enumerate(bad.splitlines(), 1) if "promise" in each)
    with pytest.raises(AssertionError, match=f"new/app.yaml:{line}: default/slim: promise .*{new}"):
        planned(tmp_path / "a", DECLARING, bad)
    assert f"old/app.yaml:{line}: default/slim: promise" in answer_of(tmp_path / "b", bad, DECLARING)["notes"][0]
    assert f"new/app.yaml:{line}: default/slim: promise" in answer_of(tmp_path / "c", bad, bad)["notes"][0]


SLIM_BUDGET = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: slim}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: slim}}
"""


@pytest.mark.parametrize(("wants", "verdict"), [("", "no"), ("drain>=2", "no"), ("drain>=3", "yes")])
def test_a_budget_that_lets_no_pod_be_evicted_is_worse_unless_a_promise_asks_for_it(
    tmp_path: Path, wants: str, verdict: str
) -> None:
    old = slim(f'  annotations: {{topospread.dev/promise: "{wants}"}}\n' if wants else "") + SLIM_BUDGET
    new = old.replace("minAvailable: 2", "minAvailable: 3")
    code, text = planned(tmp_path, old, new, "--no-lint")
    assert code == (verdict == "no")
    assert text.startswith("no: default/slim: a drain does not end" if code else "yes: nothing gets worse")
    assert ("worse: a drain" in text) == bool(code)
    assert not code or "minAvailable 2 → 3" in text
    code, text = planned(tmp_path / "back", new, old, "--no-lint")
    assert code == (wants == "drain>=3"), "a drain ends again"
    assert ("drains can end" in text) != bool(code)


def test_a_row_breaks_its_own_promise_alone_and_the_tested_fix_comes_first(tmp_path: Path) -> None:
    old = slim('  annotations: {topospread.dev/promise: "zone-loss>=2 node-loss>=2"}\n')
    apart = f"      - {{maxSkew: 1, topologyKey: {HOST}, whenUnsatisfiable: DoNotSchedule, "
    apart += "labelSelector: {matchLabels: {app: slim}}, matchLabelKeys: [pod-template-hash]}\n"
    old += apart
    new = old.replace("maxSkew: 1, matchLabelKeys", "maxSkew: 2, matchLabelKeys")
    code, text = planned(tmp_path, old, new, "--no-lint", "-o", "json", "-o", f"text={tmp_path / 'told'}")
    broken = [(each["event"], each["declared"]) for each in json.loads(text)["promises"] if each["verdict"] == "no"]
    assert (code, broken) == (1, [("zone-loss", "zone-loss>=2")])
    told = " ".join((tmp_path / "told").read_text().split())
    assert told.index("fix: default/slim: maxSkew 1 instead of 2 on topology") < told.index("accepts the change")


def test_fixes_are_tried_for_several_workloads_and_the_others_are_named(tmp_path: Path) -> None:
    one = slim('  annotations: {topospread.dev/promise: "zone-loss>=2"}\n')
    old = "---\n".join(one.replace("slim", name) for name in ("one", "two", "three", "four"))
    new = old.replace("maxSkew: 1, matchLabelKeys", "maxSkew: 2, matchLabelKeys")
    answer = json.loads(planned(tmp_path, old, new, "--no-lint", "--seconds", "30", "-o", "json")[1])
    assert [each["says"].partition(":")[0] for each in answer["remedies"]] == [
        f"default/{name}" for name in ("one", "two", "three")
    ]
    assert "no fix was tried for default/four" in answer["notes"]


def test_the_strictest_declared_promise_decides(tmp_path: Path) -> None:
    old = slim('  annotations: {topospread.dev/promise: "zone-loss>=1 zone-loss>=2"}\n')
    answer = answer_of(tmp_path, old, old.replace("maxSkew: 1, matchLabelKeys", "maxSkew: 2, matchLabelKeys"))
    assert answer["reasons"][0] == "default/slim does not keep its promise zone-loss>=2"


def policy(expression: str) -> str:
    rules = "[{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]"
    group = "apiVersion: admissionregistration.k8s.io/v1"
    return (
        f"---\n{group}\nkind: ValidatingAdmissionPolicy\nmetadata: {{name: few}}\nspec:\n"
        f"  matchConstraints: {{resourceRules: {rules}}}\n  validations: [{{expression: {expression!r}}}]\n"
    )


BINDING = (
    "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
    "metadata: {name: few}\nspec: {policyName: few, validationActions: [Deny]}\n"
)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (policy("object.spec.replicas < 1") + BINDING, policy("object.spec.replicas < 0") + BINDING, "expression"),
        (policy("object.spec.replicas < 0"), policy("object.spec.replicas < 0") + BINDING, "Binding few added"),
    ],
)
def test_pods_that_a_changed_policy_denies_name_its_line(tmp_path: Path, before: str, after: str, line: str) -> None:
    own = OLD[OLD.rindex("---\n") :]
    told = answer_of(tmp_path, before.replace("< 1", "< 99") + own, after + own)
    assert told["verdict"] == "no"
    assert line in told["causes"][0]["says"]
    assert "app.yaml:" in told["causes"][0]["says"]


def test_newly_pending_pods_of_several_workloads_note_that_another_order_is_possible(tmp_path: Path) -> None:
    one = OLD[OLD.rindex("---\n") :].replace("image: slim}", "image: slim, resources: {requests: {cpu: 3}}}")
    both = one + one.replace("slim", "slam")
    notes = answer_of(tmp_path, both, both.replace("replicas: 3", "replicas: 9"))["notes"]
    assert any("simulate --orders" in each for each in notes)


def test_a_selector_that_counts_no_pod_is_no_smaller_skew(tmp_path: Path) -> None:
    new = OLD.replace("{matchLabels: {tier: front}}", "{matchLabels: {tier: frnt}}", 1)
    assert "→ counts no pod" in planned(tmp_path, OLD, new, "-o", "wide")[1]


def test_a_constraint_that_now_counts_pods_leaves_more_pods_and_makes_fewer_ready_afterwards(tmp_path: Path) -> None:
    old = slim("").replace("labelSelector: {matchLabels: {app: slim}}", "labelSelector: {matchLabels: {app: slmi}}")
    says = answer_of(tmp_path, old, slim(""))["says"]
    assert says == "losses leave more pods, but fewer are ready afterwards: default/slim 2 of 3, not 3"
