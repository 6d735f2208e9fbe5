"""The documentation of the fields names the type's fields, versions and defaults."""

import inspect
import re

from tests.unit.api.test_fields import EIGHT
from topospread.api.fields import FIELDS, explain
from topospread.api.spread import TopologySpreadConstraint


def test_the_eight_fields_stand_in_kubectls_order_with_its_types():
    assert {name: doc.type for name, doc in FIELDS.items()} == EIGHT
    assert list(FIELDS) == sorted(EIGHT)


def test_the_type_and_its_documentation_name_the_same_fields():
    assert set(TopologySpreadConstraint.__struct_encode_fields__) == set(EIGHT)
    attributes = re.findall(r"^ +(\w+): ``(\w+)``", inspect.getdoc(TopologySpreadConstraint) or "", re.MULTILINE)
    assert dict(attributes) == dict(
        zip(TopologySpreadConstraint.__struct_fields__, TopologySpreadConstraint.__struct_encode_fields__, strict=True)
    )


def test_what_is_required_and_what_is_default_agree_with_the_type():
    empty = TopologySpreadConstraint()
    assert {name for name, doc in FIELDS.items() if doc.required} == {"maxSkew", "topologyKey", "whenUnsatisfiable"}
    assert FIELDS["minDomains"].default == str(empty.effective_min_domains)
    assert FIELDS["nodeAffinityPolicy"].default == empty.effective_node_affinity_policy
    assert FIELDS["nodeTaintsPolicy"].default == empty.effective_node_taints_policy
    for name in ("maxSkew", "whenUnsatisfiable"):
        assert FIELDS[name].default == "none (the API server refuses a constraint without it)"


def test_the_versions_of_minDomains():  # noqa: N802 - the field's name
    assert [version for version, _ in FIELDS["minDomains"].since] == ["1.24", "1.25", "1.27", "1.30"]
    assert "\nSINCE:\n    1.24  alpha, off by default" in explain("minDomains")
