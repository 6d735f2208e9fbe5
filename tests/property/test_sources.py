"""Whatever stands in a file, it is read or refused with an InputError; YAML and JSON of one object mean the same."""

import io
import json
from pathlib import Path

import msgspec
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from topospread.api.inventory import Inventory
from topospread.api.quantity import parse_quantity
from topospread.api.yaml_scalars import plain_scalar
from topospread.errors import InputError
from topospread.sources.load import load
from topospread.sources.synthetic_cluster import synthetic_nodes

HOSTILE = [path.read_bytes() for path in sorted((Path(__file__).parents[1] / "hostile").iterdir())]

LABELS = {"app": "web"}
POD_SPEC = {
    "containers": [
        {
            "name": "web",
            "image": "web:1",
            "ports": [{"containerPort": 80, "hostPort": 8080}],
            "resources": {
                "requests": {"cpu": "500m", "memory": "1Gi"},
                "limits": {"nvidia.com/gpu": 1, "memory": "1Gi"},
            },
        }
    ],
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": LABELS}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    },
    "tolerations": [{"key": "location", "operator": "Exists", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "minDomains": 2,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
        }
    ],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
}
OBJECTS = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "labels": {"disk": "ssd"}},
        "status": {"allocatable": {"cpu": 4}},
    },
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": LABELS},
        "spec": {**POD_SPEC, "nodeName": "a"},
    },
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "q", "uid": "1", "labels": LABELS},
        "spec": POD_SPEC,
        "status": {"phase": "Pending"},
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": POD_SPEC},
        },
    },
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "uid": "2"}, "spec": {"selector": LABELS}},
    {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"selector": {}, "minAvailable": "50%"},
    },
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "kind: Pod"}},
]
TEXTS = [
    *HOSTILE,
    json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}).encode(),
    "---\n".join(map(yaml.safe_dump, OBJECTS)).encode(),
]
PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\t",
    b"---\n",
    b": ",
    b"- ",
    b"&a ",
    b"*a",
    b'"',
    b"'",
    b"\\ud800",
    b"\xff",
    b"\0",
    b"null",
    b"!!int ",
    b"\r\n",
    b"<<: ",
    b"? ",
    b"%",
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["", "1", "-1", "0", "1Gi", "NaN", "a/b", "\ud800", "\u2028", "\x1b[31m"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def answer(text: bytes, *, strict: bool = False) -> Inventory | InputError:
    """What a text on standard input is answered with, beside one node."""
    try:
        return load(["-"], cluster="nodes=1", stdin=io.BytesIO(text), strict=strict)
    except InputError as error:
        refusal = error
    assert str(refusal).isprintable(), "an error is one line, and does nothing to a terminal"
    return refusal


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text):
    answer(text)


@given(st.text(st.sampled_from("{}[]:,-&*!|>'\"#%@ \n\tab01?<=~"), max_size=60))
def test_any_punctuation_is_read_or_refused(text):
    answer(text.encode())


@given(
    st.sampled_from(TEXTS),
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 30), st.sampled_from(PIECES) | st.binary(max_size=3)),
        min_size=1,
        max_size=4,
    ),
)
@drawn(60)
def test_damaged_files_are_read_or_refused(text, cuts):
    for where, length, piece in cuts:
        at = int(where * len(text))
        text = text[:at] + piece + text[at + length :]
    answer(text)


@st.composite
def changed_objects(draw):
    """The objects with a few values replaced by others, or left out."""
    changed = json.loads(json.dumps(OBJECTS))
    for _ in range(draw(st.integers(1, 3))):
        location, key = changed, draw(st.integers(0, len(changed) - 1))
        while isinstance(location[key], dict | list) and location[key] and draw(st.integers(0, 5)):
            location = location[key]
            keys = sorted(location) if isinstance(location, dict) else range(len(location))
            key = draw(st.sampled_from(list(keys)))
        if draw(st.booleans()):
            location[key] = draw(values)
        elif isinstance(location, dict):
            del location[key]
    return changed


@given(changed_objects(), st.booleans())
@drawn(60)
def test_yaml_and_json_of_the_same_objects_are_answered_alike(objects, strict):
    value = {"apiVersion": "v1", "kind": "List", "items": objects}
    as_json = answer(json.dumps(value).encode(), strict=strict)
    as_yaml = answer(yaml.dump(value, sort_keys=False, Dumper=Quoted).encode("utf-8", "replace"), strict=strict)
    if isinstance(as_json, Inventory) and isinstance(as_yaml, Inventory):
        assert without_places(as_json) == without_places(as_yaml)
    else:
        assert hard_to_write(objects) or type(as_json) is type(as_yaml), (as_json, as_yaml)


class Quoted(yaml.SafeDumper):
    """Writes YAML in which every string stands in quotes."""


Quoted.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def hard_to_write(objects: object) -> bool:
    """Whether something is in there that one of the two languages cannot write."""
    text = json.dumps(objects)
    return any(
        word in text
        for word in ("NaN", "Infinity", "\\ud8", "\\ud9", "\\uda", "\\udb", "\\udc", "\\udd", "\\ude", "\\udf")
    )


def without_places(inventory: Inventory) -> list[object]:
    """The objects as plain data, each quantity in one way of writing it."""
    return [canonical(msgspec.json.decode(msgspec.json.encode(item))) for item in inventory.objects()]


def canonical(value: object, key: str = "") -> object:
    if isinstance(value, dict):
        if key in ("requests", "limits", "allocatable", "capacity", "overhead"):
            return {name: None if amount is None else str(parse_quantity(amount)) for name, amount in value.items()}
        return {name: canonical(inner, name) for name, inner in value.items()}
    return [canonical(inner) for inner in value] if isinstance(value, list) else value


@given(changed_objects())
def test_what_was_read_is_read_again_from_what_is_written(objects):
    first = answer(json.dumps(objects[0]).encode()) if objects else None
    if isinstance(first, Inventory):
        text = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": list(first.objects())[1:]})
        second = answer(text)
        assert isinstance(second, Inventory), second
        assert without_places(second) == without_places(first)


@given(st.text(max_size=12))
def test_scalars_never_fail(text):
    assert isinstance(plain_scalar(text), str | int | float | bool | None)


@given(
    st.lists(
        st.sampled_from(
            [
                "zones",
                "nodes",
                "cpu",
                "label",
                "taint",
                "cordon",
                "racks",
                "=",
                ",",
                ":",
                "+",
                "zone-a",
                "2",
                "1Gi",
                "a=b",
                "NoSchedule",
                "é",
                " ",
            ]
        ),
        max_size=12,
    )
)
def test_any_line_makes_a_cluster_up_or_is_refused(parts):
    nodes = made_up("zones=" + "".join(parts))
    assert len({node.name for node in nodes}) == len(nodes)


def made_up(text: str) -> list:
    """The nodes of a line; none when it is refused."""
    try:
        return [node for node, _ in synthetic_nodes(text)]
    except InputError:
        return []
