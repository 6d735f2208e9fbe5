"""Random command lines and files for `tests.fuzz.run`: Kubernetes objects and topospread's own files, with edits.

A case follows from its seed alone. An edit replaces, removes, renames, repeats or moves one value of a document, so
most cases pass the first checks of a command and reach the code behind them.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import click
import yaml

from topospread.cli.drill_many import OF_CHECKS
from topospread.cli.main import topospread

ROOT = Path(__file__).parents[2]
MOST_EDITS = 4
TARGETS = ("deploy/web", "sts/db", "web", "a1", "shop/deploy/web", "ds/agent", "job/x", "hpa/web", "deploy/", "/", "")


@dataclass(frozen=True)
class Case:
    """A command line and the files of its working directory."""

    seed: int
    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes | None = None


HOSTILE_TEXTS = (
    "",
    " ",
    "[",
    "]",
    ".",
    "..",
    "/",
    "a/b/c",
    "\x1b[31mred\x1b[0m",
    "\x07\x08\r\x7f",
    "\x9b31m\x85",
    "a\u202eb\u2066c\u2069",
    "a\u2028b\u2029c",
    "\ud800",
    "\ufeff\uffff",
    "\n::error::forged",
    "::stop-commands::token",
    "##[error]forged",
    "a\nFORGED: nothing pending",
    "]]>&<b>\"'",
    "<script>alert(1)</script>",
    "@everyone ![x](https://example.com/x.png) [y](https://example.com) `z` #1",
    "--fix",
    "-",
    "NaN",
    "1e999999999",
    "1Ei",
    "-0",
    "9" * 400,
    "9" * 5000,
    f"{'9' * 400}%",
    f"{'9' * 5000}s",
    "٣",
    "²",
    "0x10",
    "1970-01-01T00:00:00Z",
    "9999-99-99T99:99:99Z",
    "*/0 * * * *",
    "yes",
    "null",
    "topology.kubernetes.io/zone",
    "kubernetes.io/hostname",
    "x" * 3000,
    "%s%n{0}",
    "a=b",
    "zone-a",
)


def hostile_value(draw: random.Random) -> Any:
    """Return a value that a field rarely expects."""
    return draw.choice(
        (
            lambda: draw.choice(HOSTILE_TEXTS),
            lambda: draw.choice((0, 1, -1, 2, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**30, True, False, None)),
            lambda: draw.choice((0.5, 1e308, -0.0, 1e-320)),
            lambda: draw.choice(([], {}, [[]], [None], [{}], {"": {}}, {"a": None}, [1, "a"], {"[": 1, " ": 2})),
            lambda: {draw.choice(HOSTILE_TEXTS): draw.choice(HOSTILE_TEXTS)},
            lambda: [draw.choice(HOSTILE_TEXTS)] * draw.randint(1, 3),
            lambda: _nested(draw.choice((5, 60, 300))),
        )
    )()


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def _documents(*patterns: str) -> list[Any]:
    found: list[Any] = []
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        if path.stat().st_size < 200_000:
            found += [each for each in yaml.safe_load_all(path.read_text()) if isinstance(each, dict)]
    return found


@cache
def _seeds(name: str) -> list[Any]:  # noqa: PLR0911 - a table
    """Return the documents that a role's files are made of."""
    if name == "objects":
        found = _documents("examples/*/app.yaml", "examples/*/cluster.yaml", "examples/demo/*.yaml")
        found += _documents("docs/how-to/*/*.yaml", "docs/reference/*.yaml", "docs/reference/lint/*.yaml")
        flat = [item for each in found for item in (each["items"] if str(each.get("kind")) == "List" else [each])]
        return [*_seeds("own"), *(each for each in flat if isinstance(each.get("metadata"), dict))]
    if name == "own":
        return list(yaml.safe_load_all((Path(__file__).parent / "objects.yaml").read_text()))
    if name == "drills":
        return _documents("examples/drills-in-ci/drills/*.yaml", "docs/how-to/zone-loss/drills/*.yaml")
    if name == "pools":
        return _documents("examples/pools-at-zero/pools.yaml")
    if name == "config":
        return _documents("docs/how-to/*-defaults.yaml", "docs/how-to/balance.yaml", "examples/*/scheduler.yaml")
    if name == "audit":
        lines = (ROOT / "docs/how-to/replay/audit.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]
    if name == "events":
        return [json.loads((ROOT / "docs/how-to/replay/events.json").read_text())]
    if name == "before":
        return [json.loads((ROOT / "docs/how-to/replay/before.json").read_text())]
    settings = {
        "lint": {
            "ignore": ["unknown-field"],
            "severity": {"unknown-kind": "error"},
            "per-file-ignores": {"*.yaml": ["unknown-kind"]},
            "exclude": ["x*"],
            "kube-version": "1.33",
            "namespace": "shop",
            "cluster": "zones=2,nodes=2",
        },
        "kinds": [
            {"group": "example.com", "kind": "Shop", "as": "Job", "template": "spec.template", "replicas": "spec.n"}
        ],
    }
    policy = {
        "kubeVersion": "1.33",
        "level": "warning",
        "deny": ["validation"],
        "excludeNamespaces": ["x"],
        "defaults": [
            {
                "kinds": ["Deployment"],
                "minReplicas": 2,
                "constraints": [
                    {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
                ],
            }
        ],
    }
    return {"settings": [settings], "policy": [policy]}[name]


def edited(draw: random.Random, value: Any, edits: int) -> Any:
    """Return a copy of plain data with some edits."""
    root = [copy.deepcopy(value)]
    for _ in range(edits):
        inside = _place(draw, root)
        if inside is not None:
            _edit(draw, *inside)
    return root[0] if root else None


def renamed(draw: random.Random, value: Any) -> Any:
    """Return plain data with a text, wherever it is a key or a value, replaced: references to a name still hold."""
    found = sorted({text for text in _texts(value) if text and len(text) < 60})
    for old in draw.sample(found, min(len(found), draw.randint(1, 4))):
        value = _replaced(value, old, draw.choice((f"{old}{draw.choice(HOSTILE_TEXTS)}", draw.choice(HOSTILE_TEXTS))))
    return value


_KEPT = ("apiVersion", "kind")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            if key not in _KEPT:
                yield from _texts(each)
                if key.startswith(("app", "topology", "kubernetes.io", "node")):
                    yield key
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        changed = {key: each if key in _KEPT else _replaced(each, old, new) for key, each in value.items()}
        return {new if key == old else key: each for key, each in changed.items()}
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return new if value == old else value


def _place(draw: random.Random, root: list[Any]) -> tuple[Any, Any] | None:
    """Return a random container in the tree and one of its keys, deep places as often as shallow ones."""
    places = []
    waiting: list[tuple[Any, int]] = [(root, 0)]
    while waiting and len(places) < 2000:
        at, depth = waiting.pop()
        keys = list(at) if isinstance(at, dict) else range(len(at))
        for key in keys:
            places.append((at, key))
            if isinstance(at[key], dict | list) and depth < 40:
                waiting.append((at[key], depth + 1))
    return draw.choice(places) if places else None


def _edit(draw: random.Random, at: Any, key: Any) -> None:
    kind = draw.randrange(12)
    if kind <= 4:
        at[key] = _of_same_type(draw, at[key])
    elif kind <= 6:
        at[key] = hostile_value(draw)
    elif kind == 7:
        del at[key]
    elif kind == 8 and isinstance(at, dict):
        at[draw.choice(HOSTILE_TEXTS)] = at.pop(key)
    elif kind == 9 and isinstance(at, dict):
        at[draw.choice((*HOSTILE_TEXTS, *at))] = copy.deepcopy(draw.choice((hostile_value(draw), at[key])))
    elif isinstance(at, list):
        at += copy.deepcopy([at[key]]) * draw.randint(1, 3)
    else:
        other = draw.choice(_seeds("objects"))
        at[key] = copy.deepcopy(draw.choice(list(other.values())))


def _of_same_type(draw: random.Random, value: Any) -> Any:
    """Return another value of a scalar's type, so that only the meaning changes."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice((0, 1, -1, 2, 7, 2**31 - 1, 2**31, -(2**31), 2**63 - 1))
    if isinstance(value, str):
        return draw.choice(HOSTILE_TEXTS)
    return type(value)() if draw.random() < 0.3 else hostile_value(draw)


def _written(draw: random.Random, documents: Sequence[Any]) -> bytes:
    """Return documents as YAML or JSON text, sometimes damaged or compressed."""
    form = draw.randrange(4)
    if form == 0:
        value = documents[0] if len(documents) == 1 else {"apiVersion": "v1", "kind": "List", "items": list(documents)}
        data = json.dumps(value, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    elif form == 1:
        data = b"\n".join(json.dumps(each).encode() for each in documents)
    else:
        try:
            data = yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True).encode()
        except (UnicodeEncodeError, RecursionError, yaml.YAMLError):
            data = b"\n---\n".join(json.dumps(each).encode() for each in documents)
    return _damaged(draw, data)


def _damaged(draw: random.Random, data: bytes) -> bytes:
    if draw.random() < 0.03 and data:
        at = draw.randrange(len(data))
        pieces = (b"", b"\x00", b"\xff", b"\t", b"\r", b"---\n", b"&a *a", b"# topospread: ignore x\n", b"\xed\xa0\x80")
        data = data[:at] + draw.choice(pieces) + data[at + draw.choice((0, 1, 20, len(data))) :]
    if draw.random() < 0.02:
        data = gzip.compress(data)[: draw.choice((None, 20, -4))]
    return data


def _file(draw: random.Random, role: str) -> bytes:
    """Return a file of a role, with edits in most."""
    edits = draw.choice((0, 1, 1, 1, 2, MOST_EDITS))
    seeds = _seeds(role)
    if role == "objects":
        chosen = _objects(draw)
    elif role in ("config", "drills"):
        chosen = [draw.choice(seeds)]
    elif role == "audit":
        chosen = draw.sample(seeds, min(len(seeds), 12)) if draw.random() < 0.3 else seeds[:40]
    else:
        chosen = seeds
    changed = renamed(draw, chosen) if draw.random() < 0.4 else edited(draw, chosen, edits)
    changed = changed if isinstance(changed, list) else [changed]
    if role in ("audit", "events"):
        return _damaged(draw, b"\n".join(json.dumps(each).encode() for each in changed))
    return _written(draw, changed or [None])


def _objects(draw: random.Random) -> list[Any]:
    """Return objects, each once; half of the lists are as an API server stores them, which skips validation."""
    chosen = [copy.deepcopy(draw.choice(_seeds("objects"))) for _ in range(draw.randint(0, 6))]
    chosen += [
        each for each in _seeds("own") if draw.random() < 0.4 or each["kind"] in ("Deployment", "Node", "PriorityClass")
    ]
    found = {json.dumps([each.get("kind"), each.get("metadata", {}).get("name")]): each for each in chosen}
    chosen = copy.deepcopy(list(found.values()))
    if draw.random() < 0.6:
        for each in chosen:
            if isinstance(each.get("metadata"), dict):
                each["metadata"] |= {"uid": "0f6", "resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return chosen


def _name(draw: random.Random) -> str:
    """Return a file's name, one in ten hostile."""
    plain = draw.choice(("app.yaml", "b.json", "c.yml", "d.yaml.gz"))
    if draw.random() < 0.9:
        return plain
    text = draw.choice(HOSTILE_TEXTS).replace("/", "_").replace("\0", "")[:200]
    return f"{text}{plain}".encode(
        "utf-8", "surrogateescape" if "\udc80" <= text[:1] <= "\udcff" else "replace"
    ).decode()


def _word(draw: random.Random) -> str:
    return draw.choice(HOSTILE_TEXTS).replace("\0", "").encode("utf-8", "replace").decode()


_READING = (
    lambda draw: ["--on", draw.choice(("zones=3,nodes=6", "nodes=2,cpu=1", "zones=2,nodes=2", _word(draw)))],
    lambda draw: ["--on", "cluster.yaml"],
    lambda draw: ["--config", "config.yaml"],
    lambda draw: ["--kube-version", draw.choice(("1.18", "1.25", "1.33", "1.36", _word(draw)))],
    lambda draw: ["-n", draw.choice(("shop", "shop", "default", _word(draw)))],
    lambda draw: ["--render", "never"],
)
_PLACING: tuple[Option, ...] = (
    *_READING,
    lambda draw: ["--strict"],
    lambda draw: ["--with-hooks"],
    lambda draw: [
        "--feature-gates",
        draw.choice(("AllBeta=true", "NodeInclusionPolicyInPodTopologySpread=false", _word(draw))),
    ],
)
_SCALE = (lambda draw: ["--scale", draw.choice(("deploy/web=5", "sts/db=0", "shop/deploy/web=3", _word(draw)))],)
_POOLS = (lambda draw: ["--pools", "pools.yaml"],)
_TRAFFIC = (
    lambda draw: ["--traffic"],
    lambda draw: ["--traffic", "--clients", draw.choice(("deploy/web", "zone-a=70,zone-b=30", _word(draw)))],
)
_COLOUR = (lambda draw: ["--color", draw.choice(("always", "never"))],)


_STEPS = (
    lambda draw: [f"--{draw.choice(('fail', 'recover', 'cordon', 'uncordon', 'drain'))}", _nodes(draw)],
    lambda draw: ["--scale", draw.choice(("deploy/web=5", "sts/db=1", _word(draw)))],
    lambda draw: ["--rollout", draw.choice(("deploy/web", "sts/db", "deploy/web=app.yaml", _word(draw)))],
    lambda draw: ["--add-nodes", draw.choice(("1", "2", _word(draw)))],
    lambda draw: ["--wait", draw.choice(("1m", "10s", _word(draw)))],
    lambda draw: ["--apply", "app.yaml"],
    lambda draw: ["--autoscale", draw.choice(("hpa/web", _word(draw)))],
)


def _nodes(draw: random.Random) -> str:
    return draw.choice(("zone=zone-a", "node=node-1", "topology.kubernetes.io/zone=zone-b", _word(draw)))


Option = Callable[[random.Random], list[str]]
_COMMANDS: dict[str, tuple[Callable[[random.Random], list[str]], tuple[Option, ...]]] = {
    "simulate": (
        lambda draw: ["-f", "MANIFESTS"],
        (
            *_PLACING,
            *_SCALE,
            *_POOLS,
            *_TRAFFIC,
            *_COLOUR,
            lambda draw: ["--orders", "3"],
            lambda draw: ["--seed", "1"],
            lambda draw: ["--save", "saved.json"],
            lambda draw: ["-o", "html=page.html"],
            lambda draw: ["--autoscale", "max"],
            lambda draw: ["--run-cron-job", draw.choice(("tick", _word(draw)))],
        ),
    ),
    "why": (
        lambda draw: [
            draw.choice((*TARGETS, "deploy/web", "sts/db", "shop/deploy/web", _word(draw))),
            "-f",
            "MANIFESTS",
        ],
        (
            *_PLACING,
            *_SCALE,
            *_POOLS,
            *_COLOUR,
            lambda draw: ["-f", "app.yaml"],
            lambda draw: ["-o", "svg=picture.svg"],
            lambda draw: ["--no-suggestions"],
        ),
    ),
    "lint": (
        lambda draw: ["MANIFESTS"],
        (
            *_READING,
            *_POOLS,
            *_COLOUR,
            lambda draw: ["--settings", "settings.yaml"],
            lambda draw: ["--fix"],
            lambda draw: ["--diff"],
            lambda draw: ["--whole"],
            lambda draw: ["--allow-empty"],
            lambda draw: ["--select", draw.choice(("unknown-field,validation", _word(draw)))],
        ),
    ),
    "plan": (
        lambda draw: ["cluster.yaml", "app.yaml", "--seconds", "0.5"],
        (*_PLACING, *_SCALE, *_COLOUR, lambda draw: ["--no-lint"]),
    ),
    "status": (
        lambda draw: ["-f", "MANIFESTS"],
        (
            *_PLACING,
            *_TRAFFIC,
            *_COLOUR,
            lambda draw: ["-l", draw.choice(("app=web", "a in (b)", _word(draw)))],
            lambda draw: ["--key", draw.choice(("topology.kubernetes.io/zone", _word(draw)))],
            lambda draw: ["--exit-zero"],
        ),
    ),
    "drill": (
        lambda draw: ["-f", "MANIFESTS", *draw.choice(_STEPS)(draw)],
        (
            *_PLACING,
            *_STEPS,
            *_POOLS,
            *_TRAFFIC,
            *_COLOUR,
            lambda draw: ["-o", "svg=picture.svg"],
            lambda draw: ["--save", "saved.json.gz"],
            lambda draw: ["--runs", "2"],
        ),
    ),
    "drill --each": (
        lambda draw: [draw.choice(("zone", "node", "deploy")), "-f", "MANIFESTS"],
        (*_PLACING, lambda draw: ["--shard", draw.choice(("1/2", _word(draw)))]),
    ),
    "drill --check": (
        lambda draw: ["-f", "drill.yaml"],
        (lambda draw: ["--kube-version", "1.33"], lambda draw: ["--workers", draw.choice(("1", "2"))], *_COLOUR),
    ),
    "drill --merge": (
        lambda draw: ["-f", "app.yaml", "-f", "drill.yaml"],
        (),
    ),
    "capacity": (
        lambda draw: [
            "-f",
            "MANIFESTS",
            draw.choice(("shop/deploy/web", "shop/deploy/web=2,shop/sts/db", _word(draw))),
            "--seconds",
            "0.5",
        ],
        (
            *_PLACING,
            *_COLOUR,
            lambda draw: ["--limit", "20"],
            lambda draw: ["--each", "zone", "--workers", "1"],
            lambda draw: ["--more", draw.choice(("50%", _word(draw)))],
            lambda draw: ["--node-shape", draw.choice(("cpu=8,memory=32Gi", _word(draw)))],
        ),
    ),
    "rebalance": (
        lambda draw: ["-f", "MANIFESTS", "--seconds", "0"],
        (*_PLACING, *_COLOUR, lambda draw: ["--max-skew", "1"], lambda draw: ["-l", _word(draw)]),
    ),
    "promise check": (
        lambda draw: ["-f", "MANIFESTS", "--states", "50", "--seconds", "1"],
        (
            *_PLACING,
            lambda draw: ["--want", draw.choice(("zone-loss>=1 never-waits", "skew<=1 drain>=50%", _word(draw)))],
            lambda draw: [draw.choice(("deploy/web", _word(draw)))],
            lambda draw: ["--save-drill", "written.yaml"],
        ),
    ),
    "promise show": (
        lambda draw: [
            draw.choice((*TARGETS, "deploy/web", "sts/db", "shop/deploy/web", _word(draw))),
            "-f",
            "MANIFESTS",
            "--states",
            "50",
        ],
        _PLACING,
    ),
    "promise design": (
        lambda draw: [
            "shop/deploy/web",
            "-f",
            "MANIFESTS",
            "--states",
            "50",
            "--tries",
            "5",
            "--want",
            draw.choice(("zone-loss>=1", "node-loss>=50%", _word(draw))),
        ],
        (*_PLACING, lambda draw: ["--out", "patches"]),
    ),
    "why --audit": (
        lambda draw: ["audit.jsonl", "--on", "before.json"],
        (*_PLACING, *_COLOUR, lambda draw: ["--since", draw.choice(("2026-11-22T20:17:49Z", _word(draw)))]),
    ),
    "why --events": (
        lambda draw: ["events.json", "--on", "before.json"],
        (*_PLACING, *_COLOUR, lambda draw: ["--since", draw.choice(("2026-11-22T20:17:49Z", _word(draw)))]),
    ),
    "config validate": (lambda draw: ["config.yaml"], (_READING[3],)),
    "config show": (lambda draw: ["config.yaml"], (_READING[3],)),
    "config convert": (lambda draw: ["config.yaml"], ()),
    "explain": (
        lambda draw: [draw.choice(("maxSkew", "fields", "rules", "clusters", "unknown-field", _word(draw)))],
        (),
    ),
    "run webhook": (
        lambda draw: ["--policy", "policy.yaml", "--tls-cert-file", "none.crt", "--tls-private-key-file", "none.key"],
        (),
    ),
    "run scheduler": (lambda draw: ["--config", "config.yaml", "--leader-elect", "false"], ()),
    "run extender": (lambda draw: ["--kubeconfig", "app.yaml"], ()),
    "run scale-in-keeper": (lambda draw: ["--kubeconfig", "app.yaml"], ()),
    "run exporter": (lambda draw: ["--config", "config.yaml", "--kubeconfig", "app.yaml"], ()),
    "dump": (lambda draw: ["saved.json", "--kubeconfig", "app.yaml"], ()),
    "serve": (lambda draw: ["-f", "MANIFESTS", "--export", "page.html"], _PLACING),
    "policies": (
        lambda draw: ["--for", draw.choice(("vap", "kyverno", _word(draw)))],
        (lambda draw: ["--settings", "settings.yaml"],),
    ),
}
COMMANDS = tuple(_COMMANDS)
_WITHOUT_CLUSTER = (*("config", "explain", "run", "dump", "policies", "--merge", "--check"),)
_SHORT = (
    "explain",
    "run webhook",
    "run scheduler",
    "run extender",
    "run exporter",
    "run scale-in-keeper",
    "dump",
    "drill --merge",
)
"""Commands of which a few cases show everything."""
_ROLES = {
    "cluster.yaml": "objects",
    "app.yaml": "objects",
    "config.yaml": "config",
    "pools.yaml": "pools",
    "drill.yaml": "drills",
    "web.yaml": "objects",
    "settings.yaml": "settings",
    "audit.jsonl": "audit",
    "events.json": "events",
    "before.json": "before",
    "policy.yaml": "policy",
}
"""File that an argument names → what it holds."""


@cache
def formats_of(command: str) -> tuple[str, ...]:
    """Return the formats of a command's ``-o``; none for a command without, or of options that have others."""
    found: Any = topospread
    words = command.split()
    while words and isinstance(found, click.Group):
        found = found.get_command(click.Context(found), words.pop(0))
    kinds = [each.type for each in found.params if "-o" in each.opts]
    formats = tuple(each for kind in kinds for each in getattr(kind, "formats", getattr(kind, "choices", ())))
    left_out = {"drill": OF_CHECKS, "drill --each": (*OF_CHECKS, "html", "svg"), "drill --merge": OF_CHECKS}
    return tuple(each for each in formats if each not in left_out.get(command, ()))


def draw_case(seed: int, command: str = "") -> Case:
    """Return the case of a seed; the command is drawn, too, unless it is given."""
    draw = random.Random(seed)
    command = command or draw.choices(COMMANDS, [1 if name in _SHORT else 6 for name in COMMANDS])[0]
    required, optional = _COMMANDS[command]
    arguments = [*command.split(), *required(draw)]
    for option in draw.sample(optional, min(len(optional), draw.choice((0, 1, 1, 2, 3)))):
        arguments += option(draw)
    formats = formats_of(command)
    if formats and draw.random() < 0.8:
        arguments += ["-o", draw.choice(formats)]
    files: dict[str, bytes] = {}
    stdin = None
    for at, word in enumerate(arguments):
        if word == "MANIFESTS":
            name = _name(draw)
            if draw.random() < 0.05:
                name, stdin = "-", _file(draw, "objects")
            elif draw.random() < 0.1:
                files[f"folder/{name}"] = _file(draw, "objects")
                files["folder/b.yaml"] = _file(draw, "objects")
                name = "folder"
            else:
                files[name] = _file(draw, "objects")
            arguments[at] = name
    for word in arguments:
        if word.removeprefix("deploy/web=") in _ROLES:
            name = word.removeprefix("deploy/web=")
            files[name] = _file(draw, _ROLES[name])
    if "drill.yaml" in files:
        files["web.yaml"] = _file(draw, "objects")
        files["drill.yaml"] = (
            files["drill.yaml"].replace(b"../web.yaml", b"web.yaml").replace(b"../honor.yaml", b"web.yaml")
        )
    if arguments[0] == "lint" and draw.random() < 0.2:
        files[".topospread.yaml"] = _file(draw, "settings")
    if not {*_WITHOUT_CLUSTER, "--on"} & set(arguments) and draw.random() < 0.5:
        arguments += ["--on", "zones=3,nodes=6"]
    return Case(seed, arguments, {name: data for name, data in files.items() if _is_name(name)}, stdin)


def _is_name(name: str) -> bool:
    return all(
        part not in ("", ".", "..") and len(part.encode("utf-8", "surrogateescape")) < 250 for part in name.split("/")
    )
