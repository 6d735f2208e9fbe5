"""Behaviour of old kube-scheduler versions only. The current rules are in the parent folder and do not need these.

    until 1.18   the score as a plain sum                           `plain_sum`
    until 1.21   the selector of all owners that select the pod     `any_owner`
    until 1.21   balance of cpu and memory alone                    `balance_of_two`
    until 1.22   one plugin for each way of scoring resources       `resource_strategies`
    until 1.23   counting on every node of a domain                 `whole_domains`
    until 1.28   SelectorSpread                                     `selector_spread`
    until 1.31   limits of in-tree disks                            `non_csi_limits`
    until 1.33   events of nodes while queueing hints are off       `node_events`

Only the registry imports the plugins' modules; `scheduling/requeueing.py` imports `node_events`. Differences of a line
or two are fields of a plugin's rules instead.
"""
