"""The version of this package, the one place that states it; not the Kubernetes version it follows."""

__version__ = "0.1.0"
