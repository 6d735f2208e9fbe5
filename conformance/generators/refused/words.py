"""The words that wrong pods are made of: names, keys, values, quantities, each mostly good and sometimes not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from conformance.generators.draw import Draw

T = TypeVar("T")

KEYS = ["app", "tier", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "pod-template-hash"]
ODD_KEYS = [
    "",
    "a b",
    "-x",
    "x/y/z",
    "Example.com/key",
    "example.com/",
    "/name",
    "a" * 64,
    "a" * 63,
    "zone.",
    "a..b/c",
    "b" * 254 + "/c",
    "é",
    "key\n",
    "1",
    "A_b.c-d",
    "x<y>&z",
    'quo"te',
    "tab\tkey",
    "\x7f",
    "\u2028",
]
VALUES = ["web", "api", "db"]
ODD_VALUES = ["", "a b", "-x", "x.", "v" * 64, "v" * 63, "1", "A_b.c-d", "é", "x\n", "a/b", "😀", "<b>", "\u00a0"]
NAMES = ["a", "b", "main", "side-1"]
ODD_NAMES = ["", "A", "a.b", "-a", "a-", "a" * 64, "a" * 254, "a_b", "a b", "ü", "a.b.c-d.", "0", "..", "a\n"]
RESOURCES = ["cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi", "hugepages-1Gi"]
ODD_RESOURCES = [
    "gpu",
    "pods",
    "requests.cpu",
    "limits.memory",
    "storage",
    "services.nodeports",
    "hugepages-",
    "hugepages-3",
    "hugepages-0",
    "hugepages-x",
    "requests.hugepages-2Mi",
    "kubernetes.io/x",
    "a.kubernetes.io/y",
    "requests.example.com/z",
    "Example.com/gpu",
    "",
    "a b",
    "é",
    "x" * 64,
    "example.com/" + "g" * 63,
    "e" * 250 + ".c/gpu",
    "count/pods",
]
QUANTITIES: list[Any] = ["1", "2", "100m", "500m", "1Gi", "100Mi", "128Mi", "4Mi", "2Gi", "0", "1.5", 1, 2, 0.5]
ODD_QUANTITIES: list[Any] = [
    "-1",
    "-100m",
    "-0.5Gi",
    "0.5",
    "1.0001",
    "1.00000000001",
    "0.1n",
    "1e3",
    "1E3",
    "12E",
    "9223372036854775807",
    "9223372036854775808",
    "16Ei",
    "1Ki",
    "1.5Ki",
    "+5",
    "5.",
    ".5",
    "007",
    "1.500",
    "1.000",
    "3M",
    "2097152",
    "3145728",
    "1000Ti",
    "1e-4",
    "1e25",
    " 1 ",
    "0.0",
    None,
    -3,
    1.25,
]
NO_QUANTITIES: list[Any] = ["", "x", "1.2.3", "1 Gi", "1gi", "1KB", "--1", "0x1", "1e", "1e1.5", "Infinity", "NaN"]


class Words(Draw):
    """A seeded source of words."""

    def mostly(self, good: Sequence[T], odd: Sequence[T], chance: float = 0.1) -> T:
        """One of the good, by a chance one of the odd."""
        return self.choice(odd) if self.chance(chance) else self.choice(good)

    def key(self, chance: float = 0.12) -> str:
        """A label key."""
        return self.mostly(KEYS, ODD_KEYS, chance)

    def value(self, chance: float = 0.1) -> str:
        """A label value."""
        return self.mostly(VALUES, ODD_VALUES, chance)

    def name(self, chance: float = 0.08) -> str:
        """The name of something."""
        return self.mostly(NAMES, ODD_NAMES, chance)

    def resource(self) -> str:
        """The name of a resource."""
        return self.mostly(RESOURCES, ODD_RESOURCES, 0.15)

    def quantity(self) -> Any:
        """An amount, rarely one that does not decode."""
        if self.chance(0.002):
            return self.choice(NO_QUANTITIES)
        return self.mostly(QUANTITIES, ODD_QUANTITIES, 0.2)

    def amounts(self, most: int = 3) -> dict[str, Any]:
        """A resource list."""
        return {self.resource(): self.quantity() for _ in range(self.randint(0, most))}

    def labels(self, most: int = 3) -> dict[str, str]:
        """Labels, annotations or a node selector."""
        return {self.key(): self.value() for _ in range(self.randint(0, most))}

    def number(self, good: Sequence[int], odd: Sequence[int] = (-1, 0, 2**31 - 1)) -> int:
        """A number."""
        return self.mostly(good, odd, 0.12)

    def some(self, fields: dict[str, Any], chance: float) -> dict[str, Any]:
        """A part of the fields, each by a chance; a value that can be called is asked."""
        return {name: value() if callable(value) else value for name, value in fields.items() if self.chance(chance)}

    def listed(self, make: Any, most: int = 2) -> list[Any]:
        """A short list, rarely an empty one."""
        least = 0 if self.chance(0.08) else 1
        return [make() for _ in range(self.randint(least, max(least, most)))]
