"""Past events of a cluster, rebuilt from a snapshot and an audit log: `topospread.incidents.replay`."""
