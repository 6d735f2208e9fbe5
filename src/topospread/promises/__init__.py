"""What a workload's constraints promise on a cluster, in sentences that were checked: `topospread.describe`."""

from .result import Description, Statement

__all__ = ["Description", "Statement"]
