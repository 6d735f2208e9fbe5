"""The table of what single fields may hold names what the schema has, and is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from topospread.api import validation
from topospread.api.validation.rules import _FORMATS, _rules, check_fields
from topospread.api.validation.schema import field_struct

SOURCES = "".join(path.read_text() for path in Path(validation.__file__).parent.glob("*.py"))
ASKED = set(re.findall(r'check_fields\([^"]*(?:f?"[^"]*", )?"([A-Z]\w+)"', SOURCES))


@pytest.mark.parametrize("struct", _rules())
def test_rules_are_of_fields_that_there_are(struct: str) -> None:
    for field, rule in _rules()[struct].items():
        assert field_struct(struct, field)
        assert rule.format in ("", *_FORMATS)
        assert rule.required or rule.words or rule.format or rule.least is not None or rule.range is not None


def test_every_struct_that_is_asked_has_rules_and_every_rule_is_asked() -> None:
    of_volumes = {struct for struct in _rules() if struct.endswith("VolumeSource")}
    twins = {"SecretKeySelector"}  # asked as a ConfigMap's
    in_loops = {"StatefulSetPersistentVolumeClaimRetentionPolicy", "StatefulSetOrdinals"}
    assert (ASKED - {"Volume"}) | of_volumes | twins | in_loops == set(_rules())


@pytest.mark.parametrize(
    ("struct", "value", "messages"),
    [
        ("NFSVolumeSource", {"server": ""}, ["p.server: Required value", "p.path: Required value"]),
        ("Taint", {}, ["p.effect: Required value"]),
        (
            "Taint",
            {"effect": "Never"},
            ['p.effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
        ),
        ("Toleration", {"effect": ""}, []),
        ("DeploymentSpec", {"replicas": -1}, ["p.replicas: Invalid value: -1: must be greater than or equal to 0"]),
        ("TopologySpreadConstraint", {"topologyKey": "zone", "minDomains": 0}, ["p.minDomains: Invalid value: 0: "]),
        ("ISCSIVolumeSource", {"targetPortal": "p", "iqn": "i", "lun": 256}, ["p.lun: Invalid value: 256: "]),
        ("KeyToPath", {"key": "k", "path": "p", "mode": 0o1000}, ["p.mode: Invalid value: 512: must be a number"]),
    ],
)
def test_a_field_is_refused_in_the_api_servers_words(struct: str, value: dict, messages: list[str]) -> None:
    found = [error.message for error in check_fields("p", struct, value)]
    assert len(found) == len(messages)
    assert all(said.startswith(words) for said, words in zip(found, messages, strict=True))
