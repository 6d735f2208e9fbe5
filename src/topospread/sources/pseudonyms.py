"""Replace private names with words that only the holder of the salt can compute. Public names stay.

docs/adr/0009 states the attacker model. Every word is a keyed hash of a name and its context, so the same name in two
namespaces, or as the value of two labels, gives two words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import blake2b, scrypt
from secrets import token_bytes
from typing import Final

from topospread.api.well_known_labels import NAMESPACE_NAME
from topospread.plugins.image_locality import normalized_image_name

from . import public_names as public

_PART: Final = re.compile(r"[A-Za-z0-9]+")
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_SMALL: Final = re.compile(r"0|[1-9][0-9]{0,4}")
_ADDRESS: Final = re.compile(r"(?<![0-9])[0-9]{1,3}([-.])[0-9]{1,3}\1[0-9]{1,3}\1[0-9]{1,3}(?![0-9])")
_RANDOM_UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
"""Pattern of a version 4 UUID, which an API server generates."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
_LENGTH: Final = 8
_ZONE_SET: Final = "__"
"""Separator of zones in a volume with several zones (volume-helpers, ``LabelMultiZoneDelimiter``)."""

_SIZE_BUCKET: Final = 16 * 1024 * 1024
"""Image sizes are rounded to this many bytes. ImageLocality gives one point for at least 9.77 MiB."""

_NAMES_OF_PODS: Final = frozenset({"statefulset.kubernetes.io/pod-name", "job-name", "batch.kubernetes.io/job-name"})
"""Labels whose value is the name of an object in the same namespace."""


def key_of(salt: bytes | None) -> bytes:
    """Derive a key from the salt, or create a random key. Derivation needs 64 MiB and about 0.2 s."""
    if salt is None:
        return token_bytes(32)
    return scrypt(salt, salt=b"topospread anonymous", n=2**16, r=8, p=1, maxmem=2**27, dklen=32)


def size_bucket(size: int) -> int:
    """Return an image size rounded to a multiple of 16 MiB."""
    return (size + _SIZE_BUCKET // 2) // _SIZE_BUCKET * _SIZE_BUCKET


class Pseudonyms:
    """The words for one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._words: dict[tuple[str, str], str] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._keys: dict[str, str] = {}
        self._nodes: dict[str, str] = {}

    def know_nodes(self, names: Iterable[str]) -> None:
        """Assign words to nodes that sort like their names, because ties between nodes are broken by name."""
        ordered = sorted(names)
        digits = len(str(len(ordered)))
        self._nodes = {
            name: f"node-{position:0{digits}}-{self._word('node', name)}" for position, name in enumerate(ordered, 1)
        }
        self._names.clear()

    def name(self, text: str, namespace: str) -> str:
        """Return the word for an object's, container's or pod volume's name.

        Each part of a name is replaced separately and small numbers stay, because controllers join names: a
        StatefulSet's claim is ``TEMPLATE-SET-ORDINAL``.
        """
        known = self._names.get((namespace, text))
        if known is None:
            known = self._names[namespace, text] = self._parted(text, namespace)
        return known

    def node(self, text: str) -> str:
        """Return the word for a node's name."""
        return self._nodes.get(text) or self.whole("node", text)

    def namespace(self, text: str) -> str:
        """Return the word for a namespace; Kubernetes' own namespaces stay."""
        return text if text in public.NAMESPACES else self.whole("namespace", text)

    def class_name(self, text: str) -> str:
        """Return the word for a class of priorities, storage, runtimes, volume attributes or devices."""
        return text if text in public.PRIORITY_CLASSES else self.whole("class", text)

    def whole(self, context: str, text: str) -> str:
        """Return the word for a text that is only compared for equality."""
        return self._word(context, text) if text else text

    def label_value(self, key: str, text: str, namespace: str) -> str:
        """Return the word for a label or taint value. Whole numbers stay, because node affinity compares them."""
        if key in public.KEYS_WITH_PUBLIC_VALUES or text in public.VALUES or _INTEGER.fullmatch(text):
            return text
        if key in _NAMES_OF_PODS:
            return self.name(text, namespace)
        if key == NAMESPACE_NAME:
            return self.namespace(text)
        if key in ("kubernetes.io/hostname", "metadata.name"):
            return self.node(text)
        for topology in ("zone", "region"):
            # Kubernetes compares zones under old, new and CSI driver keys.
            if key.endswith(f"/{topology}"):
                return _ZONE_SET.join(self.label_value(topology, each, "") for each in text.split(_ZONE_SET))
        return self.whole(f"label {key}", text)

    def key(self, text: str) -> str:
        """Return a key of a label, taint or resource with its private words replaced."""
        known = self._keys.get(text)
        if known is None:
            known = self._keys[text] = self._key_of(text)
        return known

    def driver(self, text: str) -> str:
        """Return a volume driver's name with its private words replaced."""
        domain, slash, name = text.partition("/")
        return self._domain(domain) + slash + self._public_words(name)

    def uid(self, text: str) -> str:
        """Return a uid. Random uids stay, because controllers break ties by them; others may contain names."""
        return text if _RANDOM_UID.fullmatch(text) else self.whole("uid", text)

    def api_version(self, text: str) -> str:
        """Return an apiVersion with the private words of its API group replaced."""
        group, slash, version = text.rpartition("/")
        return self._domain(group) + slash + version

    def api_group(self, text: str) -> str:
        """Return a group with its private words replaced."""
        return self._domain(text)

    def resource(self, text: str) -> str:
        """Return the resource of a policy's rule, such as ``pods/status``. Only policies for pods are read."""
        resource, slash, part = text.partition("/")
        return (resource if resource in ("*", "pods") else self.whole("resource", resource)) + slash + part

    def kind(self, text: str) -> str:
        """Return the word for a kind. Kinds of Kubernetes and well-known projects stay."""
        return text if text in public.KINDS else self.whole("kind", text)

    def scheduler(self, text: str) -> str:
        """Return the word for a scheduler's name."""
        return text if text in public.SCHEDULERS else self.whole("scheduler", text)

    def enumerated(self, text: str) -> str:
        """Return the word for a condition's type or reason, or a field's type. Only Kubernetes' own words stay."""
        return text if text in public.TYPES_AND_REASONS else self.whole("type", text)

    def image(self, text: str) -> str:
        """Return the word for an image. A missing tag equals the tag ``latest``."""
        return f"{self._word('image', normalized_image_name(text))}:image" if text else text

    def opaque(self, text: str) -> str:
        """Return the word for a disk, a storage target or a volume handle."""
        return self.whole("opaque", text)

    def address(self, text: str) -> str:
        """Return the word for an IP address. Addresses for all hosts and for localhost stay."""
        return text if text in ("0.0.0.0", "127.0.0.1", "::", "::1") else self.whole("address", text)

    def _parted(self, text: str, namespace: str) -> str:
        context = f"name {namespace}"
        head, dash, tail = self._of_a_node(text)
        if dash:
            return f"{self.name(head, namespace)}-{self._nodes[tail]}"
        plain = _ADDRESS.sub(lambda found: self._word(context, found[0]), text)
        return _replaced(plain, lambda part: part if _SMALL.fullmatch(part) else self._word(context, part))

    def _of_a_node(self, text: str) -> tuple[str, str, str]:
        """Split the name of a static pod, which ends with its node's name."""
        at = text.find("-")
        while at >= 0:
            if text[at + 1 :] in self._nodes:
                return text[:at], "-", text[at + 1 :]
            at = text.find("-", at + 1)
        return text, "", ""

    def _key_of(self, text: str) -> str:
        prefix, slash, name = text.rpartition("/")
        if slash:
            return f"{self._domain(prefix)}/{self._public_words(name)}"
        if text.startswith(public.CSI_LIMIT):
            return public.CSI_LIMIT + self.driver(text.removeprefix(public.CSI_LIMIT))
        return text if public.NATIVE_RESOURCE.fullmatch(text) else self._public_words(text)

    def _domain(self, text: str) -> str:
        """Return a domain. The ending of a well-known domain and public words before it stay."""
        for known in public.DOMAINS:
            if text == known:
                return text
            if text.endswith(f".{known}"):
                return f"{self._public_words(text[: -len(known) - 1])}.{known}"
        return _replaced(text, lambda part: self._word("key", part))

    def _public_words(self, text: str) -> str:
        def replacement(part: str) -> str:
            return part if part in public.WORDS_OF_KEYS or _SMALL.fullmatch(part) else self._word("key", part)

        return _replaced(text, replacement)

    def _word(self, context: str, text: str) -> str:
        """Return eight letters and digits, the first a letter, from nearly 2**40 possible words."""
        known = self._words.get((context, text))
        if known is None:
            known = self._words[context, text] = self._computed(f"{context}\0{text}")
        return known

    def _computed(self, text: str) -> str:
        number = int.from_bytes(blake2b(text.encode(), key=self._key, digest_size=8).digest(), "big")
        letters = [_LETTERS[number % 26]]
        number //= 26
        for _ in range(_LENGTH - 1):
            letters.append(_LETTERS[number % 32])
            number //= 32
        return "".join(letters)


def _replaced(text: str, by: Callable[[str], str]) -> str:
    return _PART.sub(lambda found: by(found[0]), text)
