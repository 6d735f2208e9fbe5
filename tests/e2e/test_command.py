"""The command as users run it: the installed program, its exit codes, its streams, and every example its help shows."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.answering_server import answering_server
from tests.command import Done, forked

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
TOPOSPREAD = BIN / "topospread"
MIN_DOMAINS = ["--on", ROOT / "examples/min-domains/cluster.yaml", "-f", ROOT / "examples/min-domains/app.yaml"]
ONE_CONSTRAINT = [
    "--on",
    ROOT / "examples/one-constraint/cluster.yaml",
    "-f",
    ROOT / "examples/one-constraint/app.yaml",
]
DEMO = ["--on", ROOT / "examples/demo/cluster.yaml", "-f", ROOT / "examples/demo/shop.yaml"]


def run(*words: str | Path, env: Mapping[str, str] | None = None) -> Done:
    return forked(*words, env={"PATH": os.environ["PATH"]} | (env or {}))


def test_exit_code_0_when_every_pod_is_placed() -> None:
    done = run("simulate", *ONE_CONSTRAINT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("yes: ")


def test_exit_code_1_when_pods_stay_pending() -> None:
    done = run("simulate", *MIN_DOMAINS)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("no: 2 of 8 pods of default/web are pending (3 nodes)\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "-f", "nowhere.yaml"], "nowhere.yaml"),
        (["simulate", *ONE_CONSTRAINT, "--config", "nowhere.yaml"], "nowhere.yaml"),
        (["simulate", *ONE_CONSTRAINT, "--kube-version", "1.4"], "1.4"),
        (["simulate", *ONE_CONSTRAINT, "--feature-gates", "Nope=true"], "unrecognized feature gate: Nope"),
        (["simulate", *ONE_CONSTRAINT, "--scale", "deploy/nope=3"], "nope"),
        (["simulate", *ONE_CONSTRAINT, "--run-cron-job", "nope"], "nope"),
        (["simulate", *DEMO, "-n", "nope"], 'no workload found in namespace "nope"; namespaces with workloads: '),
        (["simulate", *ONE_CONSTRAINT, "-n", "No.pe"], "-n No.pe: "),
        (["simulate", *ONE_CONSTRAINT, "--on", "zones=many"], "--on"),
        (["simulate", "-f", "-", "-f", "-"], "twice"),
        (["nope"], "unknown command 'nope'"),
    ],
)
def test_exit_code_2_and_nothing_on_stdout_for_bad_input(words: list[str | Path], said: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_names() -> None:
    done = run("simulate", *ONE_CONSTRAINT, "-o", "name")
    assert done.stdout == "pod/mypod node4\n"


def test_names_of_pods_that_stay_pending() -> None:
    lines = run("simulate", *MIN_DOMAINS, "-o", "name").stdout.splitlines()
    assert len(lines) == 8
    assert [line.split()[1] for line in lines[6:]] == ["<none>", "<none>"]
    assert all(re.fullmatch(r"pod/web-\S+ (node[1-3]|<none>)", line) for line in lines)


def test_yaml_says_what_json_says() -> None:
    as_json = run("simulate", *MIN_DOMAINS, "-o", "json")
    as_yaml = run("simulate", *MIN_DOMAINS, "-o", "yaml")
    assert yaml.safe_load(as_yaml.stdout) == json.loads(as_json.stdout)
    assert as_json.returncode == as_yaml.returncode == 1


def test_a_seed_repeats_itself() -> None:
    drawing = (*DEMO, "--kube-version", "1.34", "-o", "json")
    first, again = (run("simulate", *drawing, "--seed", "7").stdout for _ in range(2))
    assert first == again
    nodes = [each["node"] for each in json.loads(first)["placements"]]
    others = [each["node"] for each in json.loads(run("simulate", *drawing).stdout)["placements"]]
    assert nodes != others


def test_scaling() -> None:
    done = run("simulate", *MIN_DOMAINS, "--scale", "deploy/web=3", "-o", "json")
    (found,) = json.loads(done.stdout)["workloads"]
    assert (found["replicas"], found["placed"], done.returncode) == (3, 3, 0)


def test_another_version_and_gates() -> None:
    gates = "MinDomainsInPodTopologySpread=false"
    done = run("simulate", *MIN_DOMAINS, "--kube-version", "1.27", "--feature-gates", gates, "-o", "json")
    assert done.returncode == 0, "without the gate minDomains is not kept, and nothing holds the last pods back"


def test_one_namespace_is_shown_and_all_take_part() -> None:
    shown = run("simulate", *DEMO, "-n", "kube-system", "--scale", "shop/deploy/checkout=16")
    assert "shop/" not in shown.stdout
    assert shown.returncode == 0
    assert "; in other namespaces 6 pending\n" in shown.stdout


def test_standard_input() -> None:
    text = "\n---\n".join(path.read_text() for path in (Path(ONE_CONSTRAINT[1]), Path(ONE_CONSTRAINT[3])))
    done = subprocess.run(
        [TOPOSPREAD, "simulate", "-f", "-", "-o", "name"], input=text, capture_output=True, text=True, check=False
    )
    assert done.stdout == "pod/mypod node4\n"


def test_warnings_are_in_the_table_or_on_stderr(tmp_path: Path) -> None:
    stored = tmp_path / "pod.yaml"
    pod = {"containers": [{"name": "c", "image": "i"}]}
    stored.write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "x"}, "spec": pod})
    )
    words = ["simulate", "-f", ROOT / "examples/scale-down/cluster.yaml", "-f", stored, "--scale", "rs/web=3"]
    table, names = run(*words), run(*words, "-o", "name")
    assert "warning: no Services are given" in table.stdout
    assert table.stderr == ""
    assert "warning: no Services are given" in names.stderr


def test_no_colour_in_a_pipe_unless_asked_for() -> None:
    assert "\x1b" not in run("simulate", *MIN_DOMAINS).stdout
    assert "\x1b[1;31m" in run("simulate", *MIN_DOMAINS, "--color", "always").stdout


def on_a_terminal(*words: str | Path, **env: str) -> str:
    """What stands on a terminal in the end: a machine that is slow is shown progress before, which is wiped away."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [TOPOSPREAD, *words], stdout=follower, stderr=follower, env={"PATH": "", "TERM": "xterm", "COLUMNS": "80"} | env
    ) as process:
        os.close(follower)
        parts = []
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        process.wait()
    os.close(leader)
    return b"".join(parts).decode().rpartition("\r\x1b[2K")[2]


def test_colour_on_a_terminal_and_none_with_no_color() -> None:
    assert "\x1b[1m" in on_a_terminal("simulate", *ONE_CONSTRAINT)
    assert "\x1b" not in on_a_terminal("simulate", *ONE_CONSTRAINT, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal("simulate", *ONE_CONSTRAINT, "--color", "never")


def test_a_terminal_and_a_pipe_show_the_same_words() -> None:
    shown = on_a_terminal("simulate", *MIN_DOMAINS, NO_COLOR="1").replace("\r\n", "\n")
    assert shown == run("simulate", *MIN_DOMAINS).stdout


def test_a_closed_pipe_is_no_error() -> None:
    command = f"'{TOPOSPREAD}' simulate --on '{DEMO[1]}' -f '{DEMO[3]}' -o json --scale shop/deploy/checkout=2000"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )
    assert (done.stdout, done.stderr) == ("{\n141\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said() -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{TOPOSPREAD}' simulate --on '{MIN_DOMAINS[1]}' -f '{MIN_DOMAINS[3]}' > /dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, "error: the output cannot be written: No space left on device\n")


def test_closed_standard_input_is_said() -> None:
    command = ["bash", "-c", f"'{TOPOSPREAD}' simulate -f - <&-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")


def test_an_encoding_without_our_signs() -> None:
    done = subprocess.run(
        [TOPOSPREAD, "simulate", *MIN_DOMAINS, "-o", "wide"],
        capture_output=True,
        check=False,
        env={"PATH": "", "PYTHONIOENCODING": "latin-1"},
    )
    assert b"zone-a       0      2  ##" in done.stdout
    assert done.returncode == 1


def test_the_kubectl_plugin() -> None:
    for words, said in (
        (["kubectl-topospread", "--help"], "Usage: kubectl topospread "),
        (["kubectl_complete-topospread", "simulate", "-o", "w"], "wide\n:4\n"),
    ):
        done = subprocess.run([BIN / words[0], *words[1:]], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(said)


def test_version() -> None:
    assert re.fullmatch(r"topospread \d+\.\d+\.\d+\n", run("--version").stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_scripts(shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0
    found = shutil.which(shell)
    if found is not None:
        assert subprocess.run([found, "-n"], input=done.stdout, text=True, check=False).returncode == 0


HELPS = [
    "",
    "simulate",
    "why",
    "lint",
    "plan",
    "policies",
    "explain",
    "config",
    "config validate",
    "config show",
    "config convert",
    "completion",
    "help",
    "version",
]
MANIFEST = (ROOT / "docs/tutorial/app.yaml").read_text()
CONFIGURATION = (ROOT / "examples/default-constraints/config.yaml").read_text()


def examples() -> list[str]:
    """The command lines that help texts show."""
    lines = [line.strip() for words in HELPS for line in run(*words.split(), "--help").stdout.splitlines()]
    shown = re.compile(r"(source <\()?((kubectl get|helm template) .*\| )?topospread \w")
    return list(dict.fromkeys(line for line in lines if shown.match(line)))


@pytest.fixture
def workplace(tmp_path: Path) -> Iterator[Path]:
    """A folder with the files that examples speak of; a kubectl and an API server that answer with them."""
    cluster = Path(MIN_DOMAINS[1]).read_text()
    nodes = list(yaml.safe_load_all(cluster))
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-0", "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "image": "web"}]},
    }
    files = {
        "new.yaml": yaml.safe_dump(pod | {"metadata": {"name": "new", "namespace": "shop"}}),
        "nodes.yaml": cluster,
        "app.yaml": MANIFEST,
        "scheduler.yaml": CONFIGURATION,
        "other.yaml": CONFIGURATION,
    }
    listed = [*nodes, *yaml.safe_load_all(MANIFEST), pod]
    for name in ("snapshot.json", "cluster.json"):
        files[name] = json.dumps({"apiVersion": "v1", "kind": "List", "items": listed})
    wrapped = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scheduler"}, "data": {"c": CONFIGURATION}}
    files["scheduler-map.yaml"] = yaml.safe_dump(wrapped)
    incident = ROOT / "docs/how-to/replay"
    files["audit.jsonl"] = (incident / "audit.jsonl").read_text()
    files["events.json"] = (incident / "events.json").read_text()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "before.json.gz").write_bytes(gzip.compress((incident / "before.json").read_bytes()))
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text(
        '#!/bin/sh\ncase "$1 $2" in apply*) cat > applied;; *configmap) cat scheduler-map.yaml;; '
        "*) cat cluster.json;; esac\n"
    )
    kubectl.chmod(0o755)
    helm = tmp_path / "bin" / "helm"
    helm.write_text("#!/bin/sh\ncat app.yaml\n")
    helm.chmod(0o755)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "app.yaml").write_text(MANIFEST)
    (tmp_path / ".config/fish/completions").mkdir(parents=True)
    add_charts_and_history(tmp_path)
    with answering_server(tmp_path, context="prod") as server:
        server.hold(listed)
        yield tmp_path


def add_charts_and_history(folder: Path) -> None:
    """What the examples of charts, kustomizations and revisions speak of."""
    (folder / "chart").mkdir()
    (folder / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (folder / "overlays" / "prod").mkdir(parents=True)
    (folder / "overlays" / "prod" / "kustomization.yaml").write_text("resources: []\n")
    (folder / "bin" / "kustomize").symlink_to("helm")
    (folder / "prod.yaml").write_text("")
    (folder / "cluster.json.gz").write_bytes(gzip.compress((folder / "cluster.json").read_bytes()))
    for name in ("old", "new"):
        (folder / name).mkdir()
        (folder / name / "app.yaml").write_text(MANIFEST)
    # The revisions hold the manifest alone.
    (folder / ".gitignore").write_text("*\n!old/\n!old/app.yaml\n")
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "a"], ["add", "-A"]):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "commit", "-qm", "b", "--allow-empty"], check=True)
    subprocess.run([*git, "update-ref", "refs/remotes/origin/main", "HEAD~1"], check=True)


def test_help_shows_examples() -> None:
    assert len(examples()) > 15


@pytest.mark.parametrize("line", examples())
def test_examples_of_the_help_run(line: str, workplace: Path) -> None:
    env = {"PATH": f"{workplace / 'bin'}:{BIN}:{os.environ['PATH']}", "HOME": str(workplace)}
    env["KUBECONFIG"] = str(workplace / "kubeconfig")
    script = f"set -o pipefail; fpath=(. .); {line}"
    done = subprocess.run(["bash", "-c", script], cwd=workplace, capture_output=True, text=True, check=False, env=env)
    assert done.returncode in (0, 1), done.stderr
    assert "error" not in done.stderr


def test_objects_without_a_namespace_go_to_the_one_that_is_given_and_it_is_shown(tmp_path: Path) -> None:
    app = (ROOT / "examples/min-domains/app.yaml").read_text()
    two = tmp_path / "app.yaml"
    two.write_text(app + "\n---\n" + app.replace("  name: web", "  namespace: other\n  name: api", 1))
    cluster = ROOT / "examples/min-domains/cluster.yaml"

    def shown(*words: str) -> set[str]:
        data = json.loads(run("simulate", "-f", cluster, "-f", two, "-o", "json", *words).stdout)
        return {each["namespace"] for each in data["workloads"]}

    assert shown() == {"default", "other"}
    assert shown("-n", "demo") == {"demo"}
    assert shown("-n", "demo", "-A") == {"demo", "other"}
    assert shown("-n", "other") == {"other"}
    assert "other/" in run("why", "deploy/api", "-f", cluster, "-f", two, "-n", "other").stdout
    assert run("why", "deploy/api", "-f", cluster, "-f", two, "-n", "demo").returncode == 2
    assert run("why", "deploy/api", "-f", cluster, "-f", two, "-n", "demo", "-A").returncode < 2
    status = json.loads(run("status", *ONE_CONSTRAINT, "-n", "demo", "-o", "json").stdout)
    assert {each["namespace"] for each in status["workloads"]} == {"demo"}
    found = json.loads(run("lint", two, "-n", "demo", "-o", "json").stdout)
    assert all("default/" not in str(each) for each in found["findings"])


def test_what_a_simulation_leaves_is_saved_and_read_by_every_command(tmp_path: Path) -> None:
    after = tmp_path / "after.json.gz"
    first = run("simulate", *MIN_DOMAINS, "--save", after, "-o", "json")
    assert first.returncode == 1
    assert f"{after}: 3 nodes, 8 pods and " in first.stderr
    again = run("simulate", "-f", after, "-o", "json")
    before, now = (json.loads(each.stdout) for each in (first, again))
    assert now["pending"][0]["message"] == before["pending"][0]["message"]
    assert [each["node"] for each in now["placements"]] == [None, None]
    assert now["workloads"][0]["constraints"][0]["domains"] == before["workloads"][0]["constraints"][0]["domains"]
    assert json.loads(run("status", "-f", after, "-o", "json").stdout)["workloads"][0]["name"] == "web"
    assert run("why", "deploy/web", "-f", after).returncode == 1
    for words, said in (
        (["--save", "-"], "--save requires a file"),
        (["--save", "after.yaml"], "ends in .json.gz"),
    ):
        refused = run("simulate", *MIN_DOMAINS, *words)
        assert (refused.returncode, said in refused.stderr) == (2, True)
