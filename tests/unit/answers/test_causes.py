"""Causes of pending pods: their codes, sentences and sets, of one explained pod and of a simulation's groups."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import topospread
from tests.plain_inventory import inventory
from tests.unit.why.builders import GPU, HOST, ZONE, Json, constraint, explained, node, pod, spec, workload, zones
from topospread.answer import Cause
from topospread.answers.cause_codes import CODES
from topospread.answers.causes import causes_of, causes_of_pod, why_words
from topospread.cli.explain import explain
from topospread.cli.main import topospread as command
from topospread.lint.rules import BY_ID
from topospread.simulation.simulate import simulate

OF = spec(constraint())


def web(on: str, of: Json = OF) -> Json:
    return pod(f"web-{on}", on, of)


def causes(of: Json, *objects: Json) -> tuple[tuple[Cause, ...], tuple[Cause, ...]]:
    """Return the causes of the pod ``web``: as explained, and as a simulation has them."""
    made = [*objects, pod("web", of=of)]
    (group,) = simulate(inventory(*made)).pending
    return causes_of_pod(explained("web", *made)), causes_of(group)


CLOSED_ZONE = [*zones("ab"), node("c1", "zone-c", cordoned=True), node("c2", "zone-c", cpu="1")]
FULL = pod("filler", "c2", spec(cpu="800m"), labels={"app": "filler"})
LOST = [{"key": f"node.kubernetes.io/{key}", "effect": "NoSchedule"} for key in ("not-ready", "unreachable")]
LOST_ZONE = [node(f"b{number}", "zone-b", taints=LOST[number % 2 :]) for number in range(4)]
DEDICATED = [node(f"d{number}", "zone-b", taints=[*LOST, GPU]) for number in range(4)]
TERM = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOST}
GONE = (
    "zone-b takes no pod, but its 0 pods are still the minimum (nodeTaintsPolicy: Ignore); "
    "in every other zone the skew would be 1 + 1 − 0 = 2 > maxSkew 1"
)
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}


GPUS = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("of", "objects", "expected", "says", "group_says"),
    [
        pytest.param(
            OF,
            [*CLOSED_ZONE, FULL, web("a"), web("b")],
            (["spread-domain-full", "cordoned", "cpu-short"], "any-of"),
                        "maxSkew 1 over zones admits only zone-c, where c1 is cordoned, and c2 lacks 300m cpu",
            "maxSkew 1 over zones admits only zone-c, where c1 is cordoned, and c2 lacks cpu",
            id="the only admitted zone is closed",
        ),
        pytest.param(
            spec(constraint(minDomains=4)),
            [*zones(), *map(web, "abc")],
            (["min-domains"], ""),
                        "3 zones are fewer than minDomains 4, so the minimum counts as 0; "
            "in every zone the skew would be 1 + 1 − 0 = 2 > maxSkew 1",
            None,
            id="minDomains",
        ),
        pytest.param(
            OF,
            [node("a", "zone-a"), node("b", "zone-b", taints=[GPU]), web("a")],
            (["zone-gone-counts", "taint"], "any-of"),
                        f"{GONE}; "
            "b has the taint dedicated=gpu:NoSchedule",
            GONE,
            id="a tainted zone counts",
        ),
        pytest.param(
            OF,
            [node("a", "zone-a"), *LOST_ZONE, web("a"), pod("web-2", "a", OF), web("b0")],
            (["spread-domain-full", "taint"], "any-of"),
            "maxSkew 1 over zones admits only zone-b, where all 4 nodes are NotReady",
            "maxSkew 1 over zones admits only zone-b, where all 4 nodes have a taint that the pod does not tolerate",
            id="the only admitted zone is lost",
        ),
        pytest.param(
            OF,
            [node("a", "zone-a"), *LOST_ZONE, *DEDICATED, web("a"), pod("web-2", "a", OF), web("b0")],
            (["spread-domain-full", "taint", "taint"], "any-of"),
            "maxSkew 1 over zones admits only zone-b, where 4 nodes are NotReady, and "
            "4 nodes are NotReady and have another taint that the pod does not tolerate",
            "maxSkew 1 over zones admits only zone-b, where all 8 nodes have a taint that the pod does not tolerate",
            id="nodes of the lost zone have another taint",
        ),
        pytest.param(
            OF, [node("a", "zone-a"), *LOST_ZONE, web("a")], (["zone-gone-counts", "taint"], "any-of"), GONE, GONE,
            id="a lost zone counts",
        ),
        pytest.param(
            OF, [node("a", "zone-a"), LOST_ZONE[0], web("a")], (["zone-gone-counts", "taint"], "any-of"),
            f"{GONE}; b0 is NotReady", GONE, id="a lost node counts",
        ),
        pytest.param(
            spec(cpu="9"), zones("abcd"), (["cpu-short"], ""),
            "the pod requests 9 cpu (the largest node has 4 cpu)", "all 4 nodes lack cpu",
            id="more than any node has",
        ),
        pytest.param(
            spec(containers=[{"name": "c", "image": "i", "resources": {"limits": {"cpu": "9", GPUS: "1"}}}]),
            [*zones("ab"), node("c", "zone-c", cordoned=True)], (["cpu-short"], ""),
            "the pod requests 9 cpu (the largest node has 4 cpu) and 1 nvidia.com/gpu (no node has any)",
            "a and b lack cpu, a and b lack nvidia.com/gpu, and c is cordoned",
            id="nothing that frees a node helps",
        ),
        pytest.param(
            spec(cpu="3"), [*zones("abcd"), *(web(on, spec(cpu="2")) for on in "abcd")], (["cpu-short"], ""),
            "all 4 nodes lack cpu (a: 1 cpu missing)", "all 4 nodes lack cpu",
            id="room nowhere",
        ),
        pytest.param(
            spec(nodeSelector={"disktype": "ssd"}),
            zones(),
            (["label-missing"], ""),
                        "no node has disktype=ssd (3 lack nothing else)",
            "no node has disktype=ssd",
            id="a label that no node has",
        ),
        pytest.param(
            spec(nodeSelector={"disktype": "ssd"}),
            [*zones("ab"), node("c", "zone-c", taints=[GPU]), node("d", "zone-d", cordoned=True)],
            (["label-missing"], ""),
                        "no node has disktype=ssd (2 lack nothing else)",
            "no node has disktype=ssd",
            id="a label that no node has, whatever rejects a node first",
        ),
        pytest.param(
            spec(cpu="9", nodeSelector={"disktype": "ssd"}),
            zones(),
            (["label-missing", "cpu-short"], "all-of"),
                        "no node has disktype=ssd, and the pod requests 9 cpu (the largest node has 4 cpu)",
            "no node has disktype=ssd",
            id="two things everywhere",
        ),
        pytest.param(
            spec(affinity={"podAntiAffinity": REQUIRED}),
            [*zones("ab"), *(web(on, spec(affinity={"podAntiAffinity": REQUIRED})) for on in "ab")],
            (["pod-anti-affinity"], ""),
                        "both nodes are excluded by pod anti-affinity",
            "a and b are excluded by pod anti-affinity",
            id="anti-affinity",
        ),
        pytest.param(
            spec(constraint("rack")),
            zones("ab"),
            (["topology-key-missing"], ""),
                        "no node counts for maxSkew 1 over rack (2: no label rack)",
            None,
            id="no node has the key",
        ),
    ],
)  # fmt: skip
def test_why(of: Json, objects: list[Json], expected: tuple[list[str], str], says: str, group_says: str | None) -> None:
    """The `expected` codes, and how the causes of the set belong together."""
    codes, together = expected
    of_pod, of_group = causes(of, *objects)
    assert [each.code for each in of_pod] == codes
    assert {each.together for each in of_pod} == {together}
    assert why_words(of_pod) == says
    assert why_words(of_group) == (says if group_says is None else group_says)
    assert of_group[0].code == codes[0]
    assert {each.code for each in (*of_pod, *of_group)} <= CODES.keys()


def test_two_constraints_that_admit_no_common_node() -> None:
    of = spec(constraint(), constraint(HOST))
    nodes = [node("a1", "zone-a"), node("a2", "zone-a"), node("b1", "zone-b")]
    there = [pod(f"web-{i}", on, of) for i, on in enumerate(["a1", "a1", "b1"])]
    of_pod, of_group = causes(of, *nodes, *there)
    assert (
        why_words(of_pod)
        == why_words(of_group)
        == ("maxSkew 1 over zones admits only zone-b, and maxSkew 1 over nodes admits only a2")
    )


def test_nodes_that_lack_only_the_topology_key() -> None:
    of_pod, _ = causes(OF, node("a", "zone-a", cordoned=True), node("bare"))
    assert [each.code for each in of_pod] == ["topology-key-missing", "cordoned"]
    assert why_words(of_pod) == f"bare has no label {ZONE}, where a is cordoned"


def test_a_cluster_without_nodes() -> None:
    of_pod, of_group = causes(spec())
    assert of_pod == of_group == (Cause(code="no-nodes", says="the cluster has no node", nodes=0),)


def test_a_pod_that_kube_scheduler_does_not_try() -> None:
    gated = pod("web", of=spec(schedulingGates=[{"name": "later"}]))
    (cause,) = causes_of_pod(explained("web", *zones(), gated))
    assert (cause.code, cause.says) == ("scheduling-gate", "waits for its scheduling gates: later")


def test_a_claim_that_is_missing() -> None:
    of = spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    of_pod, of_group = causes(of, *zones())
    assert of_pod == of_group
    assert [(each.code, each.says) for each in of_pod] == [("volume", 'persistentvolumeclaim "data" not found')]


def test_a_pod_that_is_not_judged_has_no_cause() -> None:
    claim = {"name": "gpu", "resourceClaimName": "gpu"}
    of_pod, of_group = causes(spec(resourceClaims=[claim]), *zones())
    assert of_pod == of_group == ()


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_paragraph(code: str) -> None:
    assert CODES[code].endswith(".")
    assert CODES[code][0].isupper()


def test_explain_prints_the_paragraph_of_a_code() -> None:
    one = CliRunner().invoke(explain, ["cordoned"], standalone_mode=False)
    assert one.stdout.startswith("cordoned: A node is cordoned")
    every = CliRunner().invoke(explain, ["causes"], standalone_mode=False)
    assert all(f"{code}: " in every.stdout for code in CODES)


def test_codes_are_no_names_of_rules() -> None:
    assert CODES.keys().isdisjoint(BY_ID)


def test_a_node_with_two_obstacles_counts_once_under_the_first_plugin_that_rejects_it() -> None:
    gpu = [node(f"g{number}", "zone-a", taints=[GPU], cpu="1") for number in range(4)]
    small = [node(f"n{number}", "zone-b", cpu="1") for number in range(4)]
    nodes = [*gpu, *small, node("h", "zone-c", taints=[GPU], cordoned=True)]
    own, group = causes(spec(cpu="2"), *nodes)
    says = "4 nodes have a taint that the pod does not tolerate, 4 nodes lack cpu{}, and h is cordoned"
    assert why_words(own) == says.format(" (n0: 1 cpu missing)")
    assert why_words(group) == says.format("")
    assert sum(each.nodes or 0 for each in own) == len(nodes)


@pytest.mark.parametrize(("cordoned", "too"), [(False, ""), (True, ", and 4 nodes lack cpu, too (n1: 1 cpu missing)")])
def test_what_all_nodes_lack_comes_first_and_the_rest_counts_if_every_node_lacks_more(cordoned: bool, too: str) -> None:
    nodes = [
        node(f"n{number}", "zone-a", cpu="1" if number else "4", cordoned=cordoned and not number)
        for number in range(5)
    ]
    term = TERM | {"labelSelector": {"matchLabels": {"app": "db"}}}
    near_db = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    own, _ = causes(spec(cpu="2", affinity=near_db), *nodes)
    assert why_words(own) == "all 5 nodes have no pod that the pod affinity asks for" + too


def test_simulate_why_and_status_name_the_same_causes() -> None:
    term = TERM | {"labelSelector": {"matchLabels": {"app": "db"}}}
    of = spec(cpu="2", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    nodes = [node(f"n{number}", "zone-a", cpu="1" if number else "4") for number in range(5)]
    session = topospread.Session([*nodes, workload("Deployment", 2, of)])
    (simulated,), explained = session.simulate().pending, session.why("deploy/web")
    assert explained.causes[0].says == "all 5 nodes have no pod that the pod affinity asks for"
    assert explained.causes == simulated.causes == session.status().pending[0].causes
    assert explained.situations[0].causes == explained.causes


def test_the_rarest_of_more_than_four_kinds_of_obstacles_are_one_cause() -> None:
    of = spec(cpu="2", nodeSelector={ZONE: "zone-a"})
    of["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    nodes = [
        *(node(f"c{number}", "zone-a", cordoned=True) for number in range(5)),
        *(node(f"t{number}", "zone-a", taints=[GPU]) for number in range(4)),
        *(node(f"n{number}", "zone-a", cpu="1") for number in range(4)),
        *(node(f"z{number}", "zone-b") for number in range(2)),
        node("p", "zone-a", cpu="8"),
    ]
    for found in causes(of, *nodes, pod("port", "p", of)):
        assert [each.nodes for each in found] == [5, 4, 4, 3]
        assert found[-1].says.startswith("3 nodes are rejected for other reasons (z0 and z1 do not match the pod")


def test_a_zone_whose_counted_node_lacks_room_is_not_closed_by_the_taint_of_another() -> None:
    of = spec(constraint(key=ZONE, nodeTaintsPolicy="Honor"), cpu="2")
    nodes = [node("a", "zone-a", cpu="8"), node("c", "zone-c", cpu="1"), node("t", "zone-c", taints=[GPU])]
    for found in causes(of, *nodes, pod("there", "a", of)):
        assert "zone-gone-counts" not in [each.code for each in found]
        assert found[0].says == "maxSkew 1 over zones admits only zone-c"


def test_no_obstacle_is_said_to_block_alone_if_two_do() -> None:
    found = CliRunner().invoke(
        command, ["why", "web", "-f", "-", "--on", "nodes=2,cpu=4,taint=a=b:NoSchedule"], input=_BIG
    )
    assert "the pod requests 6 cpu (the largest node has 4 cpu)" in " ".join(found.output.split())
    assert "blocks alone" not in found.output


_BIG = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 6}}}]}
"""
