"""What all tests share: how hypothesis runs them."""

from __future__ import annotations

from hypothesis import settings

# No deadline: a shared machine's pauses are no finding. Examples stay random everywhere, a failure prints its own.
settings.register_profile("topospread", deadline=None, print_blob=True)
settings.load_profile("topospread")
