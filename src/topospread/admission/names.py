"""Names, hashes and uids of new objects, in the form that the API server and controllers give them.

Sources: apiserver ``pkg/storage/names/generate.go``, apimachinery ``pkg/util/rand``, pkg/controller/deployment/sync.go.
The API server draws random suffixes, and controllers hash fields that topospread does not read. Suffixes here therefore
differ from a cluster's, but equal input always gives equal suffixes.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cached_property

from topospread.whole_number import whole_number

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""Characters of generated names: no vowels, so generated names form no words."""
_SUFFIX_LENGTH = 5
_MAX_BASE = 63 - _SUFFIX_LENGTH
_SUFFIXES = len(ALPHABET) ** _SUFFIX_LENGTH
_STEP = 8_000_009  # coprime to 27**5, so its multiples visit all suffixes before one repeats
_MAX_NAME = 253
_STATEFUL = re.compile(r"(.*)-([0-9]+)", re.ASCII | re.DOTALL)

_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_TRIPLES = [pair + third for pair in _PAIRS for third in ALPHABET]


class Names:
    """Generates names that are unique in their namespace.

    ``taken``: (namespace, name) of the existing pods; iterated only when a name is needed.
    """

    def __init__(self, taken: Iterable[tuple[str, str]] = ()) -> None:
        self._given = taken
        self._used: dict[tuple[str, str], int] = {}

    @cached_property
    def _taken(self) -> frozenset[tuple[str, str]]:
        return frozenset(self._given)

    def generate(self, namespace: str, base: str) -> Iterator[str]:
        """Yield names like the API server for ``generateName``: the base, cut to 58 characters, and five characters."""
        base = base[:_MAX_BASE]
        taken = self._taken
        first = zlib.crc32(base.encode())
        number = self._used.get((namespace, base), 0)
        while True:
            suffix = (first + number * _STEP) % _SUFFIXES
            number += 1
            self._used[namespace, base] = number
            name = base + _TRIPLES[suffix // 729] + _PAIRS[suffix % 729]
            if (namespace, name) not in taken:
                yield name


def pod_prefix(controller_name: str) -> str:
    """Return ``generateName`` of a controller's pods, with a dash unless it is too long (``getPodsPrefix``)."""
    prefix = f"{controller_name}-"
    return controller_name if len(prefix) > _MAX_NAME else prefix


def replica_set_name(deployment_name: str, template_hash: str) -> str:
    """Return a ReplicaSet's name (``generateReplicaSetName``)."""
    return f"{deployment_name[: _MAX_NAME - 1 - len(template_hash)]}-{template_hash}"


def safe_hash(content: bytes) -> str:
    """Return a hash for labels, written in `ALPHABET` (``SafeEncodeString`` of a 32-bit hash)."""
    return "".join(ALPHABET[ord(digit) % len(ALPHABET)] for digit in str(zlib.crc32(content)))


def generated_uid(kind: str, namespace: str, name: str) -> str:
    """Return a uid for an object that has none: a UUID of version 8, which differs from every uid of an API server."""
    digits = hashlib.sha256(f"{kind}/{namespace}/{name}".encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], f"8{digits[13:16]}", digits[16:20], digits[20:32]))


def parent_and_ordinal(pod_name: str) -> tuple[str, int]:
    """Return the StatefulSet and ordinal in a pod's name; ("", -1) if the name has no ordinal."""
    found = _STATEFUL.fullmatch(pod_name)
    if found is None:
        return "", -1
    ordinal = whole_number(found[2])
    return found[1], ordinal if ordinal is not None and ordinal < 2**31 else -1
