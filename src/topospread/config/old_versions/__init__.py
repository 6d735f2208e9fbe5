"""Behaviour of old configuration versions, or of old kube-schedulers that read them.

    v1alpha2     preemption and bind timeouts outside of the plugins   `v1alpha2`
    until 1.21   the last of a plugin's weights counts                 `last_weights`
    until 1.22   plugins with arguments that are gone                  `removed_plugins`
    until 1.28   fields that are read and forgotten                    `forgotten_points`

Differences of a line or two are in the code that uses them.
"""
