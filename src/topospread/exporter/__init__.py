"""Spread metrics that follow a live cluster event by event."""
