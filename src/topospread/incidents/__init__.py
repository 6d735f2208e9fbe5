"""Replay an audit log or events on a snapshot: `topospread.incidents.replay`."""
