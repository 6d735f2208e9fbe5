import msgspec
import pytest

from topospread.api.fields import FIELDS, TOPOLOGY_SPREAD_CONSTRAINTS, explain, paths
from topospread.errors import UsageError

EIGHT = {
    "labelSelector": "LabelSelector",
    "matchLabelKeys": "[]string",
    "maxSkew": "integer",
    "minDomains": "integer",
    "nodeAffinityPolicy": "string",
    "nodeTaintsPolicy": "string",
    "topologyKey": "string",
    "whenUnsatisfiable": "string",
}


def test_a_field_is_explained_as_kubectl_would():
    lines = explain("pod.spec.topologySpreadConstraints.whenUnsatisfiable").splitlines()
    assert lines[:9] == [
        "KIND:       Pod",
        "VERSION:    v1",
        "",
        "FIELD: whenUnsatisfiable <string>",
        "ENUM:",
        "    DoNotSchedule",
        "    ScheduleAnyway",
        "",
        "DESCRIPTION:",
    ]
    assert explain("minDomains").splitlines()[3:7] == ["FIELD: minDomains <integer>", "", "", "DESCRIPTION:"]


def test_the_list_of_fields_as_kubectl_prints_it():
    fields = [line for line in explain().splitlines() if "\t" in line or line.startswith("  enum:")]
    assert fields == [
        "  labelSelector\t<LabelSelector>",
        "  matchLabelKeys\t<[]string>",
        "  maxSkew\t<integer> -required-",
        "  minDomains\t<integer>",
        "  nodeAffinityPolicy\t<string>",
        "  enum: Honor, Ignore",
        "  nodeTaintsPolicy\t<string>",
        "  enum: Honor, Ignore",
        "  topologyKey\t<string> -required-",
        "  whenUnsatisfiable\t<string> -required-",
        "  enum: DoNotSchedule, ScheduleAnyway",
    ]
    assert "FIELD: topologySpreadConstraints <[]TopologySpreadConstraint>" in explain()


def test_deeper_fields():
    assert "\n  key\t<string> -required-\n" in explain("labelSelector.matchExpressions")
    assert "FIELD: matchLabels <map[string]string>" in explain("topologySpreadConstraints.labelSelector.matchLabels")
    assert "FIELD: values <[]string>" in explain("labelSelector.matchExpressions[0].values")


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("", "topologySpreadConstraints"),
        ("pod", "topologySpreadConstraints"),
        ("Pod.spec", "topologySpreadConstraints"),
        ("pods.spec.topologySpreadConstraints", "topologySpreadConstraints"),
        ("spec.topologySpreadConstraints[*].maxSkew", "maxSkew"),
        (" topologySpreadConstraints[0].maxSkew ", "maxSkew"),
    ],
)
def test_paths_that_mean_the_same(path, same):
    assert explain(path) == explain(same)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("minDomain", 'field "minDomain" does not exist in topologySpreadConstraints; did you mean minDomains?'),
        ("topologySpreadConstraints.MAXSKEW", 'field "MAXSKEW" does not exist in topologySpreadConstraints; did you'),
        ("labelSelector.matchLabel", 'field "matchLabel" does not exist in labelSelector; did you mean matchLabels?'),
        ("matchLabelKeys.x", 'field "x" does not exist: matchLabelKeys has no fields'),
        ("spec.containers", 'field "containers" does not exist in topologySpreadConstraints; fields: topologySp'),
    ],
)
def test_a_field_that_is_not_there_names_the_nearest(path, message):
    with pytest.raises(UsageError) as caught:
        explain(path)
    assert str(caught.value).startswith(message)


PREFORMATTED = {
    f"    {line}"
    for doc in (TOPOLOGY_SPREAD_CONSTRAINTS, *FIELDS.values())
    for part in doc.text
    if part.startswith(" ")
    for line in part.splitlines()
}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("path", ["", *EIGHT])
def test_text_is_wrapped_to_the_width(path, width):
    text = explain(path, width=width)
    wrapped = [line for line in text.splitlines() if not line.startswith("FIELD:") and line not in PREFORMATTED]
    assert max(len(line.expandtabs(8)) for line in wrapped) <= width
    assert max(map(len, PREFORMATTED)) <= 80
    assert text.endswith("\n")
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_documentation_is_data():
    doc = TOPOLOGY_SPREAD_CONSTRAINTS.field("minDomains")
    assert doc is FIELDS["minDomains"]
    assert all(each.text and each.since for each in FIELDS.values())
    assert TOPOLOGY_SPREAD_CONSTRAINTS.field("nope") is None
    with pytest.raises(AttributeError):
        doc.name = "x"
    assert msgspec.json.encode(doc)


def test_every_path_has_documentation():
    assert len(paths()) == len(set(paths())) > 12
    assert all(f"FIELD: {path.rpartition('.')[2]} " in explain(path) for path in paths())
