"""The version of this package. It is stated only here, and differs from the Kubernetes version."""

__version__ = "0.1.0"
