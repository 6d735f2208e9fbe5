"""`topospread plan` as users run it: two folders, two revisions of a repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parent.parent.parent
CLUSTER = ("--on", "zones=3,nodes=3,cpu=4")
APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: a, image: a, resources: {requests: {cpu: "2"}}}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: %s
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
        matchLabelKeys: [pod-template-hash]
"""
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


def plan(folder: Path, *words: str) -> Done:
    return forked("plan", *words, cwd=folder)


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    (tmp_path / ".gitattributes").write_text("deploy export-ignore\n")
    commit(tmp_path, "deploy/app.yaml", APP % (3, ZONE))
    commit(tmp_path, "deploy/app.yaml", APP % (7, ZONE))
    return tmp_path


def test_two_folders(tmp_path: Path) -> None:
    for name, replicas in (("old", 3), ("new", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(APP % (replicas, ZONE))
    done = plan(tmp_path, "old", "new", *CLUSTER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("yes: nothing gets worse\n")
    assert "3 → 4" in done.stdout


def test_two_revisions_of_the_working_directory(repository: Path) -> None:
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("no: 1 pod is newly pending\nwhy: default/web-")
    assert "3 → 6" in plan(repository, "HEAD~1", "HEAD", *CLUSTER, "-o", "wide").stdout
    back = plan(repository, "HEAD", "HEAD~1", *CLUSTER)
    assert back.stdout.startswith("no: default/web keeps less: losing a zone leaves at least 2 of 3, not 4 of 7\n")
    assert "why: deploy/app.yaml:5  replicas 7 → 3" in back.stdout
    shown = plan(repository, "HEAD", "HEAD~1", *CLUSTER, "-o", "github").stdout.splitlines()
    assert shown[0].startswith("::error title=plan::default/web keeps less")
    assert shown[1] == (
        "::error file=deploy/app.yaml,line=5,col=1,title=keeps-less (Deployment default/web)::"
        "replicas 7 → 3: losing a zone leaves 2 of 3, not 4 of 7"
    )
    status = subprocess.run(["git", "status", "--porcelain"], cwd=repository, capture_output=True, check=True)
    assert status.stdout == b""


def test_a_revision_and_what_is_not_committed_yet(repository: Path) -> None:
    (repository / "deploy" / "app.yaml").write_text(APP % (4, ZONE))
    assert plan(repository / "deploy", "HEAD", ".", *CLUSTER).returncode == 1
    assert "6 → 4" in plan(repository / "deploy", "HEAD", ".", *CLUSTER, "-o", "wide").stdout


def test_findings_that_are_new_have_their_place_in_the_repository(repository: Path) -> None:
    commit(repository, "deploy/app.yaml", APP % (7, OLD_ZONE))
    done = plan(repository, "HEAD~1", "HEAD", "-f", "deploy", *CLUSTER)
    assert "New findings\ndeploy/app.yaml:13:9 warning: beta-topology-key" in done.stdout
    assert "topospread-" not in done.stdout + done.stderr
    done = plan(repository, "HEAD~1", "HEAD", "-f", "deploy", *CLUSTER, "--no-lint")
    assert "New findings" not in done.stdout
    ignoring = (APP % (7, OLD_ZONE)).replace(OLD_ZONE, f"{OLD_ZONE}  # topospread: ignore beta-topology-key old")
    commit(repository, "deploy/app.yaml", ignoring)
    done = plan(repository, "HEAD~2", "HEAD", "-f", "deploy", *CLUSTER)
    assert "; NEW ignores 1 more finding" in done.stdout.replace("\n  ", " ")


def test_the_same_path_twice_is_told(repository: Path) -> None:
    done = plan(repository, "deploy", "./deploy", *CLUSTER)
    assert done.returncode == 0
    assert "warning: OLD and NEW are the same state, deploy; nothing differs, because options" in done.stderr


def test_what_one_state_does_not_have_is_new(repository: Path) -> None:
    commit(repository, "more/app.yaml", (APP % (9, ZONE)).replace("web", "api"))
    done = plan(repository, "HEAD~1", "HEAD", "-f", "more", *CLUSTER)
    assert "default/api  0 → 6" in done.stdout
    assert "3 pods are newly pending" in done.stdout
    gone = plan(repository, "HEAD~1", "HEAD", "-f", "nowhere", *CLUSTER)
    assert "nowhere: not found in OLD and not in NEW; check the path" in gone.stderr


def test_errors_name_the_revision_and_the_file_in_it(repository: Path) -> None:
    commit(repository, "deploy/app.yaml", "a: [")
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 2
    assert done.stderr.startswith("error: HEAD: deploy/app.yaml:")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("HEAD~1", "nope"), "nope: neither a path nor a revision of this repository"),
        (("--", "--output=x", "HEAD"), "--output=x: neither a path nor a revision"),
        (("HEAD", "-"), "standard input can be read only once"),
    ],
)
def test_what_is_no_state(repository: Path, words: tuple[str, ...], said: str) -> None:
    done = plan(repository, *CLUSTER, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_revision_without_manifests_is_named_with_the_option_that_accepts_it(repository: Path) -> None:
    git(repository, "rm", "-q", "-r", ".")
    git(repository, "commit", "-q", "-m", "none")
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 2
    assert done.stderr.startswith("error: HEAD: no file in this folder ends in .yaml")
    assert "; --allow-empty accepts a state without objects" in done.stderr


def test_json_has_the_documented_form(repository: Path) -> None:
    commit(repository, "deploy/app.yaml", APP % (7, OLD_ZONE))
    done = plan(repository, "HEAD~2", "HEAD", *CLUSTER, "-o", "json")
    report = json.loads(done.stdout)
    schema = schema_of("Plan")
    jsonschema.Draft202012Validator(schema).validate(report)
    assert report["verdict"] == "no"
    # From 3 replicas to 7 that no node of the synthetic cluster has a zone for.
    assert report["reasons"] == [
        "default/web keeps less: losing a zone leaves at least 0 of 7, not 2 of 3",
        "7 pods are newly pending",
        "1 new error",
        "1 new warning",
    ]
    assert "beta-topology-key" in {each["rule"] for each in report["newFindings"]}
    (why, *_) = (pod["why"] for each in report["workloads"] for pod in each["moved"] if pod["why"])
    assert why["plugin"] == "PodTopologySpread"


def test_markdown_for_a_comment(repository: Path) -> None:
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER, "-o", "md")
    assert done.stdout.startswith("### ❌ 1 pod is newly pending\n")
    assert "| default/web | 3 → 6 |" in done.stdout


HARD = (APP % (6, ZONE)).replace('"2"', "500m")
CONSTRAINT = HARD[HARD.index("      topologySpreadConstraints") :]


FEWER = "losses leave more pods, but fewer are ready afterwards: default/web 4 of 6"


@pytest.mark.parametrize(
    ("weaker", "left", "back"),
    [
        (HARD.replace(CONSTRAINT, ""), ", worst case 4 of 6 0 of 6", FEWER),
        (HARD.replace("DoNotSchedule", "ScheduleAnyway"), ", worst case 4 of 6 0 of 6", FEWER),
        (HARD.replace("maxSkew: 1", "maxSkew: 5"), ", worst case 4 of 6 1 of 6", FEWER),
        (
            HARD.replace("        matchLabelKeys: [pod-template-hash]\n", ""),
            " after a rollout, worst case 4 of 6 3 of 6",
            "nothing gets worse\n",
        ),
    ],
    ids=["removed", "soft", "maxSkew up", "matchLabelKeys removed"],
)
def test_a_weaker_constraint_is_worse_although_scores_spread_the_pods_as_evenly(
    tmp_path: Path, weaker: str, left: str, back: str
) -> None:
    for name, text in (("old", HARD), ("new", weaker)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(text)
    there = ("--on", "zones=3,nodes=6,cpu=4", "--no-lint")
    done = plan(tmp_path, "old", "new", *there)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"zone loss{left} worse" in " ".join(done.stdout.split())
    assert plan(tmp_path, "new", "old", *there).stdout.startswith(f"yes: {back}")


def test_fewer_replicas_are_worse_unless_a_promise_says_what_is_enough(tmp_path: Path) -> None:
    for name, replicas in (("six", 6), ("three", 3), ("one", 1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(HARD.replace("replicas: 6", f"replicas: {replicas}"))
    there = ("--on", "zones=3,nodes=6,cpu=4", "--no-lint")
    assert "leaves at least 2 of 3, not 4 of 6" in " ".join(plan(tmp_path, "six", "three", *there).stdout.split())
    (tmp_path / "six" / ".topospread.yaml").write_text("promises: [{select: app=web, want: zone-loss>=66%}]\n")
    assert plan(tmp_path, "six", "three", *there).returncode == 0
    one = " ".join(plan(tmp_path, "six", "one", *there).stdout.split())
    assert "no: default/web does not keep its promise zone-loss>=66%" in one
    assert "zone loss, worst case 4 of 6 0 of 1 breaks zone-loss>=66%" in one


def snapshot(tmp_path: Path) -> Path:
    """A cluster whose pods all have nodes, spread evenly."""
    app, saved = tmp_path / "app.yaml", tmp_path / "after.json.gz"
    app.write_text(HARD.replace("DoNotSchedule", "ScheduleAnyway"))
    words = ["simulate", "-f", str(app), "--on", "zones=3,nodes=6,cpu=4", "--save", str(saved)]
    assert forked(*words).returncode < 2
    return saved


def test_another_configuration_places_every_workload_anew(tmp_path: Path) -> None:
    config = tmp_path / "packed.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated}}\n"
        "  plugins: {score: {disabled: [{name: PodTopologySpread}, {name: NodeResourcesBalancedAllocation}]}}\n"
    )
    words = ("--on", str(snapshot(tmp_path)), "--to-config", str(config), "-o", "json")
    found = json.loads(plan(tmp_path, *words).stdout)
    assert [each["name"] for each in found["workloads"]] == ["web"]
    assert found["workloads"][0]["moved"]
    assert found["settings"]
    stays = json.loads(plan(tmp_path, *words, "--no-as-if-rolled-out").stdout)
    assert [pod for each in stays["workloads"] for pod in each["moved"]] == []
    assert stays["verdict"] == "yes"


def test_states_and_another_control_plane_are_not_compared_at_once(tmp_path: Path) -> None:
    done = plan(tmp_path, "old", "new", "--to-kube-version", "1.30")
    assert (done.returncode, "name them with -f and --on" in done.stderr) == (2, True)
    assert "name the OLD and the NEW state" in plan(tmp_path, "old").stderr


def test_a_configuration_that_the_new_revision_changes_is_read_from_the_old_one(repository: Path) -> None:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    commit(repository, "sched.yaml", head)
    commit(repository, "sched.yaml", f"{head}percentageOfNodesToScore: 50\n")
    done = plan(repository, "HEAD~1", "HEAD", "-f", "deploy", "--config", "sched.yaml", *CLUSTER, "--no-lint")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "changes of --config are not judged; read from OLD, although NEW differs: sched.yaml" in " ".join(
        done.stdout.split()
    )


ALONE = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, labels: {app: web}}\nspec: {containers: [{name: c, image: i}]}\n"
)
PROMISING = HARD.replace("        matchLabelKeys: [pod-template-hash]\n", "").replace(
    "metadata: {name: web}", "metadata: {name: web, annotations: {topospread.dev/promise: %s}}"
)


def test_other_objects_that_break_a_declared_promise_are_worse(tmp_path: Path) -> None:
    """Pods with the labels of a Deployment count for its constraint, so more of its own pods fit into one zone."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(PROMISING.replace("%s", "zone-loss>=3"))
    (tmp_path / "new" / "pods.yaml").write_text("---\n".join(ALONE % f"p{number}" for number in range(3)))
    done = plan(tmp_path, "old", "new", "--on", "zones=3,nodes=3,cpu=16", "--no-lint", "-o", "json")
    found = json.loads(done.stdout)
    assert found["verdict"] != "yes", found["says"]
    assert [(each["event"], each["declared"]) for each in found["promises"]] == [("zone-loss", "zone-loss>=3")]


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    rollout = HARD.replace("apps/v1", "argoproj.io/v1alpha1").replace("kind: Deployment", "kind: Rollout")
    scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web}\n"
    for name, text in (("old", rollout), ("new", f"{rollout.replace('maxSkew: 1', 'maxSkew: 5')}---\n{scaled}")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(text)
    done = plan(tmp_path, "old", "new", *CLUSTER, "--no-lint")
    said = " ".join(done.stdout.split())
    assert done.returncode == 4, said
    assert "promises of default/web are not judged" in said
    assert "not modelled, and other than in OLD: ScaledObject default/web" in said


def test_an_ignored_finding_is_new_although_another_is_no_longer_ignored(tmp_path: Path) -> None:
    ignoring = HARD.replace(
        "metadata: {name: web}", "metadata: {name: %s, annotations: {topospread.dev/ignore: no-budget}}"
    )
    for state, names in (("old", ("api", "pay")), ("new", ("api", "web"))):
        (tmp_path / state).mkdir()
        for name in names:
            (tmp_path / state / f"{name}.yaml").write_text(ignoring.replace("%s", name))
    assert "NEW ignores 1 more finding" in " ".join(plan(tmp_path, "old", "new", *CLUSTER).stdout.split())


def test_a_new_deployment_with_the_labels_of_another_breaks_its_declared_promise(tmp_path: Path) -> None:
    decoy = PROMISING.replace(
        "metadata: {name: web, annotations: {topospread.dev/promise: %s}}", "metadata: {name: decoy}"
    )
    decoy = decoy.replace("replicas: 6", "replicas: 12").replace(
        "{app: web}\n  template", "{app: web, b: c}\n  template"
    )
    decoy = decoy.replace("metadata: {labels: {app: web}}", "metadata: {labels: {app: web, b: c}}")
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(PROMISING.replace("%s", "zone-loss>=3"))
    (tmp_path / "new" / "decoy.yaml").write_text(decoy)
    found = json.loads(plan(tmp_path, "old", "new", "--on", "zones=3,nodes=6,cpu=16", "--no-lint", "-o", "json").stdout)
    assert found["verdict"] != "yes", found["says"]


def test_a_runtime_class_with_a_node_selector_is_compared(tmp_path: Path) -> None:
    runtime = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\n"
    narrow = f"{runtime}scheduling: {{nodeSelector: {{topology.kubernetes.io/zone: zone-a}}}}\n"
    app = HARD.replace("      topologySpread", "      runtimeClassName: kata\n      topologySpread")
    for name, text in (("old", runtime), ("new", narrow)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(f"{app}---\n{text}")
    done = plan(tmp_path, "old", "new", "--on", "zones=3,nodes=6,cpu=16", "--no-lint")
    assert done.returncode == 1, done.stdout
    assert "zone loss, worst case" in done.stdout


def test_a_quorum_that_fewer_replicas_lose_is_named(tmp_path: Path) -> None:
    """Three pods outlive the loss of one; of two, one is below the quorum of two. The simulated rows say so."""
    etcd = HARD.replace("kind: Deployment", "kind: StatefulSet").replace("replicas: 6", "replicas: 3")
    for name, text in (("old", etcd), ("new", etcd.replace("replicas: 3", "replicas: 2"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(text)
    done = plan(tmp_path, "old", "new", "--on", "zones=3,nodes=6,cpu=4", "--no-lint")
    said = " ".join(done.stdout.split())
    assert "losing a zone leaves at least 1 of 2, not 2 of 3; its quorum is 2" in said
    assert "worse: below its quorum of 2" in said
    assert "zone loss, worst case" in said
    back = " ".join(plan(tmp_path, "new", "old", "--on", "zones=3,nodes=6,cpu=4", "--no-lint").stdout.split())
    assert "quorum" not in back


def test_objects_of_the_cluster_that_both_states_replace_are_one_note(repository: Path) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}}
    (repository / "cluster.yaml").write_text("\n---\n".join([APP % (3, ZONE), json.dumps(node)]))
    done = plan(repository, "HEAD~1", "HEAD", "--on", "cluster.yaml", "--no-lint", "-f", "deploy")
    said = " ".join(done.stdout.split())
    assert "note: OLD and NEW replace what the cluster has: Deployment default/web" in said, said
