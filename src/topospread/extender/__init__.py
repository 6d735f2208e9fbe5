"""Spread rules that kube-scheduler does not have, declared by annotations.

`live.extender_service` serves them to kube-scheduler.
"""
