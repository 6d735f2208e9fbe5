"""A scheduler for a real cluster: what waits, sends and reads the clock around the engine that decides.

Needs the extra ``live``; nothing outside this package imports what that brings.
"""
