"""Spreading that kube-scheduler does not have, declared by annotations: what they say, and what follows for a node.

Nothing here schedules, watches or serves: `live.extender_service` answers kube-scheduler, others say what it would.
"""
