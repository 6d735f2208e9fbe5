"""Kubernetes versions: what is read, how they compare, what is refused."""

from __future__ import annotations

import pytest

from topospread.config.versions import NEWEST, OLDEST, KubeVersion
from topospread.errors import ConfigError, Place


@pytest.mark.parametrize("text", ["1.27", "v1.27", "1.27.3", "v1.27.3", "v1.27.3-gke.100", "1.27.16+k3s1", " 1.27 "])
def test_reads_minor_version(text: str) -> None:
    assert str(KubeVersion.parse(text)) == "1.27"


def test_versions_are_ordered_by_number_not_by_text() -> None:
    texts = ["1.20", "1.37", "1.18", "1.19"]
    assert [str(version) for version in sorted(map(KubeVersion.parse, texts))] == ["1.18", "1.19", "1.20", "1.37"]


def test_equal_versions_are_one_key() -> None:
    assert len({KubeVersion.parse("1.30"), KubeVersion.parse("v1.30.14")}) == 1


def test_ends_of_the_supported_range_are_in_it() -> None:
    assert (KubeVersion.parse("1.18"), KubeVersion.parse("1.37")) == (OLDEST, NEWEST)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.17", "Kubernetes 1.17 is not supported; use a version from 1.18 to 1.37"),
        ("1.38", "Kubernetes 1.38 is not supported; use a version from 1.18 to 1.37"),
        ("2.0", "Kubernetes 2.0 is not supported; use a version from 1.18 to 1.37"),
        ("latest", '"latest" is not a Kubernetes version; write it as 1.27 or v1.27.3'),
        ("1", '"1" is not a Kubernetes version; write it as 1.27 or v1.27.3'),
        ("1.27.x", '"1.27.x" is not a Kubernetes version; write it as 1.27 or v1.27.3'),
        ("", '"" is not a Kubernetes version; write it as 1.27 or v1.27.3'),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KubeVersion.parse(text, Place("options"))
    assert str(caught.value) == f"options: {message}"
