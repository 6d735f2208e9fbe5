"""Labels of nodes and namespaces that Kubernetes defines (k8s.io/api/core/v1/well_known_labels.go, types.go)."""

from __future__ import annotations

from typing import Final

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
HOSTNAME: Final = "kubernetes.io/hostname"
OS: Final = "kubernetes.io/os"
ARCH: Final = "kubernetes.io/arch"
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""Label that the API server gives every namespace: its name."""
