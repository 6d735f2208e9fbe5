"""Behaviour that only old kube-scheduler versions have. The parent package has the current behaviour.

    until 1.18   PodTopologySpread's score as a plain sum           `plain_sum`
    until 1.21   default selector of all controllers that match     `any_owner`
    until 1.21   balance of cpu and memory alone                    `balance_of_two`
    until 1.22   one plugin for each way of scoring resources       `resource_strategies`
    until 1.23   hard constraints count excluded nodes              `whole_domains`
    until 1.28   SelectorSpread                                     `selector_spread`
    until 1.31   limits of in-tree disks                            `non_csi_limits`
    until 1.33   events of nodes while queueing hints are off       `node_events`

Only `registry` imports these modules, except that `scheduling/requeueing.py` imports `node_events`. Smaller differences
are fields of a plugin's rules.
"""
