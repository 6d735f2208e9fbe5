"""Pod Security levels: what the module of Kubernetes says of random pods, and what we say."""

from __future__ import annotations

import pytest

from conformance import pod_security
from tests.unit.plugins.storage_builders import pod
from topospread.admission.pod_security import refusal

CASES = pod_security.kept()


def test_levels_refuse_what_the_module_refuses_in_its_words() -> None:
    assert len(CASES) == 500
    for asked, message in CASES:
        assert pod_security.ours(asked) == message, asked


def test_stored_cases_break_every_rule_and_none() -> None:
    said = [message for _, message in CASES]
    assert said.count("") > 50
    for reason in (
        *("AppArmor", "capabilities", "host namespaces", "hostPath volumes", "hostPort ", "probe or lifecycle host"),
        *("privileged (", "procMount", "seLinuxOptions", "seccompProfile", "sysctls", "hostProcess", "runAsUser=0"),
        *("allowPrivilegeEscalation", "unrestricted capabilities", "restricted volume type", "runAsNonRoot"),
    ):
        assert any(reason in each for each in said), reason


def test_generator_repeats_a_seed() -> None:
    assert pod_security.questions(7, 20) == pod_security.questions(7, 20)


@pytest.mark.parametrize(("version", "refused"), [("v1.30", True), ("v1.31", False), ("latest", False)])
def test_the_type_of_container_engines_is_allowed_since_1_31(version: str, refused: bool) -> None:
    options = {"seLinuxOptions": {"type": "container_engine_t"}}
    given = pod(containers=[{"name": "c", "securityContext": options}])
    assert ("seLinuxOptions" in refusal(given, "baseline", version, 37)) == refused
