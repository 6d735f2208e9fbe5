"""The live scheduler: watches, writes and timers around the scheduling engine.

It needs the extra ``live``. Only this package imports the extra's libraries.
"""
