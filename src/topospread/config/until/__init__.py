"""What only old versions of the configuration, or kube-scheduler's old ways of reading it, do; the rest reads without.

    v1alpha2     preemption and bind timeouts outside of the plugins   `v1alpha2`
    until 1.21   the last of a plugin's weights counts                 `last_weights`
    until 1.22   plugins with arguments that are gone                  `removed_plugins`
    until 1.28   fields that are read and forgotten                    `forgotten_points`

What differs in a line or two stands where it is used.
"""
