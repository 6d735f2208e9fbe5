"""Names, settings and files of a stranger: they colour nothing, begin no line and give no command to a pipeline."""

import json
import re
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
import yaml
from jsonschema import Draft4Validator

from tests.fuzz.cases import formats_of
from tests.markup import foreign_markup
from topospread.lint.problem import MOST_ALIKE
from topospread.schema import ANSWERS

SCHEMA = json.loads((Path(__file__).parents[1] / "unit/render/sarif-schema-2.1.0.json").read_text())
EVIL = "\x1b[31m\x07\x9b1m\u202e\u2028\r<i>&'"
STORED = {"uid": "1", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}


@pytest.fixture
def run(in_process):
    return in_process


def is_safe(text: str) -> bool:
    lines = text.split("\n")
    return all(each.isprintable() for line in lines for each in line.replace("\t", "")) and not any(
        line.lstrip().startswith("::") for line in lines
    )


def node(name: str, zone: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}, **STORED},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
    }


def pod(name: str, message: str = "") -> dict:
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}, **STORED},
        "spec": {
            "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "9"}}}],
            "topologySpreadConstraints": [spread],
        },
        "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]},
    }


def deployment(name: str) -> dict:
    pods = {"metadata": {"labels": {"app": "web"}}, "spec": pod(name)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", **STORED},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": pods},
    }


def write(name: str, *objects: dict) -> None:
    Path(name).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


ASKED = (
    ("simulate", "-f", "h.json"),
    ("status", "-f", "h.json"),
    ("why", "shop/{pod}", "-f", "h.json"),
    ("lint", "h.json"),
    ("drill", "-f", "h.json", "--fail", "node=b"),
    ("drill --each", "node", "-f", "h.json"),
    ("drill --check", "-f", "drill.yaml"),
    ("plan", "h.json", "h.json"),
    ("promise check", "-f", "h.json", "--want", "never-waits", "--states", "20"),
    ("promise show", "-f", "h.json"),
    ("promise design", "-f", "h.json", "--want", "zone-loss>=1", "--states", "20", "--tries", "2"),
    ("rebalance", "-f", "h.json"),
    ("capacity", "shop/deploy/{pod}", "-f", "h.json"),
    ("config validate", "config.json"),
)
IN_EVERY_FORMAT = [[*words.split(), *more, "-o", each] for words, *more in ASKED for each in formats_of(words)]


@pytest.mark.parametrize("command", IN_EVERY_FORMAT, ids=" ".join)
def test_stored_names_with_control_characters_are_escaped_in_every_format(run, command):
    evil = f"p{EVIL}::error::"
    write("h.json", node(f"n{EVIL}", f"z{EVIL}"), node("b", "b"), pod(evil, f"m{EVIL}\n::error::x\n"), deployment(evil))
    spec = {"cluster": "h.json", "steps": [{"fail": "node=b"}], "expect": {"pending": 0}}
    drill = {"apiVersion": "topospread.dev/v1alpha1", "kind": "Drill", "metadata": {"name": f"d{EVIL}\n::error::x"}}
    Path("drill.yaml").write_text(json.dumps(drill | {"spec": spec}))
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    plugin = {"name": f"q{EVIL}\n::error::x", "args": {}}
    Path("config.json").write_text(json.dumps(config | {"profiles": [{"pluginConfig": [plugin]}]}))
    code, out, err = run(*(each.format(pod=evil) for each in command))
    form = command[-1]
    # Not every answer has bars to draw.
    assert code in (0, 1, 4) or (form == "svg" and "has no bars to draw" in err), err
    assert is_safe(err)
    assert is_safe(out) or form == "github"
    match form:
        case "json":
            answer = json.loads(out)
            if answer.get("kind") in ANSWERS:
                kind = getattr(import_module(ANSWERS[answer["kind"]]), answer["kind"])
                shown = msgspec.json.decode(out, type=kind)._repr_html_()  # what a notebook displays
                assert foreign_markup(shown) == set()
                assert is_safe(shown)
        case "yaml":
            yaml.safe_load(out)
        case "sarif":
            Draft4Validator(SCHEMA).validate(json.loads(out))
        case "junit":
            ElementTree.fromstring(out)
        case "svg" if out:
            assert not [each for each in ElementTree.fromstring(out).iter() if each.tag.endswith("}i")]
        case "html":
            assert "<i>" not in out
        case "github":
            starts = ("::error file=", "::warning file=", "::notice ")
            assert all(line.startswith(starts) and line.isprintable() for line in out.splitlines())


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_plain_data_keeps_what_is_escaped(run, form):
    write("h.json", node("a", "z"), pod(f"p{EVIL}"))
    _, out, _ = run("simulate", "-f", "h.json", "-o", form)
    placed = (json.loads(out) if form == "json" else yaml.safe_load(out))["placements"]
    assert [each["name"] for each in placed] == [f"p{EVIL}"]


def test_a_name_of_two_lines_is_refused_where_it_is_read(run):
    write("h.json", node("a\n0 pods pending", "z"))
    code, out, err = run("simulate", "-f", "h.json")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "metadata.name: Invalid value: a name must be on one line" in err


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        (".topospread.yaml", 'lint: {kube-version: "1\\n::error::x\\e[31m"}', ["lint", "."]),
        (".topospread.yaml", 'lint: {"a\\n::error::x\\e": 1}', ["lint", "."]),
        ("config.yaml", 'kind: "\\e]0;x\\a\\n::x"\napiVersion: x/v1', ["config", "validate", "config.yaml"]),
        ("config.yaml", 'kind: "\\e\\n::x"\napiVersion: x/v1', ["simulate", "-f", "h.json", "--config", "config.yaml"]),
        ("pools.yaml", 'kind: "\\e\\n::x"\napiVersion: x/v1', ["simulate", "-f", "h.json", "--pools", "pools.yaml"]),
        (
            "drill.yaml",
            'apiVersion: topospread.dev/v1alpha1\nkind: Drill\n"\\e\\n::x": 1',
            ["drill", "--check", "-f", "."],
        ),
        ("audit.jsonl", '{"kind":"\\u001b[31m","auditID":"\\n::x"}', ["why", "-f", "h.json", "--audit", "audit.jsonl"]),
        ("::stop-commands::tok/x.yaml", "a: [", ["lint", "::stop-commands::tok"]),
        ("::stop-commands::tok/x.yaml", "a: [", ["simulate", "-f", "::stop-commands::tok"]),
        ("\x1b[31m\u202e.yaml", "a: [", ["simulate", "-f", "\x1b[31m\u202e.yaml"]),
    ],
)
def test_files_of_every_kind_forge_no_error(run, name, text, arguments):
    write("h.json", node("a", "z"))
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text)
    code, out, err = run(*arguments)
    assert code == 2
    assert is_safe(out)
    assert is_safe(err)


def test_markdown_shows_text_of_manifests_as_code_alone(run):
    evil = "@everyone ![x](https://example.com/x.png) <img src=x> | `#1"
    write("old.json", node("a", "z"))
    write("new.json", node("a", "z"), pod(f"p {evil}"))
    code, out, err = run("plan", "old.json", "new.json", "-o", "md")
    assert code == 1, err
    assert "everyone" in out
    for line in out.splitlines():
        line = line.replace("\\`", "")  # noqa: PLW2901 - an escaped backtick begins no code
        outside = "".join(line.split("`")[::2])
        assert not any(each in outside for each in ("everyone", "![", "<img", "example.com", "#1")), line
        assert line.count("`") % 2 == 0


@pytest.mark.parametrize("form", formats_of("promise check"))
@pytest.mark.parametrize(("namespace", "name"), [("shop", "a/b"), ("a/b", "web")])
def test_a_name_with_a_slash_is_no_fault(run, form, namespace, name):
    web = deployment(name)
    web["metadata"]["namespace"] = namespace
    write("h.json", node("a", "a"), web)
    code, _, err = run("promise", "check", "-f", "h.json", "--want", "zone-loss>=1", "--states", "20", "-o", form)
    assert code == 1 or "has no bars to draw" in err, err


def test_findings_of_one_rule_in_one_object_are_limited_and_counted(run):
    item = pod("p")
    item["metadata"] = {"name": "p"}
    spread = item["spec"]["topologySpreadConstraints"][0]
    item["spec"]["topologySpreadConstraints"] = [{**spread, "topologyKey": f"k{i}", "maxSkew": 0} for i in range(50)]
    write("app.json", item)
    code, out, _ = run("lint", "app.json", "-o", "json", "--select", "validation")
    found = json.loads(out)["findings"]
    assert code == 1
    assert len(found) == MOST_ALIKE
    assert found[-1]["says"].endswith("(and 30 more findings of this rule in the object)")


def test_an_output_that_cannot_be_written_is_told_from_other_failures(run, monkeypatch):
    monkeypatch.delenv("TOPOSPREAD_DEBUG", raising=False)

    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/run/x\x1b")

    monkeypatch.setattr("topospread.sources.load.load", fail)
    code, _, err = run("simulate", "-f", "h.json", "--on", "nodes=1")
    assert (code, err) == (3, "error: /run/x\\u001b: Permission denied; TOPOSPREAD_DEBUG=1 shows where\n")
    monkeypatch.setenv("TOPOSPREAD_DEBUG", "1")
    _, _, err = run("simulate", "-f", "h.json", "--on", "nodes=1")
    assert "Traceback (most recent call last)" in err


def test_the_name_of_a_profile_begins_no_line(run):
    profile = {"schedulerName": "a\nFORGED\x1b"}
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    Path("config.json").write_text(json.dumps(config | {"profiles": [profile]}))
    code, out, _ = run("config", "show", "config.json")
    assert code == 0
    assert "\nprofile a FORGED\\u001b: preEnqueue\n" in out
    assert not any(line.startswith("FORGED") for line in out.splitlines())


def test_names_give_no_commands_to_who_copies_a_line(run):
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web;id", "namespace": "shop", **STORED},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("p")["spec"]},
        },
    }
    cordoned = node("b;id", "b") | {"spec": {"unschedulable": True}}
    write("h.json", node("a", "a"), cordoned, deployment, pod("p;id"))
    shown = ""
    for words in (("why", "deploy/web;id"), ("why", "shop/p;id"), ("status", "-o", "wide"), ("simulate", "-o", "wide")):
        code, out, err = run(*words, "-f", "h.json")
        assert code in (0, 1), err
        shown += out
    assert "kubectl" in shown
    lines = [line for line in shown.splitlines() if "kubectl" in line or "topospread" in line]
    assert [line for line in lines if ";id" in line] == [line for line in lines if re.search("'[^']*;id[^']*'", line)]
    _, _, err = run("simulate", "a;id.yaml")
    assert "-f 'a;id.yaml'" in err


def test_a_name_leads_no_request_of_a_script_elsewhere(run):
    name = 'web/../../../../apis/x?a=","kind":"ClusterRoleBinding","x":"'
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("p")["spec"]}
    template["spec"]["containers"][0]["resources"] = {}
    spec = {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    replicas = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": spec}
    pods = [pod(f"{name}{number}") for number in range(4)]
    for each in pods:
        each["metadata"]["ownerReferences"] = [owner]
        each["spec"] = template["spec"] | {"nodeName": "a"}
    web = replicas | {"metadata": {"name": "web", "namespace": "shop", **STORED}}
    write("h.json", node("a", "a"), node("b", "b"), web, *pods)
    code, out, err = run("rebalance", "-f", "h.json", "-o", "commands")
    assert (code, out) == (2, "")
    assert "this is not a valid pod name" in err


@pytest.mark.parametrize("command", ["##vso[task.setvariable variable=PATH]x", "##[error]x", "##teamcity[x"])
def test_snapshots_and_files_give_no_command_to_a_pipeline(run, command):
    """A pipeline may print a file as well."""
    write("h.json", node("a", "a"), pod(command), pod("::error::x"))
    code, snapshot, err = run("dump", "-", "--from", "h.json")
    assert (code, "##" in snapshot) == (0, False), err
    assert [each["metadata"]["name"] for each in json.loads(snapshot)["items"]] == ["a", command, "::error::x"]
    forms = ("text", "json", "yaml", "md", "html")
    code, _, err = run("simulate", "-f", "h.json", *(word for form in forms for word in ("-o", f"{form}=out.{form}")))
    assert code == 1, err
    for form in forms:
        assert command not in Path(f"out.{form}").read_text(), form
    Path("::error::x").mkdir()
    Path("::error::x/a.yaml").write_text(json.dumps(deployment("web")))
    run("lint", "::error::x", "-o", "line=out.line")
    assert "x/a.yaml" in Path("out.line").read_text()
    assert is_safe(Path("out.line").read_text())


@pytest.mark.parametrize("form", formats_of("drill --check"))
def test_saved_parts_of_checks_begin_no_line(run, form):
    write("h.json", node("a", "a"), pod("p"))
    spec = {"cluster": "h.json", "steps": [{"fail": "node=a"}], "expect": {"pending": 0}}
    drill = {"apiVersion": "topospread.dev/v1alpha1", "kind": "Drill", "metadata": {"name": "d"}, "spec": spec}
    Path("drill.yaml").write_text(json.dumps(drill))
    code, part, err = run("drill", "--check", "-f", "drill.yaml", "--shard", "0/1", "-o", "json")
    assert code == 1, err
    whole = json.loads(part)
    for each in whole["drills"]:
        each["name"] += "\nFORGED"
        each["file"] += "\nFORGED"
        each["shortfalls"] = [one | {"path": "a\nFORGED", "message": "b\nFORGED"} for one in each["shortfalls"]]
    Path("part.json").write_text(json.dumps(whole))
    code, out, err = run("drill", "--merge", "-f", "part.json", "-o", form)
    assert code == 1 or "has no bars to draw" in err
    assert "FORGED" in out + err or form == "svg"
    # HTML has no lines where a text has some.
    assert form == "html" or not [line for line in out.splitlines() if line.startswith("FORGED")]
