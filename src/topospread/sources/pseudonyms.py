"""Words in place of names: the same name always by the same word, and nobody without the salt can tell which it was.

A name is replaced part by part, so that names made of names stay so: of ``data-web-0``, a claim, the middle part is
the StatefulSet's word. Kept are small numbers (ordinals), numbers as a whole (node affinity compares them), words that
everybody's cluster has, and of label keys those of well-known prefixes or of none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from topospread.plugins.image_locality import normalized_image_name

_PART: Final = re.compile(r"[A-Za-z0-9]+")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_SMALL: Final = re.compile(r"0|[1-9][0-9]{0,4}")
_ADDRESS: Final = re.compile(r"(?<![0-9])[0-9]{1,3}([-.])[0-9]{1,3}\1[0-9]{1,3}\1[0-9]{1,3}(?![0-9])")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
_LENGTH: Final = 8
_LONGEST_VALUE: Final = 63

_COMMON: Final = frozenset(
    """default kube system public node lease cluster critical true false yes no none linux windows amd64 arm64 aws vol
    """.split()  # noqa: SIM905 - to be read as a sentence
)
_PUBLIC: Final = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "amazonaws.com",
    "aws.com",
    "k8s.aws",
    "cloud.google.com",
    "gke.io",
    "azure.com",
    "openshift.io",
    "openstack.org",
    "vmware.com",
    "portworx.com",
    "ceph.com",
    "longhorn.io",
    "helm.sh",
    "istio.io",
    "argoproj.io",
    "nvidia.com",
    "amd.com",
    "intel.com",
)
"""Domains whose keys and drivers say nothing of whose cluster it is."""

_ANYWHERE: Final = frozenset({"0.0.0.0", "127.0.0.1", "::", "::1"})


class Pseudonyms:
    """The words for one salt."""

    def __init__(self, salt: bytes) -> None:
        self._key = blake2b(salt, digest_size=32).digest()
        self._parts: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._nodes: dict[str, str] = {}

    def know_nodes(self, names: Iterable[str]) -> None:
        """Give nodes words that sort as their names do: of equally good nodes the first by name is chosen."""
        ordered = sorted(names)
        digits = len(str(len(ordered)))
        self._nodes = {
            name: f"node-{position:0{digits}}-{self._word(name)}" for position, name in enumerate(ordered, 1)
        }
        self._known.clear()

    def label_value(self, text: str) -> str:
        """For a label's value: as for a name, but never too long."""
        replaced = self.name(text)
        return replaced if len(replaced) <= _LONGEST_VALUE else self._word(text)

    def name(self, text: str) -> str:
        """For a name."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._renamed(text)
        return known

    def key(self, text: str) -> str:
        """For a key of a label, taint or resource: kept where its prefix is nobody's own."""
        prefix, slash, _ = text.rpartition("/")
        return text if not slash or _is_public(prefix) else self.name(text)

    def driver(self, text: str) -> str:
        """For what provides volumes: kept where its domain is nobody's own."""
        return text if _is_public(text.partition("/")[0]) else self.name(text)

    def image(self, text: str) -> str:
        """For an image, so that one that names no tag stays the same as that of ``latest``."""
        return f"{self._word(normalized_image_name(text))}:image" if text else text

    def opaque(self, text: str) -> str:
        """For what is only compared as a whole: disks, targets, handles."""
        return self._word(text) if text else text

    def address(self, text: str) -> str:
        """For an IP; those that mean every or this host are kept."""
        return text if text in _ANYWHERE or not text else self._word(text)

    def _renamed(self, text: str) -> str:
        node = self._nodes.get(text)
        if node is not None:
            return node
        if _INTEGER.fullmatch(text):
            return text
        head, dash, tail = self._of_a_node(text)
        if dash:
            return f"{self.name(head)}-{self._nodes[tail]}"
        plain = _ADDRESS.sub(lambda found: self._word(found[0]), text)
        return _PART.sub(lambda found: self._part(found[0]), plain)

    def _of_a_node(self, text: str) -> tuple[str, str, str]:
        """A static pod's name in two: it ends in its node's."""
        at = text.find("-")
        while at >= 0:
            if text[at + 1 :] in self._nodes:
                return text[:at], "-", text[at + 1 :]
            at = text.find("-", at + 1)
        return text, "", ""

    def _part(self, part: str) -> str:
        known = self._parts.get(part)
        if known is None:
            kept = part in _COMMON or _SMALL.fullmatch(part)
            known = self._parts[part] = part if kept else self._word(part)
        return known

    def _word(self, text: str) -> str:
        """Eight letters and digits, the first a letter: nearly 2**40 different ones."""
        number = int.from_bytes(blake2b(text.encode(), key=self._key, digest_size=8).digest(), "big")
        letters = [_LETTERS[number % 26]]
        number //= 26
        for _ in range(_LENGTH - 1):
            letters.append(_LETTERS[number % 32])
            number //= 32
        return "".join(letters)


def _is_public(domain: str) -> bool:
    return any(domain == public or domain.endswith(f".{public}") for public in _PUBLIC)
