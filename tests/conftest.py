"""What all tests share: how hypothesis runs them, and that no cluster of whoever runs them is read."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.drawn import drawn

# No deadline: a shared machine's pauses are no finding. Examples stay random everywhere, a failure prints its own.
settings.register_profile("topospread", drawn(25, print_blob=True))
settings.load_profile("topospread")

os.environ["KUBECONFIG"] = os.path.join(os.path.dirname(__file__), "no-kubeconfig")
os.environ.pop("KUBERNETES_SERVICE_HOST", None)
