"""Metadata: names, namespaces, labels, annotations, owners, finalizers, managers."""

from __future__ import annotations

import pytest

from tests.unit.api.validation.builders import pod, refusals


def fields(**metadata):
    return [message.split(": ")[0] for message in refusals(pod(metadata))]


def test_good_metadata():
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    assert (
        fields(
            name="web-0",
            generateName="web-",
            annotations={"Example.com/Key": "any value", "x": "é"},
            finalizers=["example.com/f", "orphan"],
            ownerReferences=[owner, {**owner, "controller": False}],
            managedFields=[{"manager": "kubectl", "operation": "Apply", "fieldsType": "FieldsV1"}],
            creationTimestamp=None,
        )
        == []
    )


@pytest.mark.parametrize(
    ("metadata", "messages"),
    [
        ({"name": ""}, ["metadata.name: Required value: name or generateName is required"]),
        ({"namespace": None}, ["metadata.namespace: Required value"]),
        ({"namespace": "a.b"}, ['metadata.namespace: Invalid value: "a.b": must not contain dots']),
        (
            {"finalizers": ["mine"]},
            [
                'metadata.finalizers[0]: Invalid value: "mine": '
                "name is neither a standard finalizer name nor is it fully qualified"
            ],
        ),
        (
            {"finalizers": ["orphan", "foregroundDeletion"]},
            [
                'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: '
                "finalizer orphan and foregroundDeletion cannot be both set"
            ],
        ),
        ({"annotations": {"k": "v" * 262144}}, ["metadata.annotations: Too long: may not be more than 262144 bytes"]),
    ],
)
def test_what_is_wrong_is_said(metadata, messages):
    assert refusals(pod(metadata)) == messages


def test_a_generate_name_must_make_a_good_name():
    assert fields(generateName="Web-") == ["metadata.generateName"]
    assert fields(generateName="web.") == ["metadata.generateName"]


def test_keys_and_values_are_refused_at_the_whole():
    assert fields(labels={"-": "-"}, annotations={"-": "-"}) == [
        "metadata.annotations",
        "metadata.labels",
        "metadata.labels",
    ]


def test_a_generation_is_the_servers_to_give():
    assert fields(generation=-1) == []


def test_owners_name_what_they_are():
    assert fields(ownerReferences=[{"apiVersion": "a/b/c"}]) == [
        f"metadata.ownerReferences[0].{field}" for field in ("apiVersion", "kind", "name", "uid")
    ]
    event = {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}
    assert refusals(pod({"ownerReferences": [event]})) == [
        'metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: '
        "/v1, Kind=Event is disallowed from being an owner"
    ]


def test_there_is_one_controller():
    owner = {"apiVersion": "v1", "kind": "K", "uid": "u", "controller": True}
    (message,) = refusals(pod({"ownerReferences": [{**owner, "name": name} for name in "ab"]}))
    assert message.startswith('metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"K","name":"a",')
    assert message.endswith('Found "true" in references for K/a and K/b')


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({}, "operation"),
        ({"operation": "Patch"}, "operation"),
        ({"operation": "Apply", "fieldsType": "V2"}, "fieldsType"),
        ({"operation": "Apply", "manager": "a\tb"}, "manager"),
        ({"operation": "Apply", "manager": "m" * 129}, "manager"),
        ({"operation": "Apply", "subresource": "s" * 257}, "subresource"),
    ],
)
def test_managers_are_checked(entry, field):
    assert fields(managedFields=[entry]) == [f"metadata.managedFields[0].{field}"]
