"""An admission webhook: lint findings as warnings or denials, and default constraints."""
