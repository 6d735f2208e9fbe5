"""Projected trust bundles, certificates of pods, and the users files belong to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.validation.builders import pod, refusals

PATH = "spec.volumes[0].projected"


def refused(*sources: dict[str, Any]) -> list[str]:
    volume = {"name": "v", "projected": {"sources": list(sources)}}
    return refusals(pod(serviceAccountName="sa", volumes=[volume]))


@pytest.mark.parametrize(
    "source",
    [
        {"clusterTrustBundle": {"name": "bundle", "path": "ca.pem"}},
        {"clusterTrustBundle": {"name": "example.com:signer:b", "path": "ca.pem"}},
        {"clusterTrustBundle": {"signerName": "example.com/signer", "labelSelector": {}, "path": "ca.pem"}},
        {"podCertificate": {"signerName": "example.com/s", "keyType": "ED25519", "keyPath": "k", "user": -1}},
        {
            "podCertificate": {
                "signerName": "kubernetes.io/s",
                "keyType": "RSA3072",
                "credentialBundlePath": "b",
                "maxExpirationSeconds": 86400,
                "userAnnotations": {"Example.com/Key": "v"},
            }
        },
    ],
)
def test_good_projections(source):
    assert refused(source) == []


@pytest.mark.parametrize(
    ("bundle", "messages"),
    [
        ({"path": "a"}, ["Required value: either name or signerName must be specified"]),
        ({"name": "b"}, [".path: Required value"]),
        (
            {"name": "b", "signerName": "a.b/c", "path": "a"},
            [
                ': Invalid value: {"Name":"b","SignerName":"a.b/c","LabelSelector":null,"Optional":null,"Path":"a",'
                '"User":null}: only one of name and signerName may be used'
            ],
        ),
        (
            {"name": ":b", "path": "a"},
            [
                '.name: Invalid value: ":b": not a valid clustertrustbundlename: '
                'ClusterTrustBundle without signer name must not have ":" in its name'
            ],
        ),
        (
            {"name": "a/b:c", "path": "a", "labelSelector": {"matchLabels": {"b": "c", "a": "b"}}},
            [
                '.labelSelector: Invalid value: {"matchLabels":{"a":"b","b":"c"}}: '
                "labelSelector must be unset if name is specified",
                '.name: Invalid value: "a/b:c": not a valid clustertrustbundlename: '
                "ClusterTrustBundle for signerName a/b must be named with prefix a:b:",
            ],
        ),
        (
            {"signerName": "", "path": "a"},
            [".signerName: Required value", ".signerName: Required value: must be a valid signer name"],
        ),
    ],
)
def test_trust_bundles(bundle, messages):
    joints = [message if message[0] in ".:" else f": {message}" for message in messages]
    assert refused({"clusterTrustBundle": bundle}) == [f"{PATH}.sources[0].clusterTrustBundle{each}" for each in joints]


@pytest.mark.parametrize(
    ("signer", "details"),
    [
        ("a", ["must be a fully qualified domain and path of the form 'example.com/signer-name'"]),
        ("a/b", ["should be a domain with at least two segments separated by dots"]),
        ("A.b/c", ['validating label "A": a lowercase RFC 1123 label']),
        ("a.b/-.C", ['validating label "-": a lowercase RFC 1123 subdomain']),
        ("a.b/" + "c" * 568, ["may not be more than 571 bytes", "must be no more than 253 characters"]),
    ],
)
def test_signers(signer, details):
    messages = refused({"podCertificate": {"signerName": signer, "keyType": "ED25519", "keyPath": "k"}})
    assert len(messages) == len(details)
    for detail in details:
        assert any(detail in message for message in messages)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"keyType": "x"}, [".keyType"]),
        ({"maxExpirationSeconds": 3599}, [".maxExpirationSeconds"]),
        ({"maxExpirationSeconds": 91 * 86400 + 1}, [".maxExpirationSeconds"]),
        ({"signerName": "a.kubernetes.io/s", "maxExpirationSeconds": 86401}, [".maxExpirationSeconds"]),
        ({"keyPath": "/k"}, [".keyPath"]),
        ({"keyPath": ""}, [""]),
        ({"userAnnotations": {"k": "v", "": "v", "a/b/c": "v"}}, [".userAnnotations"] * 3),
        ({"userAnnotations": {"a.b/c": "v" * 262144}}, [".userAnnotations"]),
    ],
)
def test_certificates(fields, found):
    certificate = {"signerName": "a.b/c", "keyType": "ED25519", "keyPath": "k", **fields}
    messages = refused({"podCertificate": certificate})
    assert [message.split(": ")[0] for message in messages] == [
        f"{PATH}.sources[0].podCertificate{each}" for each in found
    ]


def test_their_files_do_not_collide_with_others():
    key = {"signerName": "a.b/c", "keyType": "ED25519", "keyPath": "x", "certificateChainPath": "x"}
    assert refused({"podCertificate": key}, {"clusterTrustBundle": {"name": "b", "path": "x"}}) == [
        f'{PATH}: Invalid value: "x": conflicting duplicate paths'
    ]


def test_users_of_files_are_dropped_from_the_first_source_only():
    """The feature is off: its fields are dropped on the way in, but the API server looks at one source each."""
    file = {"items": [{"key": "k", "path": "p", "user": -1}]}
    assert refused({"secret": {"name": "s", **file}}) == []
    assert refused({"secret": {"name": "s"}, "configMap": {"name": "m", **file}}) == [
        f"{PATH}.sources[0].configMap.items[0].user: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        f"{PATH}.sources[0]: Forbidden: may not specify more than 1 volume type per source",
    ]
