"""Spread figures that follow a live cluster event by event. Nothing is placed or written."""
