"""Replay an audit log or events on a snapshot: `topospread.replay.replay`."""
