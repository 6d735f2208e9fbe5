"""A scheduler for a real cluster: what waits, sends and reads the clock. Every rule it follows stands below."""
