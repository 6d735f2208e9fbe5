"""VolumeBinding at Reserve and PreBind in a profile that enables it at only some of its extension points.

The plugin passes a pod's volumes from PreFilter to Filter, Reserve and PreBind. If one of these extension points is
disabled, no pod can be bound, not even a pod without volumes. Source: plugins/volumebinding/volume_binding.go
(``Reserve``, ``PreBindPreFlight``, ``PreBind``) and binder.go (``bindAPIUpdate``).
"""

from __future__ import annotations

import msgspec

from topospread.config.profile import Profile
from topospread.config.versions import KubeVersion

_FLIES_BEFORE_SINCE = KubeVersion(1, 34)
_RESERVE = 'running Reserve plugin "VolumeBinding": '
_NOT_CACHED = 'running PreBind plugin "VolumeBinding": failed to get cached bindings'


class CannotBind(msgspec.Struct, frozen=True):
    """A reservation that always fails at PreBind or a step before it. ``words``: kube-scheduler's message."""

    words: str

    def bind(self) -> str:
        """Return kube-scheduler's message."""
        return self.words

    assume = bind


class WithoutReserve(msgspec.Struct, frozen=True):
    """The reason why a profile binds no pod.

    Attributes:
        always: message for every pod; "" if the message depends on the pod.
        without_claims: message for a pod without claims; the node's name is appended.
        with_claims: message for a pod with claims; "" if it also gets ``without_claims``.
    """

    always: str = ""
    without_claims: str = ""
    with_claims: str = ""

    def __bool__(self) -> bool:
        return bool(self.always or self.without_claims)

    def refusal(self, node: str, *, has_claims: bool) -> CannotBind:
        """Return the failing reservation for a pod on a node."""
        if self.always:
            return CannotBind(self.always)
        return CannotBind((has_claims and self.with_claims) or f'{self.without_claims} "{node}"')


def without_reserve(profile: Profile, version: KubeVersion) -> WithoutReserve:
    """Return why the profile binds no pod; all messages are "" if it binds pods."""
    on = {
        point for point in ("pre_filter", "filter", "reserve", "pre_bind") if "VolumeBinding" in profile.enabled(point)
    }
    flies = version >= _FLIES_BEFORE_SINCE
    before = 'running PreBindPreFlight "VolumeBinding": ' if flies else 'running PreBind plugin "VolumeBinding": '
    if "pre_filter" not in on and on & {"reserve", "pre_bind"}:
        return WithoutReserve(f"{before if 'reserve' not in on else _RESERVE}not found")
    if "pre_bind" not in on or "reserve" in on:
        return WithoutReserve()
    missing = f"{before}{'no pod volume' if flies else 'no pod volumes'} found for node"
    return WithoutReserve("", missing, _NOT_CACHED if "filter" in on else "")
