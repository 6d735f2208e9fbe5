import copy
import pickle

import pytest

from topospread.api.labels import LabelSelector, LabelSelectorRequirement, Selector
from topospread.api.spread import TopologySpreadConstraint
from topospread.errors import DecodeError, DuplicateError, Place

FULL = TopologySpreadConstraint(
    max_skew=1,
    topology_key="topology.kubernetes.io/zone",
    when_unsatisfiable="DoNotSchedule",
    label_selector=LabelSelector(
        match_labels={"app": "web"},
        match_expressions=[LabelSelectorRequirement(key="tier", operator="In", values=["a", "b"])],
    ),
    min_domains=3,
    node_affinity_policy="Ignore",
    node_taints_policy="Honor",
    match_label_keys=["pod-template-hash"],
)
FULL_DATA = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
    },
    "minDomains": 3,
    "nodeAffinityPolicy": "Ignore",
    "nodeTaintsPolicy": "Honor",
    "matchLabelKeys": ["pod-template-hash"],
}
FULL_YAML = """\
maxSkew: 1
topologyKey: topology.kubernetes.io/zone
whenUnsatisfiable: DoNotSchedule
labelSelector:
  matchLabels:
    app: web
  matchExpressions:
  - key: tier
    operator: In
    values:
    - a
    - b
minDomains: 3
nodeAffinityPolicy: Ignore
nodeTaintsPolicy: Honor
matchLabelKeys:
- pod-template-hash
"""


def test_the_empty_value_has_nothing_set():
    empty = TopologySpreadConstraint()
    assert empty.to_dict() == {}
    assert empty.to_json() == "{}"
    assert empty.to_yaml() == "{}\n"
    assert repr(empty) == "TopologySpreadConstraint()"
    assert TopologySpreadConstraint.from_dict({}) == TopologySpreadConstraint.from_yaml("{}") == empty


def test_max_skew_and_when_unsatisfiable_have_no_default():
    constraint = TopologySpreadConstraint(topology_key="zone")
    assert constraint.max_skew is None
    assert constraint.when_unsatisfiable is None


def test_defaults_in_force():
    empty = TopologySpreadConstraint()
    assert (empty.effective_min_domains, empty.effective_node_affinity_policy) == (1, "Honor")
    assert empty.effective_node_taints_policy == "Ignore"
    assert (FULL.effective_min_domains, FULL.effective_node_affinity_policy) == (3, "Ignore")
    assert FULL.effective_node_taints_policy == "Honor"


def test_equality_is_by_value_and_unset_is_not_the_default():
    assert TopologySpreadConstraint.from_dict(FULL_DATA) == FULL
    assert TopologySpreadConstraint(min_domains=1) != TopologySpreadConstraint()
    assert TopologySpreadConstraint(label_selector=LabelSelector()) != TopologySpreadConstraint()
    assert TopologySpreadConstraint() != {}


@pytest.mark.parametrize("copied", [FULL.copy(), copy.deepcopy(FULL), pickle.loads(pickle.dumps(FULL))])
def test_a_copy_is_equal_and_shares_nothing(copied):
    assert copied == FULL
    assert copied.label_selector is not FULL.label_selector
    copied.label_selector.match_labels["app"] = "other"
    copied.label_selector.match_expressions[0].values.append("c")
    copied.match_label_keys.append("x")
    assert FULL.to_dict() == FULL_DATA


def test_repr_shows_what_is_set_and_evaluates_back():
    assert repr(TopologySpreadConstraint(max_skew=2, label_selector=LabelSelector(match_labels={"a": "b"}))) == (
        "TopologySpreadConstraint(max_skew=2, label_selector=LabelSelector(match_labels={'a': 'b'}))"
    )
    assert eval(repr(FULL)) == FULL


def test_to_and_from_plain_data():
    assert FULL.to_dict() == FULL_DATA
    assert list(FULL.to_dict()) == list(FULL_DATA)
    assert TopologySpreadConstraint.from_dict(FULL_DATA | {"unknown": 1}) == FULL


def test_to_and_from_json():
    text = FULL.to_json()
    assert text.startswith('{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone",')
    assert "\n" not in text
    assert TopologySpreadConstraint.from_json(text) == TopologySpreadConstraint.from_json(text.encode()) == FULL


def test_to_and_from_yaml():
    assert FULL.to_yaml() == FULL_YAML
    assert TopologySpreadConstraint.from_yaml(FULL_YAML) == FULL


def test_null_is_unset():
    data = dict.fromkeys(FULL_DATA)
    assert TopologySpreadConstraint.from_dict(data) == TopologySpreadConstraint()
    assert TopologySpreadConstraint.from_yaml("labelSelector:\n  matchLabels:\n    app:\n").label_selector == (
        LabelSelector(match_labels={"app": ""})
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"maxSkew": "1"}, 'maxSkew: expected an integer, got the string "1"'),
        ({"maxSkew": 2**31}, "maxSkew: expected an integer from -2147483648 to 2147483647, got the number 2147483648"),
        ({"minDomains": 1.5}, "minDomains: expected an integer, got the number 1.5"),
        ({"topologyKey": 1}, "topologyKey: expected a string, got the number 1"),
        ({"labelSelector": "app=web"}, 'labelSelector: expected an object, got the string "app=web"'),
        ({"labelSelector": {"matchLabels": {"v": 1}}}, "labelSelector.matchLabels[v]: expected a string, got the num"),
        ({"matchLabelKeys": "a"}, 'matchLabelKeys: expected a list, got the string "a"'),
        (None, "expected an object, got null"),
        ([], "expected an object, got a list"),
    ],
)
def test_a_wrong_type_is_refused_with_its_field(data, message):
    with pytest.raises(DecodeError) as caught:
        TopologySpreadConstraint.from_dict(data)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["{", "[]", "null", b"\xff", '{"maxSkew": 1.0}', "[" * 100_000, "{'a': 1}"])
def test_bad_json_is_refused(text):
    with pytest.raises(DecodeError, match=r"^f\.json: "):
        TopologySpreadConstraint.from_json(text, Place("f.json"))


def test_bad_yaml_is_refused():
    with pytest.raises(DecodeError, match=r"^f\.yaml:1:10: not YAML"):
        TopologySpreadConstraint.from_yaml("maxSkew: @", Place("f.yaml"))
    with pytest.raises(DuplicateError, match=r"^f\.yaml:2:1: the key 'maxSkew' occurs twice"):
        TopologySpreadConstraint.from_yaml("maxSkew: 1\nmaxSkew: 2\n", Place("f.yaml"))


def test_numbers_in_yaml_are_kubectls():
    assert TopologySpreadConstraint.from_yaml("maxSkew: 1.0") == TopologySpreadConstraint(max_skew=1)
    assert TopologySpreadConstraint.from_yaml("maxSkew: 010") == TopologySpreadConstraint(max_skew=8)


def test_the_selector_takes_the_pods_values_of_match_label_keys():
    assert str(FULL.selector({"app": "web", "pod-template-hash": "1"})) == "app=web,pod-template-hash=1,tier in (a,b)"
    assert str(FULL.selector({})) == "app=web,tier in (a,b)"
    assert TopologySpreadConstraint(match_label_keys=["a"]).selector({"a": "1"}) == Selector.nothing()
