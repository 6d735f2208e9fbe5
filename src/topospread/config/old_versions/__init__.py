"""Behaviour of old configuration versions, or of old kube-schedulers that read them.

    v1alpha2     preemption and bind timeouts outside of the plugins   `v1alpha2`
    until 1.21   the last of a plugin's weights counts                 `last_weights`
    until 1.22   removed plugins that have arguments                   `removed_plugins`
    until 1.28   plugin lists that are decoded but not used            `forgotten_points`

Small differences are in the modules that they concern.
"""
