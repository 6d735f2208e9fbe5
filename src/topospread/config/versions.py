"""The Kubernetes minor versions that topospread supports. `api_versions` has the versions of configurations."""

from __future__ import annotations

import re
from functools import total_ordering

from topospread.errors import ConfigError, Place

_FORM = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})(?:\.\d+)?(?:[-+].*)?")


@total_ordering
class KubeVersion:
    """A Kubernetes minor version, ``1.27``. No patch release is known to change a scheduling decision.

    Attributes:
        major: always 1 so far.
        minor: 18 to 37.
    """

    __slots__ = ("major", "minor")

    def __init__(self, major: int, minor: int) -> None:
        self.major = major
        self.minor = minor

    @classmethod
    def parse(cls, text: str | KubeVersion, place: Place | None = None) -> KubeVersion:
        """Parse ``1.27``, ``v1.27.3`` or ``v1.27.3-gke.100``.

        Raises:
            ConfigError: if the text is not a version, or the version is not supported.
        """
        if isinstance(text, KubeVersion):
            return text
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ConfigError(f'"{text}" is not a Kubernetes version; write it as 1.27 or v1.27.3', place)
        version = cls(int(match.group(1)), int(match.group(2)))
        if not OLDEST <= version <= NEWEST:
            raise ConfigError(f"Kubernetes {version} is not supported; use a version from {OLDEST} to {NEWEST}", place)
        return version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KubeVersion):
            return NotImplemented
        return (self.major, self.minor) == (other.major, other.minor)

    def __lt__(self, other: KubeVersion) -> bool:
        return (self.major, self.minor) < (other.major, other.minor)

    def __hash__(self) -> int:
        return 1000 * self.major + self.minor

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    def __repr__(self) -> str:
        return f"KubeVersion({str(self)!r})"


OLDEST = KubeVersion(1, 18)
NEWEST = KubeVersion(1, 37)
